"""What other agents said to this session's, each told once; or say something to them.

holdfast messages                              what waits for the session's main agent
holdfast messages --agent ID --kind TYPE       for one of its sub-agents
holdfast messages --send TEXT --to reviewer    to one; without --to, to all of the project
"""

from __future__ import annotations

import argparse

from holdfast.actions.messages import Asking, send, told, waiting
from holdfast.errors import BadUsage
from holdfast.surfaces.cli.output import harmless, print_json, say, stamp
from holdfast.surfaces.cli.sessions import add_session_argument, chosen_session, open_store


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--agent", default="", metavar="NAME", help="who reads, or who sends")
    parser.add_argument("--kind", default="", metavar="TYPE", help="a sub-agent's type")
    parser.add_argument("--again", action="store_true", help="also what was read before")
    parser.add_argument("--send", metavar="TEXT", help="say this, instead of reading")
    parser.add_argument("--to", default="", metavar="NAME", help="to this agent (to all)")
    parser.add_argument("--topic", default="", metavar="WORD", help="what it is about")
    parser.add_argument("--json", action="store_true", help="for programs")
    add_session_argument(parser)


def run(args: argparse.Namespace) -> int:
    if args.send is None and (args.to or args.topic):
        raise BadUsage("--to and --topic go with --send TEXT")
    if args.send is not None and not args.send.strip():
        raise BadUsage("a message needs words")
    with open_store() as (store, chosen):
        row = chosen_session(store, args)
    asking = Asking(row["id"], row["project"], args.agent, args.kind)
    if args.send is not None:
        sent = send(chosen.ledger, asking, to=args.to, topic=args.topic, text=args.send)
        say(f"Sent to {sent['to_agent_id'] or 'all who listen'}.")
        return 0
    found = waiting(chosen.ledger, asking, again=args.again)
    if args.json:
        print_json([_described(one) for one in found])
        return 0
    for one in found:
        print(harmless(told(one)))
    if not found:
        say("No messages wait.")
    return 0


def _described(row: dict[str, object]) -> dict[str, object]:
    named = {"from": "from_agent_id", "to": "to_agent_id", "topic": "topic", "payload": "payload"}
    at = row["created_at"]
    sent = stamp(at if isinstance(at, float) else None)
    return {"id": row["id"], **{key: row[name] for key, name in named.items()}, "sent": sent}
