"""Hand-made transcripts for the checker of the file trail."""

from __future__ import annotations

from pathlib import Path

from tests.golden.file_trail import Trail, trail
from tests.unit.eval.transcript import Line, text_of


class Replayed:
    """Writes steps into a file and replays it."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "session.jsonl"

    def __call__(self, *steps: list[Line], until_line: int | None = None) -> Trail:
        return self.text(text_of(*steps), until_line=until_line)

    def text(self, text: str, until_line: int | None = None) -> Trail:
        self.file.write_text(text, encoding="utf-8")
        return trail(str(self.file), until_line)
