"""Read new transcript lines and changed notes into the index, in small transactions."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from holdfast import fast_json
from holdfast.errors import UnreadableTranscript
from holdfast.search import document_ids, session_rows
from holdfast.search.documents import Document, OpenCalls, extract_documents
from holdfast.search.index_db import Row, SearchIndex
from holdfast.search.tokenizer import to_storable

if TYPE_CHECKING:
    from holdfast.transcript.types import Event

# How much of a transcript one transaction reads, so that other writers do not wait long.
BATCH_BYTES = 4 << 20
# After this long without a write, the last line is complete, with a newline or without.
SETTLED_SECONDS = 60.0


class Source(NamedTuple):
    """The files of a session: its transcript and its notes."""

    session: str
    project: str
    path: str
    notes: str = ""


class NotesContent(NamedTuple):
    """The paragraphs of a notes file, and its size and modification time when it was read."""

    size: int
    changed: int
    documents: Iterable[Document]


def is_transcript_behind(index: SearchIndex, source: Source) -> bool:
    """Return whether the transcript has changed since it was indexed; False if it is gone."""
    try:
        status = os.stat(source.path)
    except (OSError, ValueError):
        return False
    row = session_rows.find_row(index, source.session)
    return row is None or (row["size"], row["changed"]) != (status.st_size, status.st_mtime_ns)


def is_notes_behind(index: SearchIndex, source: Source) -> bool:
    """Return whether the notes have changed since they were indexed.

    False if the file is gone or is not a regular file.
    """
    try:
        status = os.lstat(source.notes)
    except (OSError, ValueError):
        return False
    row = index.fetch_one("notes", (to_storable(source.session),))
    indexed = (row["size"], row["changed"]) if row else None
    return stat.S_ISREG(status.st_mode) and indexed != (status.st_size, status.st_mtime_ns)


def ingest_transcript(
    index: SearchIndex,
    source: Source,
    now: float,
    stop: Callable[[], bool] = lambda: False,
    on_batch: Callable[[int], None] = lambda _: None,
    *,
    batch_bytes: int = 0,
) -> bool:
    """Index a transcript to its end, or until `stop()`; return whether the end was reached.

    `on_batch` is called with the number of bytes read after each batch. If the file is gone, what
    was indexed before stays.
    """
    read_bytes = -1
    while read_bytes and is_transcript_behind(index, source):
        if stop():
            return False
        try:
            with index.transaction():
                read_bytes = _ingest_batch(index, source, now, batch_bytes or BATCH_BYTES)
        except UnreadableTranscript:
            return True
        on_batch(read_bytes)
    return True


def ingest_notes(index: SearchIndex, source: Source, content: NotesContent) -> None:
    """Replace the indexed notes of a session."""
    with index.transaction():
        row = session_rows.find_row(index, source.session) or session_rows.new_row(
            index, source.session, source.project, source.path
        )
        number = row["number"]
        session_rows.remove_documents(index, row, document_ids.notes_range(number))
        session_rows.add_documents(
            index,
            row,
            (
                (document_ids.notes_document_id(number, document.line), document)
                for document in content.documents
            ),
        )
        session_rows.save_row(index, row)
        values = {"path": to_storable(source.notes), "size": content.size}
        index.fetch_all("save_notes", {"number": number, "changed": content.changed, **values})


def ingest_file(index: SearchIndex, path: str) -> None:
    """Index a finished transcript, also a compressed one, as the only session of this index."""
    from holdfast.transcript.reader import read_lines

    with index.transaction():
        row = session_rows.new_row(index, "", "", path)
        _add_lines(index, row, read_lines(path))
        session_rows.save_row(index, row)


def has_read_transcript(row: Row) -> bool:
    """Return whether any of the transcript was read; the index may have only the notes."""
    return bool(row["cursor"] != session_rows.UNREAD_STATE["cursor"])


def bytes_read(row: Row) -> int:
    """Return how many bytes of a session's transcript were read."""
    return int(fast_json.loads(row["cursor"]).get("offset", 0))


def _ingest_batch(index: SearchIndex, source: Source, now: float, max_bytes: int) -> int:
    """Index the next lines of a transcript; return how many bytes were read."""
    # Imported here: most lookups find nothing new to index and start faster without.
    from holdfast.transcript.reader import TranscriptReader

    row = session_rows.find_row(index, source.session)
    cursor = fast_json.loads(row["cursor"]) if row else None
    reader = TranscriptReader(source.path, cursor)
    status = os.stat(source.path)
    if row is not None and reader.restarted:
        session_rows.remove_documents(index, row, document_ids.transcript_range(row["number"]))
        row.update(session_rows.UNREAD_STATE)
    row = row or session_rows.new_row(index, source.session, source.project, source.path)
    start = reader.offset
    is_settled = now - status.st_mtime > SETTLED_SECONDS
    is_full = lambda: reader.offset - start >= max_bytes  # noqa: E731
    _add_lines(index, row, reader.lines(stop=is_full, finished=is_settled))
    # Size and time are saved only when the file was read to its end; else it stays "behind".
    is_complete = reader.offset >= status.st_size
    row["size"], row["changed"] = (status.st_size, status.st_mtime_ns) if is_complete else (-1, 0)
    row["cursor"], row["path"] = fast_json.dumps(reader.cursor()), to_storable(source.path)
    session_rows.save_row(index, row)
    return reader.offset - start


def _add_lines(index: SearchIndex, row: Row, lines: Iterator[tuple[int, bytes]]) -> None:
    """Index the documents of these lines and update the session's row."""
    open_calls: OpenCalls = fast_json.loads(row["calls"])
    documents = _assign_ids(row, extract_documents(lines, open_calls))
    session_rows.add_documents(index, row, documents)
    row["calls"] = fast_json.dumps(open_calls)


def _assign_ids(row: Row, documents: Iterable[Document | Event]) -> Iterator[tuple[int, Document]]:
    """Yield each document with its id; write the line of a compaction into the row."""
    position, last_line = 0, 0
    for document in documents:
        if not isinstance(document, Document):
            row["compaction"] = document["line"]
            continue
        if document.kind == "summary" and row["compaction"] != document.line - 1:
            # Older clients write no compaction event: there the summary marks the compaction.
            row["compaction"] = document.line
        position = position + 1 if document.line == last_line else 0
        last_line = document.line
        if position < document_ids.MAX_DOCUMENTS_PER_LINE:
            yield document_ids.transcript_document_id(row["number"], last_line, position), document
