"""Keep the full-text index up to date with transcripts and notes.

A lookup first indexes what is new, for a limited time. `holdfast index rebuild` reads everything
again.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from holdfast.errors import UnreadableTranscript
from holdfast.notes.files import get_notes_path
from holdfast.search import ingest, session_rows
from holdfast.search.index_db import IN_MEMORY, Row, SearchIndex
from holdfast.search.ingest import Source

if TYPE_CHECKING:
    from holdfast.store.protocols import TranscriptRow

# How long a lookup may read new lines before it answers.
REFRESH_SECONDS = 2.0


class IndexProgress(NamedTuple):
    """How much of one session is indexed."""

    session: str
    project: str
    path: str
    size: int
    """Bytes of the transcript; 0 if the file is gone."""
    behind: int
    """Bytes that are not indexed yet."""
    indexed: int
    """Bytes of text in the index."""


def to_source(row: TranscriptRow) -> Source:
    """Return the files of a session, as the indexer takes them."""
    path = get_notes_path(row["project"], row["id"])
    return Source(row["id"], row["project"], row["transcript"], path)


def refresh_index(
    index: SearchIndex,
    rows: list[TranscriptRow],
    now: float,
    seconds: float,
    *,
    batch: int = 0,
    on_batch: Callable[[int], None] = lambda _: None,
) -> list[TranscriptRow]:
    """Index what is new in these transcripts and notes, in this order, for at most `seconds`.

    Returns the rows that are not fully indexed. `on_batch` is called after each batch of `batch`
    bytes, when the lock is free for other processes.
    """
    deadline = time.monotonic() + seconds

    def stop() -> bool:
        return time.monotonic() > deadline

    def index_source(source: Source) -> bool:
        """Index a session's notes, which are short, then its transcript; whether all was read."""
        if ingest.is_notes_behind(index, source):
            if stop():
                return False
            _read_notes(index, source)
        return ingest.ingest_transcript(index, source, now, stop, on_batch, batch_bytes=batch)

    return [row for row in rows if not index_source(to_source(row))]


def _read_notes(index: SearchIndex, source: Source) -> None:
    # Imported late: most lookups find no new notes, and start faster without this.
    from holdfast.notes import paragraphs

    notes = paragraphs.read_file(source.notes)
    if notes is not None:
        ingest.ingest_notes(index, source, paragraphs.to_indexed_notes(notes))


def find_lost(index: SearchIndex, rows: list[TranscriptRow]) -> list[TranscriptRow]:
    """Return the rows whose transcript was deleted before it was indexed."""
    read = {
        row["session"] for row in index.fetch_all("transcripts") if ingest.has_read_transcript(row)
    }
    return [row for row in rows if row["id"] not in read and not os.path.exists(row["transcript"])]


def rebuild_index(
    index: SearchIndex,
    rows: list[TranscriptRow],
    now: float,
    on_batch: Callable[[int], None],
    *,
    everything: bool,
) -> int:
    """Index these transcripts and their notes again; return the number of transcripts.

    What was indexed of a deleted transcript stays, and so do that session's notes.
    """
    present = [row for row in rows if os.path.exists(row["transcript"])]
    gone = {row["session"] for row in index.fetch_all("transcripts")} - {
        row["id"] for row in present
    }
    if everything and not gone:
        index.clear()
    for row in present:
        with index.transaction():
            session_rows.forget_session(index, row["id"])
        ingest.ingest_transcript(index, to_source(row), now, on_batch=on_batch)
    for row in rows:
        _read_notes(index, to_source(row))
    return len(present)


def measure_progress(index: SearchIndex, rows: list[TranscriptRow]) -> list[IndexProgress]:
    """Return how much of each of these sessions is indexed."""
    indexed = {row["session"]: row for row in index.fetch_all("transcripts")}
    return [_measure_session(indexed.get(row["id"]), row) for row in rows]


def _measure_session(index_row: Row | None, row: TranscriptRow) -> IndexProgress:
    try:
        size = os.stat(row["transcript"]).st_size
    except (OSError, ValueError):
        size = 0
    done = ingest.bytes_read(index_row) if index_row else 0
    indexed: int = index_row["indexed"] if index_row else 0
    behind = max(0, size - done)
    return IndexProgress(row["id"], row["project"], row["transcript"], size, behind, indexed)


def index_file(path: str) -> SearchIndex:
    """Return an in-memory index of one transcript file; raises UnreadableTranscript."""
    index = SearchIndex(IN_MEMORY)
    try:
        ingest.ingest_file(index, path)
    except UnreadableTranscript:
        index.close()
        raise
    return index
