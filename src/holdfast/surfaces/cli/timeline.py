"""A session as a person would want to read it: turns, edits, tests, commits and compactions.

When its transcript is gone, what the index kept of it is told; of a colleague's session, what their
machine has sent to the team.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.actions import refs, team_lookup
from holdfast.actions.kept_events import kept_events
from holdfast.actions.lookup import is_uuid
from holdfast.actions.transcript_file import events_of_file
from holdfast.errors import BadUsage, NotATranscript
from holdfast.index.database import Index
from holdfast.state.wording import one_line
from holdfast.surfaces.cli import team
from holdfast.surfaces.cli.output import bold, harmless, print_json, say
from holdfast.surfaces.cli.sessions import add_session_argument, chosen_session, open_store
from holdfast.transcript.events import decode
from holdfast.transcript.reader import whole_file
from holdfast.views.timeline import Entry, timeline

if TYPE_CHECKING:
    from holdfast.store.base import Store
    from holdfast.transcript.model import Event

LONGEST = 200
KEPT, SENT = "stored copy", "team's copy"
ENDED = {True: "passed", False: "failed", None: ""}


class _Told(NamedTuple):
    """What happened, and what tells so: the transcript at this path, or a copy of its texts."""

    path: str
    events: Iterable[Event]
    source: str = "transcript"
    session: str = ""
    """Whose lines they are, where a ref has to say so."""


def arguments(parser: argparse.ArgumentParser) -> None:
    add_session_argument(parser, or_transcript="of this file (also .gz), no store")
    team.add_team_argument(parser, "a colleague's session (--session), as far as it was sent")
    parser.add_argument("--json", action="store_true", help="for programs: every single entry")


def run(args: argparse.Namespace) -> int:
    found = _found(args)
    entries = [*timeline(found.events)]
    if args.json:
        print_json([_described(entry, found) for entry in entries])
    else:
        for line in told(entries):
            print(line)
    if found.source == KEPT:
        say(f"{KEPT}: {found.path} is gone; this is what the index kept of it.")
    elif found.source == SENT:
        say(f"{SENT}: {refs.SENT}. `holdfast show {found.session}:L1` opens a line.")
    elif not entries:
        say(f"Nothing has happened in {found.path} yet.")
    return 0


def _found(args: argparse.Namespace) -> _Told:
    if args.transcript is not None:
        return _Told(args.transcript, events_of_file(args.transcript))
    with open_store() as (store, chosen):
        if _is_theirs(store, args):
            with team.open_team(chosen.ledger) as colleagues:
                events = team_lookup.events_of(colleagues, args.session)
                return _Told("", events, SENT, args.session)
        row = chosen_session(store, args)
    path = row["transcript"]
    try:
        return _Told(path, decode(whole_file(path)))
    except NotATranscript:
        with Index(chosen.index) as index:
            kept = kept_events(index, row["id"], row["project"])
        if not kept:
            raise
        return _Told(path, kept, KEPT)


def _is_theirs(store: Store, args: argparse.Namespace) -> bool:
    """Whether a session is named that is not of this machine; a team may know it."""
    if args.team and not args.session:
        raise BadUsage(
            "whose session?", hint="--session ID; `holdfast recall WORDS --team` tells their ids"
        )
    if not team.is_named(args.team) or not args.session or store.session(args.session):
        return False
    return bool(args.team) or is_uuid(args.session)


def _described(entry: Entry, found: _Told) -> dict[str, Any]:
    ref = refs.Ref(found.session, entry.line, entry.line)
    return {"ref": str(ref), **entry._asdict(), "source": found.source}


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
