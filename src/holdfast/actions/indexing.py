"""Keep the index up with the transcripts: a little before each lookup, or all of it anew."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from holdfast.errors import NotATranscript
from holdfast.index import fill
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
    return Source(row["id"], row["project"], row["transcript"])


def catch_up(
    index: Index, rows: list[TranscriptRow], now: float, seconds: float
) -> list[TranscriptRow]:
    """Read on in these transcripts, in this order, for so long; which are left behind."""
    deadline = time.monotonic() + seconds

    def stop() -> bool:
        return time.monotonic() > deadline

    return [row for row in rows if not fill.fill(index, source_of(row), now, stop)]


def lost(index: Index, rows: list[TranscriptRow]) -> list[TranscriptRow]:
    """Those whose transcript was gone before it could be indexed."""
    known = {row["session"] for row in index.all("transcripts")}
    return [row for row in rows if row["id"] not in known and not os.path.exists(row["transcript"])]


def rebuild(
    index: Index,
    rows: list[TranscriptRow],
    now: float,
    told: Callable[[int], None],
    *,
    everything: bool,
) -> int:
    """Index these transcripts anew; how many. What the index kept of one that is gone stays."""
    there = [row for row in rows if os.path.exists(row["transcript"])]
    kept = {row["session"] for row in index.all("transcripts")} - {row["id"] for row in there}
    if everything and not kept:
        index.empty()
    for row in there:
        with index.writing():
            fill.forget(index, row["id"])
        fill.fill(index, source_of(row), now, told=told)
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
