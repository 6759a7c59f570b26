"""What the index keeps of a session: its row, its pieces, and the words that lead to them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from holdfast.index import ids
from holdfast.index.database import Index, Row, pack, unpack
from holdfast.index.rank import Found
from holdfast.index.texts import KINDS, Piece
from holdfast.index.words import indexed, storable

NUMBER = {kind: number for number, kind in enumerate(KINDS)}
# A transcript of which nothing was read yet.
UNREAD: dict[str, Any] = {
    "cursor": "{}", "size": -1, "changed": 0, "calls": "{}", "compaction": 0,
}  # fmt: skip


def row_of(index: Index, session: str) -> Row | None:
    return index.one("transcript", (storable(session),))


def new_row(index: Index, session: str, project: str, path: str) -> Row:
    """A session that the index does not know yet."""
    project = storable(project)
    index.all("add_project", (project,))
    of_project = index.one("project", (project,))
    assert of_project is not None
    numbers = ids.numbers_of(of_project["number"])
    last = index.one("last_number", numbers)
    return {
        "number": ids.next_number(of_project["number"], last["number"] if last else None),
        "session": storable(session),
        "path": storable(path),
        **UNREAD,
        "pieces": 0,
        "indexed": 0,
    }


def save(index: Index, row: Row) -> None:
    index.all("save_transcript", row)


def add(index: Index, row: Row, placed: Iterable[tuple[int, Piece]]) -> None:
    """Put pieces in, each with its id; the row counts them."""
    rows: list[tuple[object, ...]] = []
    found: list[tuple[object, ...]] = []
    for ident, piece in placed:
        text, file = storable(piece.text), storable(piece.file)
        row["indexed"] += len(text.encode("utf-8"))
        rows.append(
            (ident, NUMBER[piece.kind], storable(piece.tool), file, piece.seconds, pack(text),
             piece.call, piece.ok, piece.aside)
        )  # fmt: skip
        found.append((ident, *indexed(text, file)))
    index.many("add_piece", rows)
    index.many("add_words", found)
    row["pieces"] += len(rows)


def take_out(index: Index, row: Row, between: ids.Range) -> None:
    """Remove pieces with their words, which can be told only by the text that they were in."""
    gone: list[tuple[object, ...]] = []
    for piece in index.all("pieces_between", between):
        text = unpack(piece["text"])
        row["indexed"] -= len(text.encode("utf-8"))
        gone.append((piece["id"], *indexed(text, piece["file"])))
    index.many("forget_words", gone)
    index.all("forget_pieces", between)
    row["pieces"] -= len(gone)


def forget(index: Index, session: str) -> None:
    """Take a session out, its notes too."""
    row = row_of(index, session)
    if row is not None:
        take_out(index, row, ids.of_session(row["number"]))
        index.all("forget_notes", (row["number"],))
        index.all("forget_transcript", (row["number"],))


def as_found(row: Row) -> Found:
    """A piece as it is stored, with its session's id and the line of its last compaction."""
    kind, line = KINDS[row["kind"]], ids.line_of(row["id"])
    return Found(
        id=row["id"],
        session=row["session"],
        line=line,
        kind=kind,
        tool=row["tool"],
        at=row["at"],
        before=kind != "note" and line < row["compaction"],
        text=unpack(row["text"]),
    )
