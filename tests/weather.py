"""Folders that really cannot be written to, also for root, who is not stopped by modes."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Nothing in this folder can be changed meanwhile."""
    if os.geteuid() == 0:
        with _mounted(folder, "--bind", str(folder)):
            _mount("-o", "remount,bind,ro", str(folder))
            yield
        return
    inside = list(folder.iterdir())
    if not inside:
        pytest.skip("a mode does not stop the owner of an empty folder, who may change it back")
    modes = {path: path.stat().st_mode for path in (*inside, folder)}
    for path, mode in modes.items():
        os.chmod(path, mode & ~0o222)
    try:
        yield
    finally:
        for path, mode in reversed(modes.items()):
            os.chmod(path, mode)


@contextmanager
def small_disk(folder: Path, kilobytes: int) -> Iterator[None]:
    """This folder is a disk of that size meanwhile."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    with _mounted(folder, "-t", "tmpfs", "-o", f"size={kilobytes}k,mode=0700", "tmpfs"):
        yield


@contextmanager
def _mounted(folder: Path, *words: str) -> Iterator[None]:
    _mount(*words, str(folder))
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def _mount(*words: str) -> None:
    try:
        done = subprocess.run(["mount", *words], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no `mount` here")
    if done.returncode:
        pytest.skip(f"this root may not mount: {done.stderr.strip()}")
