"""Start or stop a slash command or skill in a session by hand.

Commands that are typed, and skills that the agent uses, are noticed without this. A command that
is active has its rules kept through a compaction; one that is stopped has not.

holdfast command start review --state '{"phase": "tests"}'
holdfast command stop review
"""

from __future__ import annotations

import argparse
import json
import os
import time
from typing import Any

from holdfast.actions import active_commands
from holdfast.actions.command_files import Refused, read, words_of
from holdfast.errors import BadUsage
from holdfast.surfaces.cli.output import say
from holdfast.surfaces.cli.sessions import (
    add_session_argument,
    chosen_session,
    here,
    open_store,
    refresh,
)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=("start", "stop"), help="whether its rules hold")
    parser.add_argument("name", metavar="NAME", help="as it is typed, with or without the slash")
    parser.add_argument("--state", metavar="JSON", help="start: an object to keep with it")
    add_session_argument(parser)


def run(args: argparse.Namespace) -> int:
    name = args.name.removeprefix("/")
    given = _object(args.state)
    try:
        words_of(name)
    except Refused as problem:
        raise BadUsage(str(problem), hint="a name such as review or team:review") from None
    with open_store() as (store, chosen):
        row = chosen_session(store, args)
        state = refresh(store, row).state
        store.begin()
        mark = store.mark(row["id"], active_commands.MARK)
        known = {one["name"]: one["status"] for one in active_commands.known(state, mark)}
        if args.what == "stop" and known.get(name) != "active":
            store.rollback()
            say(f"/{name} is not active in session {row['id']}; nothing to do.")
            return 0
        if args.what == "start":
            active_commands.start(store, row["id"], name, state["lines"], time.time(), given)
        else:
            active_commands.stop(store, row["id"], name, state["lines"], time.time())
        store.commit()
    if args.what == "stop":
        say(f"/{name} is finished: a compaction no longer keeps its rules.")
        return 0
    say(f"/{name} is active: its rules are kept through a compaction.")
    if not read(name, here(), chosen.command_sources, os.environ)[1]:
        say("No file was found under that name, so there are no rules to keep yet.")
    return 0


def _object(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    try:
        value = json.loads(text)
    except ValueError as problem:
        raise BadUsage(f"--state is not JSON ({problem})") from None
    if not isinstance(value, dict):
        raise BadUsage("--state takes a JSON object", hint="""such as '{"phase": "tests"}'""")
    return value
