"""References (refs) to transcript lines: `L12`, `L12-15`, or `SESSION:L12` in another session.

Refs to lines of a session's notes are `notes:L12` and `SESSION:notes:L12`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from holdfast.errors import NotFound, UnreadableTranscript
from holdfast.search import document_ids
from holdfast.search.documents import KINDS
from holdfast.search.index_db import decompress_text

if TYPE_CHECKING:
    from typing import Any, Protocol

    from holdfast.store.protocols import TranscriptRow

    class TextIndex(Protocol):
        """An index that stores the texts of its documents, on this machine or for a team."""

        def session(self, session: str) -> dict[str, Any] | None:
            """Return the number of a session and the line of its last compaction, or None."""

        def documents_between(self, low: int, high: int) -> list[dict[str, Any]]: ...


# A ref as written in a brief, with or without the parentheses.
_REF = r"\(?(?:([^\s:()]{1,200}):)??(notes:)?[Ll](\d{1,9})(?:\s*[-–]\s*[Ll]?(\d{1,9}))?\)?"
_LAST_CHARACTERS = tuple("0123456789)")
REF_HINT = "a ref is L12, L12-15, notes:L12 or SESSION:L12"
COPY_NOTE = "the source file is gone or no longer has this line; this is the stored copy"
TEAM_COPY_NOTE = "a session of another machine; this is what it sent to the team"


class Ref(NamedTuple):
    """A range of lines in a session's transcript or notes."""

    session: str
    """Empty for the session that asks."""
    first: int
    last: int
    in_notes: bool = False
    """Whether the lines are in the notes instead of the transcript."""

    def __str__(self) -> str:
        lines = f"L{self.first}" + (f"-{self.last}" if self.last != self.first else "")
        return ":".join(filter(None, (self.session, "notes" if self.in_notes else "", lines)))


class StoredCopy(NamedTuple):
    """The index's copy of one event of a line."""

    line: int
    kind: str
    tool: str
    at: int
    text: str


def parse_ref(text: str) -> Ref | None:
    """Return the ref that a text is, or None if it is anything else."""
    text = text.strip()
    # Most queries end with a letter: they cannot be a ref, and the pattern is not compiled.
    match = re.fullmatch(_REF, text, re.ASCII) if text[-1:] in _LAST_CHARACTERS else None
    if match is None:
        return None
    first = int(match[3])
    return Ref(match[1] or "", first, int(match[4] or first), match[2] is not None)


def read_note_lines(path: str, ref: Ref) -> Iterator[tuple[int, str]]:
    """Yield number and text of the notes lines that a ref names, without secrets."""
    from holdfast.notes import paragraphs

    notes = paragraphs.read_file(path)
    for number, line in enumerate(notes.lines if notes else (), 1):
        if ref.first <= number <= ref.last:
            yield number, line


def read_raw_lines(path: str, ref: Ref) -> Iterator[tuple[int, bytes]]:
    """Yield number and bytes of the transcript lines that a ref names."""
    from holdfast.transcript.reader import read_lines

    for number, raw in read_lines(path, ref.last):
        if number >= ref.first:
            yield number, raw


def find_copies(index: TextIndex | None, session: str, ref: Ref) -> list[StoredCopy]:
    """Return the index's copies of the lines of a ref; none if it does not know the session."""
    row = index.session(session) if index else None
    if index is None or row is None:
        return []
    number = row["number"]
    if ref.in_notes:
        return [*_find_note_copies(index, number, ref)]
    rows = index.documents_between(*document_ids.transcript_range(number, ref.first, ref.last))
    return [
        StoredCopy(
            document_ids.line_number(row["id"]),
            KINDS[row["kind"]],
            row["tool"],
            row["at"],
            decompress_text(row["text"]),
        )
        for row in rows
    ]


def _find_note_copies(index: TextIndex, number: int, ref: Ref) -> Iterator[StoredCopy]:
    """Yield the copied lines. A paragraph is stored under the number of its first line."""
    for row in index.documents_between(*document_ids.notes_range(number, 0, ref.last)):
        for line, text in enumerate(
            decompress_text(row["text"]).split("\n"), document_ids.line_number(row["id"])
        ):
            if ref.first <= line <= ref.last:
                yield StoredCopy(line, "note", "", row["at"], text)


def missing_lines_error(path: str, ref: Ref) -> NotFound:
    """Build the error for a ref whose lines do not exist; the hint says which lines do."""
    from holdfast.transcript.reader import read_lines

    try:
        count = sum(1 for _ in read_lines(path))
        hint = f"it has lines L1 to L{count}"
    except UnreadableTranscript as problem:
        hint = problem.detail
    lines = f"line L{ref.first}" if ref.first == ref.last else f"lines L{ref.first}-{ref.last}"
    return NotFound(
        f"{path} has no {lines}",
        hint=f"{hint}; another session's line is {ref._replace(session='SESSION', last=ref.first)}",
    )


def find_session(rows: list[TranscriptRow], session: str) -> TranscriptRow | None:
    """Return the row of the session with exactly this id, or None."""
    return next((row for row in rows if row["id"] == session), None)
