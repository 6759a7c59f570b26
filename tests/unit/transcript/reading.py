"""Helpers to grow a file and to read it."""

from __future__ import annotations

import json
from pathlib import Path

from holdfast.transcript.reader import TranscriptReader
from holdfast.transcript.types import Cursor

Numbered = list[tuple[int, bytes]]


def append(file: Path, content: bytes) -> None:
    with file.open("ab") as stream:
        stream.write(content)


def read_on(
    file: Path, cursor: Cursor | None = None, *, finished: bool = False
) -> tuple[Numbered, Cursor]:
    """Read what is new, as one process does, and return the lines and the stored cursor."""
    it = TranscriptReader(str(file), cursor)
    lines = list(it.lines(finished=finished))
    return lines, json.loads(json.dumps(it.cursor()))
