"""Show a session as a timeline: turns, edits, tests, commits and compactions.

If the transcript is gone, the timeline is built from the search index; for a session of another
machine, from what that machine has sent to the team.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.cli.console import bold, print_json, print_message, strip_control_chars
from holdfast.cli.options import add_session_argument, add_team_argument, find_session
from holdfast.errors import InvalidInput, UnreadableTranscript
from holdfast.reports.timeline import TimelineEntry, build_timeline
from holdfast.search.index_db import SearchIndex
from holdfast.services.recall import refs, team_lookup
from holdfast.services.recall.from_file import read_events
from holdfast.services.recall.indexed_events import load_indexed_events
from holdfast.services.recall.lookup import is_uuid
from holdfast.services.sessions import open_store
from holdfast.state.text import one_line
from holdfast.transcript.decoder import decode
from holdfast.transcript.reader import read_lines

if TYPE_CHECKING:
    from holdfast.store.protocols import Store
    from holdfast.transcript.types import Event

MAX_TEXT_CHARS = 200
STORED_COPY, TEAM_COPY = "stored copy", "team's copy"
OUTCOMES = {True: "passed", False: "failed", None: ""}


class _Source(NamedTuple):
    """The events of a session, and where they come from: the transcript, or a copy of its texts."""

    path: str
    events: Iterable[Event]
    source: str = "transcript"
    session: str = ""
    """The session id that refs must contain; empty for a session of this machine."""


def arguments(parser: argparse.ArgumentParser) -> None:
    add_session_argument(parser, or_transcript="read this file (also .gz), without the store")
    add_team_argument(parser, "a session of another machine (--session ID), as far as it was sent")
    parser.add_argument("--json", action="store_true", help="print JSON, with every single entry")


def run(args: argparse.Namespace) -> int:
    source = _load_source(args)
    entries = [*build_timeline(source.events)]
    if args.json:
        print_json([_to_json(entry, source) for entry in entries])
    else:
        for line in render_timeline(entries):
            print(line)
    if source.source == STORED_COPY:
        print_message(f"{STORED_COPY}: {source.path} is gone; this comes from the search index.")
    elif source.source == TEAM_COPY:
        print_message(
            f"{TEAM_COPY}: {refs.TEAM_COPY_NOTE}. `holdfast show {source.session}:L1` opens a line."
        )
    elif not entries:
        print_message(f"Nothing has happened in {source.path} yet.")
    return 0


def _load_source(args: argparse.Namespace) -> _Source:
    if args.transcript is not None:
        return _Source(args.transcript, read_events(args.transcript))
    with open_store() as (store, config):
        if _is_team_session(store, args):
            with team_lookup.open_team(config.ledger) as team:
                events = team_lookup.load_team_events(team, args.session)
                return _Source("", events, TEAM_COPY, args.session)
        row = find_session(store, args)
    path = row["transcript"]
    try:
        return _Source(path, decode(read_lines(path)))
    except UnreadableTranscript:
        with SearchIndex(config.index) as index:
            events = load_indexed_events(index, row["id"], row["project"])
        if not events:
            raise
        return _Source(path, events, STORED_COPY)


def _is_team_session(store: Store, args: argparse.Namespace) -> bool:
    """Return whether `--session` is a session of another machine, which the team may have."""
    if args.team and not args.session:
        raise InvalidInput(
            "No session was given",
            hint="--session ID; `holdfast recall WORDS --team` lists their ids",
        )
    if not team_lookup.has_team(args.team) or not args.session or store.session(args.session):
        return False
    return bool(args.team) or is_uuid(args.session)


def _to_json(entry: TimelineEntry, source: _Source) -> dict[str, Any]:
    ref = refs.Ref(source.session, entry.line, entry.line)
    return {"ref": str(ref), **entry._asdict(), "source": source.source}


def render_timeline(entries: Iterable[TimelineEntry]) -> Iterator[str]:
    """Yield one line per entry; consecutive file changes are one line."""
    for is_change, group in groupby(entries, lambda entry: entry.kind in ("edit", "delete")):
        entries_of_group = [*group]
        if is_change:
            yield _render_line(
                f"L{entries_of_group[-1].line}", "changed", _render_files(entries_of_group)
            )
            continue
        for entry in entries_of_group:
            ref, text = f"L{entry.line}", one_line(entry.text, MAX_TEXT_CHARS)
            if entry.kind == "turn":
                yield ""
                yield bold(strip_control_chars(f"{ref:<7}{_render_time(entry)}  “{text}”"))
            elif entry.kind == "compaction":
                yield strip_control_chars(f"{ref:<7}──── compaction {text} ────")
            else:
                yield _render_line(ref, OUTCOMES[entry.ok] or entry.kind.replace("_", " "), text)


def _render_line(ref: str, what: str, text: str) -> str:
    return strip_control_chars(f"{ref:<7}  {what:<13}{text}")


def _render_files(changes: list[TimelineEntry]) -> str:
    counts = Counter(entry.text for entry in changes)
    deleted = {entry.text for entry in changes if entry.kind == "delete"}
    return ", ".join(
        path + (" (deleted)" if path in deleted else f" ×{count}" if count > 1 else "")
        for path, count in counts.items()
    )


def _render_time(entry: TimelineEntry) -> str:
    return entry.at[:16].replace("T", " ")
