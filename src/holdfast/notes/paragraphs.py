"""Read a notes file for the search index and split it into paragraphs, without secrets."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from holdfast.notes.document import iter_searchable_lines
from holdfast.notes.files import MAX_NOTES_BYTES
from holdfast.redaction import redact_lines
from holdfast.search.documents import MAX_TEXT_CHARS, Document
from holdfast.search.ingest import NotesContent

TIME_HEADING = "### "
# A line that begins so starts a paragraph, even without an empty line before it.
PARAGRAPH_STARTS = ("#", "- ", "* ", "+ ")
MAX_PARAGRAPH_LINES = 40


class NotesFile(NamedTuple):
    """A notes file as it was when it was read."""

    lines: list[str]
    size: int
    modified_ns: int


def read_file(path: str) -> NotesFile | None:
    """Read a notes file; return None if it does not exist or cannot be read."""
    try:
        # A symbolic link could lead anywhere, and reading a pipe would never end.
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return None
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            text = file.read(MAX_NOTES_BYTES).decode("utf-8", "replace").replace("\r\n", "\n")
    except (OSError, ValueError):
        return None
    lines = redact_lines(text.removesuffix("\n")) if text else []
    return NotesFile(lines, status.st_size, status.st_mtime_ns)


def to_indexed_notes(notes: NotesFile) -> NotesContent:
    """Return the notes in the form that the index takes."""
    return NotesContent(notes.size, notes.modified_ns, split_paragraphs(notes))


def split_paragraphs(notes: NotesFile) -> Iterator[Document]:
    """Yield each paragraph that people and agents wrote; a list item is a paragraph."""
    time = datetime.fromtimestamp(notes.modified_ns / 1e9).isoformat()
    paragraph: list[str] = []
    first = 0
    for number, line in iter_searchable_lines(notes.lines):
        heading_time = _parse_time_heading(line)
        is_next_line = number == first + len(paragraph) and len(paragraph) < MAX_PARAGRAPH_LINES
        ends = heading_time or not line.strip() or line.startswith(PARAGRAPH_STARTS)
        if paragraph and (ends or not is_next_line):
            yield _to_document(first, time, paragraph)
            paragraph = []
        time = heading_time or time
        if line.strip() and not heading_time:
            first = first if paragraph else number
            paragraph.append(line)
    if paragraph:
        yield _to_document(first, time, paragraph)


def _to_document(first: int, time: str, lines: list[str]) -> Document:
    """Return a paragraph as a document. Long lines are shortened and none is dropped, so that line
    numbers in refs stay correct.
    """
    max_line_chars = MAX_TEXT_CHARS // len(lines)
    text = "\n".join(line[:max_line_chars] for line in lines)
    return Document(first, "note", "", "", time, text)


def _parse_time_heading(line: str) -> str:
    """Return the time if this line is the heading above log entries, else ""."""
    text = line.removeprefix(TIME_HEADING).strip() if line.startswith(TIME_HEADING) else ""
    try:
        return datetime.fromisoformat(text).isoformat() if text else ""
    except ValueError:
        return ""
