"""References to transcript lines: `L12`, `L12-15`, and `SESSION:L12` for another session's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from holdfast.errors import NoSuchRecord, NotATranscript
from holdfast.index import ids
from holdfast.index.database import Index, unpack
from holdfast.index.texts import KINDS
from holdfast.transcript.reader import whole_file

if TYPE_CHECKING:
    from holdfast.store.base import TranscriptRow

# As it stands in a brief, with or without its parentheses.
_REF = re.compile(
    r"\(?(?:([^\s:()]{1,200}):)?[Ll](\d{1,9})(?:\s*[-–]\s*[Ll]?(\d{1,9}))?\)?", re.ASCII
)
COPIED = "the transcript is gone or no longer has this; the stored copy answers"


class Ref(NamedTuple):
    session: str
    """Nothing where the session that asks is meant."""
    first: int
    last: int

    def __str__(self) -> str:
        lines = f"L{self.first}" + (f"-{self.last}" if self.last != self.first else "")
        return f"{self.session}:{lines}" if self.session else lines


class Copy(NamedTuple):
    """What the index kept of one event of a line."""

    line: int
    kind: str
    tool: str
    at: int
    text: str


def parse(text: str) -> Ref | None:
    found = _REF.fullmatch(text.strip())
    if found is None:
        return None
    first = int(found[2])
    return Ref(found[1] or "", first, int(found[3] or first))


def raw_lines(path: str, ref: Ref) -> Iterator[tuple[int, bytes]]:
    """The lines of a transcript file that a ref names."""
    for number, raw in whole_file(path, ref.last):
        if number >= ref.first:
            yield number, raw


def copies(index: Index | None, session: str, ref: Ref) -> list[Copy]:
    """What the index kept of these lines."""
    row = index.one("transcript", (session,)) if index else None
    if index is None or row is None:
        return []
    rows = index.all("pieces_between", ids.of_lines(row["number"], ref.first, ref.last))
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


def missing(path: str, ref: Ref) -> NoSuchRecord:
    """The error for a ref that leads nowhere, with what could be meant."""
    try:
        count = sum(1 for _ in whole_file(path))
        told = f"it has lines L1 to L{count}"
    except NotATranscript as problem:
        told = problem.detail
    lines = f"line L{ref.first}" if ref.first == ref.last else f"lines L{ref.first}-{ref.last}"
    return NoSuchRecord(
        f"{path} has no {lines}", hint=f"{told}; another session's line is SESSION:L{ref.first}"
    )


def named(rows: list[TranscriptRow], session: str) -> TranscriptRow | None:
    """The session of exactly that id."""
    return next((row for row in rows if row["id"] == session), None)
