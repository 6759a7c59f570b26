"""Helpers to append to a transcript and to read it."""

from __future__ import annotations

import json
from pathlib import Path

from holdfast.transcript.reader import TranscriptReader
from holdfast.transcript.types import Cursor

Numbered = list[tuple[int, bytes]]


def append(file: Path, content: bytes) -> None:
    with file.open("ab") as stream:
        stream.write(content)


def read_new_lines(
    file: Path, cursor: Cursor | None = None, *, finished: bool = False
) -> tuple[Numbered, Cursor]:
    """Return the lines after the cursor, and the new cursor as a process would store it."""
    transcript = TranscriptReader(str(file), cursor)
    lines = list(transcript.lines(finished=finished))
    return lines, json.loads(json.dumps(transcript.cursor()))
