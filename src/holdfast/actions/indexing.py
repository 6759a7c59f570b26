"""Keep the index up with transcripts and notes: a little before each lookup, or all of it anew."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from holdfast.actions.notes_path import path_of
from holdfast.errors import NotATranscript
from holdfast.index import fill, kept, notes
from holdfast.index.database import IN_MEMORY, Index, Row
from holdfast.index.fill import Source

if TYPE_CHECKING:
    from holdfast.store.base import TranscriptRow

# How long a lookup may spend on reading on before it answers.
PATIENCE = 2.0


class Standing(NamedTuple):
    """How far the index is with one session."""

    session: str
    project: str
    path: str
    size: int
    """Bytes of the transcript; 0 if it is gone."""
    behind: int
    """Bytes that are not indexed yet."""
    indexed: int
    """Bytes of text in the index."""


def source_of(row: TranscriptRow) -> Source:
    path = path_of(row["project"], row["id"])
    return Source(row["id"], row["project"], row["transcript"], path)


def catch_up(
    index: Index,
    rows: list[TranscriptRow],
    now: float,
    seconds: float,
    *,
    batch: int = 0,
    told: Callable[[int], None] = lambda _: None,
) -> list[TranscriptRow]:
    """Read on in these transcripts and notes, in this order, for so long; which are left behind.

    `told` is called whenever a batch is done and others have their turn.
    """
    deadline = time.monotonic() + seconds

    def stop() -> bool:
        return time.monotonic() > deadline

    def follow(source: Source) -> bool:
        """Read both of a session's files, the short one first; whether all was read."""
        if notes.is_behind(index, source):
            if stop():
                return False
            _read_notes(index, source)
        return fill.fill(index, source, now, stop, told, batch=batch)

    return [row for row in rows if not follow(source_of(row))]


def _read_notes(index: Index, source: Source) -> None:
    # Most lookups find no new notes, and begin sooner without.
    from holdfast.actions import noted

    found = noted.read(source.notes)
    if found is not None:
        notes.fill(index, source, noted.searchable(found))


def lost(index: Index, rows: list[TranscriptRow]) -> list[TranscriptRow]:
    """Those whose transcript was gone before it could be indexed."""
    read = {row["session"] for row in index.all("transcripts") if fill.was_read(row)}
    return [row for row in rows if row["id"] not in read and not os.path.exists(row["transcript"])]


def rebuild(
    index: Index,
    rows: list[TranscriptRow],
    now: float,
    told: Callable[[int], None],
    *,
    everything: bool,
) -> int:
    """Index these transcripts anew, and their notes; how many.

    What the index kept of a transcript that is gone stays, and so do that session's notes.
    """
    there = [row for row in rows if os.path.exists(row["transcript"])]
    gone = {row["session"] for row in index.all("transcripts")} - {row["id"] for row in there}
    if everything and not gone:
        index.empty()
    for row in there:
        with index.writing():
            kept.forget(index, row["id"])
        fill.fill(index, source_of(row), now, told=told)
    for row in rows:
        _read_notes(index, source_of(row))
    return len(there)


def standing(index: Index, rows: list[TranscriptRow]) -> list[Standing]:
    """How far the index is with each of these."""
    known = {row["session"]: row for row in index.all("transcripts")}
    return [_standing(known.get(row["id"]), row) for row in rows]


def _standing(known: Row | None, row: TranscriptRow) -> Standing:
    try:
        size = os.stat(row["transcript"]).st_size
    except (OSError, ValueError):
        size = 0
    done = fill.offset_of(known) if known else 0
    indexed: int = known["indexed"] if known else 0
    behind = max(0, size - done)
    return Standing(row["id"], row["project"], row["transcript"], size, behind, indexed)


def index_of_file(path: str) -> Index:
    """A transcript file as an index in memory, for questions about it alone."""
    index = Index(IN_MEMORY)
    try:
        fill.fill_from_file(index, path)
    except NotATranscript:
        index.close()
        raise
    return index
