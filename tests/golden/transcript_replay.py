"""Replays hand-made transcripts with the checker of the file trail."""

from __future__ import annotations

from pathlib import Path

from tests.golden.file_trail import Trail, read_trail
from tests.unit.eval.transcript import Line, text_of


class TranscriptReplay:
    """Writes the lines of some steps into a file and returns the file's trail."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "session.jsonl"

    def __call__(self, *steps: list[Line], until_line: int | None = None) -> Trail:
        return self.replay_text(text_of(*steps), until_line=until_line)

    def replay_text(self, text: str, until_line: int | None = None) -> Trail:
        self.file.write_text(text, encoding="utf-8")
        return read_trail(str(self.file), until_line)
