"""Save before you leave: take a snapshot, update the notes, and print a /compact line.

Paste the line into the agent, or let it continue: if the context is compacted while you are away,
the current state is saved.
"""

from __future__ import annotations

import argparse
import time

from holdfast.cli.console import print_json, print_message, strip_control_chars
from holdfast.cli.options import add_session_argument, find_session
from holdfast.notes import files
from holdfast.services.compaction.autosave import save_snapshot, suggest_compact_command
from holdfast.services.sessions import open_store, refresh_session


def arguments(parser: argparse.ArgumentParser) -> None:
    add_session_argument(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    now = time.time()
    with open_store() as (store, _):
        row = find_session(store, args)
        session = refresh_session(store, row)
        store.begin()
        path = files.update_notes(store, row["id"], session.state, row["project"], now)
        snapshot = save_snapshot(store, session, "away", now)
        store.commit()
    line = strip_control_chars(suggest_compact_command(session.state))
    if args.json:
        print_json({"session": row["id"], "snapshot": snapshot, "notes": path, "compact": line})
        return 0
    print(line)
    print_message(f"Saved as {snapshot}; the notes are in {path}.")
    print_message("Paste the line above into the agent to compact now.")
    return 0
