"""Ways in which the path of a log can be unreadable: each function prepares one."""

from __future__ import annotations

import os
from pathlib import Path


def leave_missing(file: Path) -> None:
    assert not file.exists()


def write_garbage(file: Path) -> None:
    file.write_bytes(b"\x00\xff garbage\n{\n[]\n" * 50)


def make_folder(file: Path) -> None:
    file.mkdir()


def make_pipe(file: Path) -> None:
    os.mkfifo(file)
