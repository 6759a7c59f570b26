"""What stands in a session's notes: their lines without secrets, and the paragraphs to search."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from holdfast.actions.notes import LARGEST
from holdfast.index.notes import Noted
from holdfast.index.texts import LONGEST, Piece
from holdfast.redact import redact_lines
from holdfast.views.notes import in_other_words

WHEN = "### "
# Where something new begins, though no empty line stands before it.
BEGINNINGS = ("#", "- ", "* ", "+ ")
MOST_LINES = 40


class Notes(NamedTuple):
    """A notes file as it was when it was read."""

    lines: list[str]
    size: int
    changed: int
    """In nanoseconds, as the file system says."""


def read(path: str) -> Notes | None:
    """The notes; nothing if there are none that can be read."""
    try:
        # A link could lead anywhere, and a pipe would never end.
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return None
        with open(path, "rb") as file:
            found = os.fstat(file.fileno())
            text = file.read(LARGEST).decode("utf-8", "replace").replace("\r\n", "\n")
    except (OSError, ValueError):
        return None
    lines = redact_lines(text.removesuffix("\n")) if text else []
    return Notes(lines, found.st_size, found.st_mtime_ns)


def searchable(notes: Notes) -> Noted:
    """The notes as the index takes them."""
    return Noted(notes.size, notes.changed, paragraphs(notes))


def paragraphs(notes: Notes) -> Iterator[Piece]:
    """What people and agents wrote, paragraph by paragraph; an entry of a list is one."""
    at = datetime.fromtimestamp(notes.changed / 1e9).isoformat()
    held: list[str] = []
    first = 0
    for number, line in in_other_words(notes.lines):
        when = _time(line)
        goes_on = held and number == first + len(held) and len(held) < MOST_LINES
        if held and (not goes_on or when or not line.strip() or line.startswith(BEGINNINGS)):
            yield _piece(first, at, held)
            held = []
        at = when or at
        if line.strip() and not when:
            first = first if held else number
            held.append(line)
    if held:
        yield _piece(first, at, held)


def _piece(first: int, at: str, lines: list[str]) -> Piece:
    """One line for each: the hit's ref counts them."""
    longest = LONGEST // len(lines)
    return Piece(first, "note", "", "", at, "\n".join(line[:longest] for line in lines))


def _time(line: str) -> str:
    """The time that an entry of the log stands under, if this line tells one."""
    said = line.removeprefix(WHEN).strip() if line.startswith(WHEN) else ""
    try:
        return datetime.fromisoformat(said).isoformat() if said else ""
    except ValueError:
        return ""
