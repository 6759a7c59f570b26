"""A session as a person would want to read it: turns, edits, tests, commits and compactions.

When its transcript is gone, what the index kept of it is told.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any

from holdfast.actions.kept_events import kept_events
from holdfast.errors import NotATranscript
from holdfast.index.database import Index
from holdfast.state.wording import one_line
from holdfast.surfaces.cli.output import bold, harmless, print_json, say
from holdfast.surfaces.cli.sessions import add_session_argument, chosen_session, open_store
from holdfast.transcript.events import decode
from holdfast.transcript.reader import whole_file
from holdfast.views.timeline import Entry, timeline

if TYPE_CHECKING:
    from holdfast.transcript.model import Event

LONGEST = 200
ENDED = {True: "passed", False: "failed", None: ""}


def arguments(parser: argparse.ArgumentParser) -> None:
    add_session_argument(parser, or_transcript="of this file (also .gz), no store")
    parser.add_argument("--json", action="store_true", help="for programs: every single entry")


def run(args: argparse.Namespace) -> int:
    path, events, is_copy = _events(args)
    entries = [*timeline(events)]
    if args.json:
        print_json([_described(entry, is_copy) for entry in entries])
    else:
        for line in told(entries):
            print(line)
    if is_copy:
        say(f"stored copy: {path} is gone; this is what the index kept of it.")
    elif not entries:
        say(f"Nothing has happened in {path} yet.")
    return 0


def _events(args: argparse.Namespace) -> tuple[str, Iterable[Event], bool]:
    """The transcript, what happened in it, and whether only the stored copy tells so."""
    if args.transcript is not None:
        return args.transcript, decode(whole_file(args.transcript)), False
    with open_store() as (store, chosen):
        row = chosen_session(store, args)
    path = row["transcript"]
    try:
        return path, decode(whole_file(path)), False
    except NotATranscript:
        with Index(chosen.index) as index:
            kept = kept_events(index, row["id"], row["project"])
        if not kept:
            raise
        return path, kept, True


def _described(entry: Entry, is_copy: bool) -> dict[str, Any]:
    source = "stored copy" if is_copy else "transcript"
    return {"ref": f"L{entry.line}", **entry._asdict(), "source": source}


def told(entries: Iterable[Entry]) -> Iterator[str]:
    """One line each; changes to files in a row are one."""
    for is_change, group in groupby(entries, lambda entry: entry.kind in ("edit", "delete")):
        some = [*group]
        if is_change:
            yield _line(f"L{some[-1].line}", "changed", _files(some))
            continue
        for entry in some:
            ref, text = f"L{entry.line}", one_line(entry.text, LONGEST)
            if entry.kind == "turn":
                yield ""
                yield bold(harmless(f"{ref:<7}{_time(entry)}  “{text}”"))
            elif entry.kind == "compaction":
                yield harmless(f"{ref:<7}──── compaction {text} ────")
            else:
                yield _line(ref, ENDED[entry.ok] or entry.kind.replace("_", " "), text)


def _line(ref: str, what: str, text: str) -> str:
    return harmless(f"{ref:<7}  {what:<13}{text}")


def _files(changes: list[Entry]) -> str:
    times = Counter(entry.text for entry in changes)
    gone = {entry.text for entry in changes if entry.kind == "delete"}
    return ", ".join(
        path + (" (deleted)" if path in gone else f" ×{count}" if count > 1 else "")
        for path, count in times.items()
    )


def _time(entry: Entry) -> str:
    return entry.at[:16].replace("T", " ")
