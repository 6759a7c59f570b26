"""Read and write a file that belongs to the host: the same bytes, all of them or none."""

from __future__ import annotations

import contextlib
import errno
import os
import stat

from holdfast.errors import SettingsFileUnusable

HINT = "it must be a regular file that you may write, in a folder that you may write"


def read(path: str) -> str | None:
    """The text, with every byte kept; None if there is no file."""
    try:
        # Opening a pipe would wait for ever, and putting a file in a device's place destroys it.
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise SettingsFileUnusable(f"{path} is not a regular file", hint=HINT)
        with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return None
    except OSError as problem:
        raise _unusable(path, problem) from None


def write(path: str, text: str, mode: int = 0o666) -> None:
    """All or nothing, through a symbolic link. A file that is there keeps its mode and owner."""
    target = os.path.realpath(path)
    fresh = f"{target}.holdfast-{os.urandom(3).hex()}"
    try:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        there = os.stat(target) if os.path.exists(target) else None
        if there and not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        # Settings can hold keys: nobody else may read them, not even for a moment.
        _fill(fresh, text, 0o600 if there else mode)
        if there:
            _resemble(fresh, there)
        os.replace(fresh, target)
    except OSError as problem:
        with contextlib.suppress(OSError):
            os.unlink(fresh)
        raise _unusable(path, problem) from None


def _fill(path: str, text: str, mode: int) -> None:
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0)
    with open(os.open(path, flags, mode), "wb") as file:
        file.write(text.encode("utf-8", "surrogateescape"))
        file.flush()
        os.fsync(file.fileno())


def _resemble(path: str, there: os.stat_result) -> None:
    if hasattr(os, "chown"):
        with contextlib.suppress(PermissionError):
            os.chown(path, there.st_uid, there.st_gid)
    os.chmod(path, stat.S_IMODE(there.st_mode))


def delete(path: str) -> None:
    """Take the file away; a symbolic link that led to it stays."""
    try:
        os.unlink(os.path.realpath(path))
    except FileNotFoundError:
        return
    except OSError as problem:
        raise _unusable(path, problem) from None


def missing_folders(path: str) -> list[str]:
    """The folders that writing this file would make, innermost first."""
    found = []
    folder = os.path.dirname(os.path.realpath(path))
    while not os.path.exists(folder):
        found.append(folder)
        folder = os.path.dirname(folder)
    return found


def remove_empty(folders: list[str]) -> None:
    """Take folders away, innermost first, up to the first that holds something."""
    with contextlib.suppress(OSError):
        for folder in folders:
            os.rmdir(folder)


def _unusable(path: str, problem: OSError) -> SettingsFileUnusable:
    return SettingsFileUnusable(f"{path} ({problem.strerror or problem})", hint=HINT)
