"""What may be in the place of a log that nobody can read."""

from __future__ import annotations

import os
from pathlib import Path


def nothing(file: Path) -> None:
    assert not file.exists()


def garbage(file: Path) -> None:
    file.write_bytes(b"\x00\xff garbage\n{\n[]\n" * 50)


def folder(file: Path) -> None:
    file.mkdir()


def pipe(file: Path) -> None:
    os.mkfifo(file)
