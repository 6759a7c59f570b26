"""Read on in transcripts and put the new texts into the index, in small transactions."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from holdfast import quick_json
from holdfast.errors import NotATranscript
from holdfast.index import ids, kept
from holdfast.index.database import Index, Row
from holdfast.index.texts import Calls, Piece, pieces
from holdfast.index.words import storable

if TYPE_CHECKING:
    from holdfast.transcript.model import Event

# One transaction holds about this much of a transcript, so that nobody waits long for the lock.
BATCH = 4 << 20
# A file that nobody has written to for so long ends where it ends, with a newline or without.
SETTLED_SECONDS = 60.0


class Source(NamedTuple):
    """A session's transcript, and its notes."""

    session: str
    project: str
    path: str
    notes: str = ""


def is_behind(index: Index, source: Source) -> bool:
    """Whether the file holds what the index does not; a file that is gone does not."""
    try:
        found = os.stat(source.path)
    except (OSError, ValueError):
        return False
    row = kept.row_of(index, source.session)
    return row is None or (row["size"], row["changed"]) != (found.st_size, found.st_mtime_ns)


def fill(
    index: Index,
    source: Source,
    now: float,
    stop: Callable[[], bool] = lambda: False,
    told: Callable[[int], None] = lambda _: None,
    *,
    batch: int = 0,
) -> bool:
    """Read to the end of the transcript, or until `stop`; whether the end was reached.

    `told` is called with the number of bytes read after each batch. What was read before is kept
    when the file is gone.
    """
    read = -1
    while read and is_behind(index, source):
        if stop():
            return False
        try:
            with index.writing():
                read = _batch(index, source, now, batch or BATCH)
        except NotATranscript:
            return True
        told(read)
    return True


def was_read(row: Row) -> bool:
    """Whether anything of the transcript was read: the index may know its notes alone."""
    return bool(row["cursor"] != kept.UNREAD["cursor"])


def offset_of(row: Row) -> int:
    """How many bytes of a transcript were read."""
    return int(quick_json.loads(row["cursor"]).get("offset", 0))


def fill_from_file(index: Index, path: str) -> None:
    """A transcript that nobody writes to, also packed, as the only session of this index."""
    from holdfast.transcript.reader import whole_file

    with index.writing():
        row = kept.new_row(index, "", "", path)
        _add(index, row, whole_file(path))
        kept.save(index, row)


def _batch(index: Index, source: Source, now: float, most: int) -> int:
    """One transaction's worth; returns how many bytes were read."""
    # Most lookups find nothing new, and begin sooner without.
    from holdfast.transcript.reader import Reader

    row = kept.row_of(index, source.session)
    cursor = quick_json.loads(row["cursor"]) if row else None
    reader = Reader(source.path, cursor)
    found = os.stat(source.path)
    if row is not None and reader.restarted:
        kept.take_out(index, row, ids.of_lines(row["number"]))
        row.update(kept.UNREAD)
    row = row or kept.new_row(index, source.session, source.project, source.path)
    start = reader.offset
    settled = now - found.st_mtime > SETTLED_SECONDS
    ended = lambda: reader.offset - start >= most  # noqa: E731
    _add(index, row, reader.lines(stop=ended, finished=settled))
    # Only a file that was read to its end is known as it is.
    whole = reader.offset >= found.st_size
    row["size"], row["changed"] = (found.st_size, found.st_mtime_ns) if whole else (-1, 0)
    row["cursor"], row["path"] = quick_json.dumps(reader.cursor()), storable(source.path)
    kept.save(index, row)
    return reader.offset - start


def _add(index: Index, row: Row, lines: Iterator[tuple[int, bytes]]) -> None:
    """The texts of these lines; the row is brought up to date with them."""
    calls: Calls = quick_json.loads(row["calls"])
    kept.add(index, row, _placed(row, pieces(lines, calls)))
    row["calls"] = quick_json.dumps(calls)


def _placed(row: Row, told: Iterable[Piece | Event]) -> Iterator[tuple[int, Piece]]:
    """Each text with its id; what is told of compactions goes into the row."""
    place, last_line = 0, 0
    for piece in told:
        if not isinstance(piece, Piece):
            row["compaction"] = piece["line"]
            continue
        if piece.kind == "summary" and row["compaction"] != piece.line - 1:
            # Older clients write no boundary: there the summary is the compaction.
            row["compaction"] = piece.line
        place = place + 1 if piece.line == last_line else 0
        last_line = piece.line
        if place < ids.PLACES:
            yield ids.piece(row["number"], piece.line, place), piece
