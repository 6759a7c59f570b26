"""Read on in transcripts and put the new texts into the index, in small transactions."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from typing import NamedTuple

from holdfast.errors import NotATranscript
from holdfast.index import ids
from holdfast.index.database import Index, Row, pack, unpack
from holdfast.index.texts import KINDS, Calls, Piece, pieces
from holdfast.index.words import indexed, storable
from holdfast.transcript.reader import Reader, whole_file

# One transaction holds about this much of a transcript, so that nobody waits long for the lock.
BATCH = 4 << 20
# A file that nobody has written to for so long ends where it ends, with a newline or without.
SETTLED_SECONDS = 60.0
NUMBER = {kind: number for number, kind in enumerate(KINDS)}


class Source(NamedTuple):
    """A session's transcript."""

    session: str
    project: str
    path: str


def is_behind(index: Index, source: Source) -> bool:
    """Whether the file holds what the index does not; a file that is gone does not."""
    try:
        found = os.stat(source.path)
    except (OSError, ValueError):
        return False
    row = index.one("transcript", (storable(source.session),))
    return row is None or (row["size"], row["changed"]) != (found.st_size, found.st_mtime_ns)


def fill(
    index: Index,
    source: Source,
    now: float,
    stop: Callable[[], bool] = lambda: False,
    told: Callable[[int], None] = lambda _: None,
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
                read = _batch(index, source, now)
        except NotATranscript:
            return True
        told(read)
    return True


def offset_of(row: Row) -> int:
    """How many bytes of a transcript were read."""
    return int(json.loads(row["cursor"]).get("offset", 0))


def fill_from_file(index: Index, path: str) -> None:
    """A transcript that nobody writes to, also packed, as the only session of this index."""
    with index.writing():
        row = _new_row(index, Source("", "", path))
        _add(index, row, whole_file(path))
        _save(index, row)


def forget(index: Index, session: str) -> None:
    """Take a session out, with its words: they cannot be removed without the text they were in."""
    row = index.one("transcript", (storable(session),))
    if row is not None:
        _clear(index, row["number"])


def _clear(index: Index, number: int) -> None:
    low, high = ids.of_transcript(number)
    gone = (
        (piece["id"], *indexed(unpack(piece["text"]), piece["file"]))
        for piece in index.all("pieces_between", (low, high))
    )
    index.many("forget_words", gone)
    index.all("forget_pieces", (low, high))
    index.all("forget_transcript", (number,))


def _batch(index: Index, source: Source, now: float) -> int:
    """One transaction's worth; returns how many bytes were read."""
    row = index.one("transcript", (storable(source.session),))
    cursor = json.loads(row["cursor"]) if row else None
    reader = Reader(source.path, cursor)
    found = os.stat(source.path)
    if row is not None and reader.restarted:
        _clear(index, row["number"])
        row = None
    row = row or _new_row(index, source)
    start = reader.offset
    settled = now - found.st_mtime > SETTLED_SECONDS
    ended = lambda: reader.offset - start >= BATCH  # noqa: E731
    _add(index, row, reader.lines(stop=ended, finished=settled))
    # Only a file that was read to its end is known as it is.
    whole = reader.offset >= found.st_size
    row["size"], row["changed"] = (found.st_size, found.st_mtime_ns) if whole else (-1, 0)
    row["cursor"], row["path"] = json.dumps(reader.cursor()), storable(source.path)
    _save(index, row)
    return reader.offset - start


def _new_row(index: Index, source: Source) -> Row:
    project = storable(source.project)
    index.all("add_project", (project,))
    of_project = index.one("project", (project,))
    assert of_project is not None
    numbers = ids.numbers_of(of_project["number"])
    last = index.one("last_number", numbers)
    return {
        "number": ids.next_number(of_project["number"], last["number"] if last else None),
        "session": storable(source.session),
        "path": storable(source.path),
        "cursor": "{}",
        "size": -1,
        "changed": 0,
        "calls": "{}",
        "compaction": 0,
        "pieces": 0,
        "indexed": 0,
    }


def _save(index: Index, row: Row) -> None:
    index.all("save_transcript", row)


def _add(index: Index, row: Row, lines: Iterator[tuple[int, bytes]]) -> None:
    """The texts of these lines; the row is brought up to date with them."""
    calls: Calls = json.loads(row["calls"])
    place, last_line, compacted = 0, 0, row["compaction"]
    rows: list[tuple[object, ...]] = []
    found: list[tuple[object, ...]] = []
    for piece in pieces(lines, calls):
        if not isinstance(piece, Piece):
            compacted = piece["line"]
            continue
        if piece.kind == "summary":
            # Older clients write no boundary: there the summary is the compaction.
            compacted = compacted if compacted == piece.line - 1 else piece.line
        place = place + 1 if piece.line == last_line else 0
        last_line = piece.line
        if place >= ids.PLACES:
            continue
        ident = ids.piece(row["number"], piece.line, place)
        text, file = storable(piece.text), storable(piece.file)
        row["indexed"] += len(text.encode("utf-8"))
        rows.append(
            (ident, NUMBER[piece.kind], storable(piece.tool), file, piece.seconds, pack(text))
        )
        found.append((ident, *indexed(text, file)))
    index.many("add_piece", rows)
    index.many("add_words", found)
    row["pieces"] += len(rows)
    row["calls"], row["compaction"] = json.dumps(calls), compacted
