"""Read messages from other agents, each once; or send a message to them.

holdfast messages                              read as the session's main agent
holdfast messages --agent ID --kind TYPE       read as one of its sub-agents
holdfast messages --send TEXT --to reviewer    send to one; without --to, to all of the project
"""

from __future__ import annotations

import argparse

from holdfast.cli.console import print_json, print_message, strip_control_chars, to_iso_time
from holdfast.cli.options import add_session_argument, find_session
from holdfast.errors import InvalidInput
from holdfast.services.messages import MessageAgent, post_message, read_messages, render_message
from holdfast.services.sessions import open_store


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--agent", default="", metavar="NAME", help="the agent that reads or sends")
    parser.add_argument("--kind", default="", metavar="TYPE", help="the type of that sub-agent")
    parser.add_argument(
        "--again", action="store_true", help="also show messages that were read before"
    )
    parser.add_argument("--send", metavar="TEXT", help="send this text instead of reading")
    parser.add_argument(
        "--to", default="", metavar="NAME", help="the receiver (default: all agents)"
    )
    parser.add_argument("--topic", default="", metavar="WORD", help="the topic of the message")
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_session_argument(parser)


def run(args: argparse.Namespace) -> int:
    if args.send is None and (args.to or args.topic):
        raise InvalidInput("--to and --topic need --send TEXT")
    if args.send is not None and not args.send.strip():
        raise InvalidInput("The message is empty")
    with open_store() as (store, config):
        row = find_session(store, args)
    agent = MessageAgent(row["id"], row["project"], args.agent, args.kind)
    if args.send is not None:
        sent = post_message(config.ledger, agent, to=args.to, topic=args.topic, text=args.send)
        print_message(f"Sent to {sent['to_agent_id'] or 'all agents'}.")
        return 0
    messages = read_messages(config.ledger, agent, again=args.again)
    if args.json:
        print_json([_to_json(message) for message in messages])
        return 0
    for message in messages:
        print(strip_control_chars(render_message(message)))
    if not messages:
        print_message("No new messages.")
    return 0


def _to_json(row: dict[str, object]) -> dict[str, object]:
    columns = {"from": "from_agent_id", "to": "to_agent_id", "topic": "topic", "payload": "payload"}
    created_at = row["created_at"]
    sent = to_iso_time(created_at if isinstance(created_at, float) else None)
    return {"id": row["id"], **{key: row[name] for key, name in columns.items()}, "sent": sent}
