"""Before you leave the desk: save, bring the notes up to date, and get the line to compact with.

Paste the line into the agent, or let it work on: whatever is compacted while you are away, the
state from now is saved.
"""

from __future__ import annotations

import argparse
import time

from holdfast.actions import notes
from holdfast.actions.guardian import focus_line
from holdfast.actions.save import save
from holdfast.surfaces.cli.output import harmless, print_json, say
from holdfast.surfaces.cli.sessions import (
    add_session_argument,
    chosen_session,
    open_store,
    refresh,
)


def arguments(parser: argparse.ArgumentParser) -> None:
    add_session_argument(parser)
    parser.add_argument("--json", action="store_true", help="for programs")


def run(args: argparse.Namespace) -> int:
    now = time.time()
    with open_store() as (store, _):
        row = chosen_session(store, args)
        session = refresh(store, row)
        store.begin()
        path = notes.keep(store, row["id"], session.state, row["project"], now)
        snapshot = save(store, session, "away", now)
        store.commit()
    line = harmless(focus_line(session.state))
    if args.json:
        print_json({"session": row["id"], "snapshot": snapshot, "notes": path, "compact": line})
        return 0
    print(line)
    say(f"Saved as {snapshot}; the notes are {path}.")
    say("The line above is for the agent's prompt, if you want it to start again with less.")
    return 0
