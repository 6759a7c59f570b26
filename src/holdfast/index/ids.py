"""Ids of pieces: project, session, line and place in the line, so that each is a range of ids."""

from __future__ import annotations

from holdfast.errors import StoreUnavailable

# 16 bits of projects, 15 of sessions, 25 of lines, 6 of pieces within a line: 62 in all.
PROJECTS, SESSIONS, LINES, PLACES = 1 << 16, 1 << 15, 1 << 25, 1 << 6
PER_SESSION = LINES * PLACES
EVERYTHING = (0, PROJECTS * SESSIONS * PER_SESSION - 1)

Range = tuple[int, int]


def of_project(project: int) -> Range:
    return project * SESSIONS * PER_SESSION, (project + 1) * SESSIONS * PER_SESSION - 1


def of_transcript(number: int) -> Range:
    return number * PER_SESSION, (number + 1) * PER_SESSION - 1


def of_lines(number: int, first: int, last: int) -> Range:
    start = number * PER_SESSION
    first, last = min(first, LINES - 1), min(last, LINES - 1)
    return start + first * PLACES, start + (last + 1) * PLACES - 1


def numbers_of(project: int) -> Range:
    """The numbers that transcripts of a project can have."""
    return project * SESSIONS, (project + 1) * SESSIONS - 1


def piece(number: int, line: int, place: int) -> int:
    """Of a line with more pieces than fit, the rest is told by nothing but the line itself."""
    if line >= LINES:
        raise StoreUnavailable(f"a transcript of more than {LINES} lines cannot be indexed")
    return number * PER_SESSION + line * PLACES + place


def line_of(ident: int) -> int:
    return ident // PLACES % LINES


def next_number(project: int, last: int | None) -> int:
    """The number of a project's next transcript."""
    if project >= PROJECTS or (last is not None and last % SESSIONS == SESSIONS - 1):
        raise StoreUnavailable("the index is full", hint="`holdfast index rebuild --all` starts it")
    return project * SESSIONS if last is None else last + 1
