"""The other source beside a transcript: a session's notes, read anew whenever they changed."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from typing import NamedTuple

from holdfast.index import ids, kept
from holdfast.index.database import Index
from holdfast.index.fill import Source
from holdfast.index.texts import Piece
from holdfast.index.words import storable


class Noted(NamedTuple):
    """What a notes file holds: its paragraphs, and its size and time of change when it was read."""

    size: int
    changed: int
    pieces: Iterable[Piece]


def is_behind(index: Index, source: Source) -> bool:
    """Whether the file says what the index does not; what is gone, or no plain file, does not."""
    try:
        found = os.lstat(source.notes)
    except (OSError, ValueError):
        return False
    row = index.one("notes", (storable(source.session),))
    known = (row["size"], row["changed"]) if row else None
    return stat.S_ISREG(found.st_mode) and known != (found.st_size, found.st_mtime_ns)


def fill(index: Index, source: Source, noted: Noted) -> None:
    """Put in what the notes say now, in place of what they said before."""
    with index.writing():
        row = kept.row_of(index, source.session) or kept.new_row(
            index, source.session, source.project, source.path
        )
        number = row["number"]
        kept.take_out(index, row, ids.of_notes(number))
        kept.add(index, row, ((ids.noted(number, one.line), one) for one in noted.pieces))
        kept.save(index, row)
        values = {"path": storable(source.notes), "size": noted.size, "changed": noted.changed}
        index.all("save_notes", {"number": number, **values})
