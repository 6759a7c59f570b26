"""Write something down in the session's notes, for whoever works on after a compaction.

The notes are `.holdfast/sessions/<session>/notes.md` in the project: where the work stands on
top, a log below. Once a project has that folder, the notes are kept after every turn.
"""

from __future__ import annotations

import argparse
import time

from holdfast.actions import notes
from holdfast.errors import BadUsage
from holdfast.surfaces.cli.output import say
from holdfast.surfaces.cli.sessions import (
    add_session_argument,
    chosen_session,
    open_store,
    refresh,
)

KINDS = {
    "decision": "what was decided",
    "blocker": "what the work waits for, until --unblocked",
    "next": "what comes next",
    "unblocked": "the work goes on",
}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", metavar="TEXT", help="the words, in one argument")
    kind = parser.add_mutually_exclusive_group()
    for name, meaning in KINDS.items():
        kind.add_argument(
            f"--{name}", dest="kind", action="store_const", const=name, default="note", help=meaning
        )
    add_session_argument(parser)


def run(args: argparse.Namespace) -> int:
    if not args.text.strip():
        raise BadUsage("a note needs words", hint='holdfast note "the cap is 30 s" --decision')
    with open_store() as (store, _):
        row = chosen_session(store, args)
        state = refresh(store, row).state
        store.begin()
        path = notes.note(
            store, row["id"], state, row["project"], args.text, args.kind, time.time()
        )
        store.commit()
    say(f"Noted in {path}.")
    return 0
