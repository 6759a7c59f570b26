"""Ids of indexed documents. An id contains project, session, line and position within the line.

So the documents of a project, a session or a line are one range of ids. Within a session, ids of
notes are higher than ids of transcript lines.
"""

from __future__ import annotations

from holdfast.errors import StoreUnavailable

# 16 bits for the project, 15 for the session, 25 for the line, 6 for the position: 62 bits.
MAX_PROJECTS = 1 << 16
MAX_SESSIONS_PER_PROJECT = 1 << 15
MAX_LINES_PER_SESSION = 1 << 25
MAX_DOCUMENTS_PER_LINE = 1 << 6
IDS_PER_SESSION = MAX_LINES_PER_SESSION * MAX_DOCUMENTS_PER_LINE
# The upper half of a session's lines are the lines of its notes.
FIRST_NOTES_LINE = MAX_LINES_PER_SESSION // 2
ALL_IDS = (0, MAX_PROJECTS * MAX_SESSIONS_PER_PROJECT * IDS_PER_SESSION - 1)

# First and last id, both included.
IdRange = tuple[int, int]


def project_range(project: int) -> IdRange:
    """Return the ids of a project's documents."""
    size = MAX_SESSIONS_PER_PROJECT * IDS_PER_SESSION
    return project * size, (project + 1) * size - 1


def session_range(number: int) -> IdRange:
    """Return the ids of a session's documents, notes included."""
    return number * IDS_PER_SESSION, (number + 1) * IDS_PER_SESSION - 1


def transcript_range(number: int, first: int = 0, last: int = FIRST_NOTES_LINE) -> IdRange:
    """Return the ids of transcript lines `first` to `last`, by default of all lines."""
    return _line_range(number * IDS_PER_SESSION, first, last)


def notes_range(number: int, first: int = 0, last: int = FIRST_NOTES_LINE) -> IdRange:
    """Return the ids of lines `first` to `last` of the notes, by default of all lines."""
    start = number * IDS_PER_SESSION + FIRST_NOTES_LINE * MAX_DOCUMENTS_PER_LINE
    return _line_range(start, first, last)


def _line_range(start: int, first: int, last: int) -> IdRange:
    first, last = min(first, FIRST_NOTES_LINE), min(last, FIRST_NOTES_LINE - 1)
    return start + first * MAX_DOCUMENTS_PER_LINE, start + (last + 1) * MAX_DOCUMENTS_PER_LINE - 1


def session_number_range(project: int) -> IdRange:
    """Return the lowest and the highest number that a session of this project can have."""
    return project * MAX_SESSIONS_PER_PROJECT, (project + 1) * MAX_SESSIONS_PER_PROJECT - 1


def transcript_document_id(number: int, line: int, position: int) -> int:
    """Return the id of a document of a transcript line.

    Raises StoreUnavailable if the line number is too high. `position` must be below
    `MAX_DOCUMENTS_PER_LINE`.
    """
    if line >= FIRST_NOTES_LINE:
        raise StoreUnavailable(
            f"a transcript of more than {FIRST_NOTES_LINE} lines cannot be indexed"
        )
    return number * IDS_PER_SESSION + line * MAX_DOCUMENTS_PER_LINE + position


def notes_document_id(number: int, line: int) -> int:
    """Return the id of the paragraph that begins on this line of the notes."""
    return transcript_document_id(number, line, 0) + FIRST_NOTES_LINE * MAX_DOCUMENTS_PER_LINE


def line_number(document_id: int) -> int:
    """Return the line of a document in the transcript or in the notes."""
    return document_id // MAX_DOCUMENTS_PER_LINE % FIRST_NOTES_LINE


def next_session_number(project: int, last: int | None) -> int:
    """Return the number for a project's next session.

    Raises StoreUnavailable if all numbers are used.
    """
    if project >= MAX_PROJECTS or (
        last is not None and last % MAX_SESSIONS_PER_PROJECT == MAX_SESSIONS_PER_PROJECT - 1
    ):
        raise StoreUnavailable("the index is full", hint="`holdfast index rebuild --all` starts it")
    return project * MAX_SESSIONS_PER_PROJECT if last is None else last + 1
