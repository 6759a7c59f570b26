"""References to transcript lines: `L12`, `L12-15`, and `SESSION:L12` for another session's.

Lines of a session's notes are `notes:L12` and `SESSION:notes:L12`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from holdfast.errors import NoSuchRecord, NotATranscript
from holdfast.index import ids
from holdfast.index.database import unpack
from holdfast.index.texts import KINDS

if TYPE_CHECKING:
    from typing import Any, Protocol

    from holdfast.store.base import TranscriptRow

    class Keeper(Protocol):
        """An index that keeps the texts it knows."""

        def session(self, session: str) -> dict[str, Any] | None:
            """What is known of a session: its number and the line of its last compaction."""

        def kept(self, low: int, high: int) -> list[dict[str, Any]]: ...


# As it stands in a brief, with or without its parentheses.
_REF = r"\(?(?:([^\s:()]{1,200}):)??(notes:)?[Ll](\d{1,9})(?:\s*[-–]\s*[Ll]?(\d{1,9}))?\)?"
_ENDS = tuple("0123456789)")
HINT = "a ref is L12, L12-15, notes:L12 or SESSION:L12"
COPIED = "the file it stood in is gone or no longer has this; the stored copy answers"
SENT = "a session of another machine; what it sent to the team answers"


class Ref(NamedTuple):
    session: str
    """Nothing where the session that asks is meant."""
    first: int
    last: int
    in_notes: bool = False
    """Whether lines of the notes are meant, and not of the transcript."""

    def __str__(self) -> str:
        lines = f"L{self.first}" + (f"-{self.last}" if self.last != self.first else "")
        return ":".join(filter(None, (self.session, "notes" if self.in_notes else "", lines)))


class Copy(NamedTuple):
    """What the index kept of one event of a line."""

    line: int
    kind: str
    tool: str
    at: int
    text: str


def parse(text: str) -> Ref | None:
    text = text.strip()
    # Most questions end with a letter, and need no pattern to be told from a ref.
    found = re.fullmatch(_REF, text, re.ASCII) if text[-1:] in _ENDS else None
    if found is None:
        return None
    first = int(found[3])
    return Ref(found[1] or "", first, int(found[4] or first), found[2] is not None)


def noted_lines(path: str, ref: Ref) -> Iterator[tuple[int, str]]:
    """The lines of a notes file that a ref names, without secrets."""
    from holdfast.actions import noted

    notes = noted.read(path)
    for number, line in enumerate(notes.lines if notes else (), 1):
        if ref.first <= number <= ref.last:
            yield number, line


def raw_lines(path: str, ref: Ref) -> Iterator[tuple[int, bytes]]:
    """The lines of a transcript file that a ref names."""
    from holdfast.transcript.reader import whole_file

    for number, raw in whole_file(path, ref.last):
        if number >= ref.first:
            yield number, raw


def copies(index: Keeper | None, session: str, ref: Ref) -> list[Copy]:
    """What the index kept of these lines."""
    row = index.session(session) if index else None
    if index is None or row is None:
        return []
    number = row["number"]
    if ref.in_notes:
        return [*_noted_copies(index, number, ref)]
    rows = index.kept(*ids.of_lines(number, ref.first, ref.last))
    return [
        Copy(
            ids.line_of(piece["id"]),
            KINDS[piece["kind"]],
            piece["tool"],
            piece["at"],
            unpack(piece["text"]),
        )
        for piece in rows
    ]


def _noted_copies(index: Keeper, number: int, ref: Ref) -> Iterator[Copy]:
    """Line by line, as far as they were kept: a paragraph stands where its first line stood."""
    for piece in index.kept(*ids.of_notes(number, 0, ref.last)):
        for line, text in enumerate(unpack(piece["text"]).split("\n"), ids.line_of(piece["id"])):
            if ref.first <= line <= ref.last:
                yield Copy(line, "note", "", piece["at"], text)


def missing(path: str, ref: Ref) -> NoSuchRecord:
    """The error for a ref that leads nowhere, with what could be meant."""
    from holdfast.transcript.reader import whole_file

    try:
        count = sum(1 for _ in whole_file(path))
        told = f"it has lines L1 to L{count}"
    except NotATranscript as problem:
        told = problem.detail
    lines = f"line L{ref.first}" if ref.first == ref.last else f"lines L{ref.first}-{ref.last}"
    return NoSuchRecord(
        f"{path} has no {lines}",
        hint=f"{told}; another session's line is {ref._replace(session='SESSION', last=ref.first)}",
    )


def named(rows: list[TranscriptRow], session: str) -> TranscriptRow | None:
    """The session of exactly that id."""
    return next((row for row in rows if row["id"] == session), None)
