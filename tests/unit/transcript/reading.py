"""Files that grow, and what a reader gives of them."""

from __future__ import annotations

import json
from pathlib import Path

from holdfast.transcript.model import Cursor
from holdfast.transcript.reader import Reader

Numbered = list[tuple[int, bytes]]


def append(file: Path, content: bytes) -> None:
    with file.open("ab") as stream:
        stream.write(content)


def read_on(
    file: Path, cursor: Cursor | None = None, *, finished: bool = False
) -> tuple[Numbered, Cursor]:
    """One process: it reads what is new and leaves a cursor, which is stored as JSON."""
    it = Reader(str(file), cursor)
    lines = list(it.lines(finished=finished))
    return lines, json.loads(json.dumps(it.cursor()))
