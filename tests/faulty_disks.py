"""Folders that cannot be written to, and disks that are full. Works for root too, by mounting."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def make_read_only(folder: Path) -> Iterator[None]:
    """Make a folder and its files read-only inside the block. Skips the test if it cannot."""
    if os.geteuid() == 0:
        # File modes do not stop root; a read-only mount does.
        with _mount_on(folder, "--bind", str(folder)):
            _run_mount("-o", "remount,bind,ro", str(folder))
            yield
        return
    files = list(folder.iterdir())
    if not files:
        pytest.skip("the owner of an empty folder can make it writable again")
    modes = {path: path.stat().st_mode for path in (*files, folder)}
    for path, mode in modes.items():
        os.chmod(path, mode & ~0o222)
    try:
        yield
    finally:
        for path, mode in reversed(modes.items()):
            os.chmod(path, mode)


@contextmanager
def mount_small_disk(folder: Path, kilobytes: int) -> Iterator[None]:
    """Mount a disk of that size on the folder inside the block. Skips the test if it cannot."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    with _mount_on(folder, "-t", "tmpfs", "-o", f"size={kilobytes}k,mode=0700", "tmpfs"):
        yield


@contextmanager
def _mount_on(folder: Path, *arguments: str) -> Iterator[None]:
    _run_mount(*arguments, str(folder))
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def _run_mount(*arguments: str) -> None:
    try:
        process = subprocess.run(["mount", *arguments], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("the program `mount` is not installed")
    if process.returncode:
        pytest.skip(f"root may not mount here: {process.stderr.strip()}")
