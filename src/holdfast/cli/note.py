"""Add an entry to the session's notes, which stay readable after a compaction.

The notes are in `.holdfast/sessions/<session>/notes.md` in the project: the current state at the
top, a log below. Once a project has that folder, the notes are updated after every turn.
"""

from __future__ import annotations

import argparse
import time

from holdfast.cli.console import print_message
from holdfast.cli.options import add_session_argument, find_session
from holdfast.errors import InvalidInput
from holdfast.notes import files
from holdfast.services.sessions import open_store, refresh_session

KINDS = {
    "decision": "what was decided",
    "blocker": "what blocks the work, until --unblocked",
    "next": "what comes next",
    "unblocked": "the blocker is resolved",
}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", metavar="TEXT", help="the text, as one argument")
    kind = parser.add_mutually_exclusive_group()
    for name, meaning in KINDS.items():
        kind.add_argument(
            f"--{name}", dest="kind", action="store_const", const=name, default="note", help=meaning
        )
    add_session_argument(parser)


def run(args: argparse.Namespace) -> int:
    if not args.text.strip():
        raise InvalidInput("The note is empty", hint='holdfast note "the cap is 30 s" --decision')
    with open_store() as (store, _):
        row = find_session(store, args)
        state = refresh_session(store, row).state
        store.begin()
        path = files.add_note(
            store, row["id"], state, row["project"], args.text, args.kind, time.time()
        )
        store.commit()
    print_message(f"Added to {path}.")
    return 0
