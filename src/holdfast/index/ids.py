"""Ids of pieces: project, session, line and place in the line, so that each is a range of ids.

The lines of a session's notes come after those of its transcript.
"""

from __future__ import annotations

from holdfast.errors import StoreUnavailable

# 16 bits of projects, 15 of sessions, 25 of lines, 6 of pieces within a line: 62 in all.
PROJECTS, SESSIONS, LINES, PLACES = 1 << 16, 1 << 15, 1 << 25, 1 << 6
PER_SESSION = LINES * PLACES
# Where the lines of the notes begin.
NOTES = LINES // 2
EVERYTHING = (0, PROJECTS * SESSIONS * PER_SESSION - 1)

Range = tuple[int, int]


def of_project(project: int) -> Range:
    return project * SESSIONS * PER_SESSION, (project + 1) * SESSIONS * PER_SESSION - 1


def of_session(number: int) -> Range:
    return number * PER_SESSION, (number + 1) * PER_SESSION - 1


def of_lines(number: int, first: int = 0, last: int = NOTES) -> Range:
    """Lines of the transcript, all of them unless told otherwise."""
    return _between(number * PER_SESSION, first, last)


def of_notes(number: int, first: int = 0, last: int = NOTES) -> Range:
    """Lines of the notes."""
    return _between(number * PER_SESSION + NOTES * PLACES, first, last)


def _between(start: int, first: int, last: int) -> Range:
    first, last = min(first, NOTES), min(last, NOTES - 1)
    return start + first * PLACES, start + (last + 1) * PLACES - 1


def numbers_of(project: int) -> Range:
    """The numbers that sessions of a project can have."""
    return project * SESSIONS, (project + 1) * SESSIONS - 1


def piece(number: int, line: int, place: int) -> int:
    """Of a line with more pieces than fit, the rest is told by nothing but the line itself."""
    if line >= NOTES:
        raise StoreUnavailable(f"a transcript of more than {NOTES} lines cannot be indexed")
    return number * PER_SESSION + line * PLACES + place


def noted(number: int, line: int) -> int:
    """The id of what stands on this line of the notes."""
    return piece(number, line, 0) + NOTES * PLACES


def line_of(ident: int) -> int:
    """The line within the transcript or within the notes."""
    return ident // PLACES % NOTES


def next_number(project: int, last: int | None) -> int:
    """The number of a project's next session."""
    if project >= PROJECTS or (last is not None and last % SESSIONS == SESSIONS - 1):
        raise StoreUnavailable("the index is full", hint="`holdfast index rebuild --all` starts it")
    return project * SESSIONS if last is None else last + 1
