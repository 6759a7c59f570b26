"""Read and write settings files of a host: byte for byte, and atomically."""

from __future__ import annotations

import contextlib
import errno
import os
import stat

from holdfast.errors import UnusableSettingsFile

HINT = "it must be a regular file that you may write, in a folder that you may write"


def read(path: str) -> str | None:
    """Return the text with every byte kept, or None if there is no file.

    Raises UnusableSettingsFile if it cannot be read.
    """
    try:
        # Opening a pipe would block for ever, and replacing a device with a file destroys it.
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise UnusableSettingsFile(f"{path} is not a regular file", hint=HINT)
        with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return None
    except OSError as problem:
        raise _unusable(path, problem) from None


def write(path: str, text: str, mode: int = 0o666) -> None:
    """Write the file atomically, through a symbolic link; raises UnusableSettingsFile.

    An existing file keeps its mode and owner.
    """
    target = os.path.realpath(path)
    temporary = f"{target}.holdfast-{os.urandom(3).hex()}"
    try:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        status = os.stat(target) if os.path.exists(target) else None
        if status and not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        # Settings can hold keys: other users must not read the copy even for a moment.
        _create(temporary, text, 0o600 if status else mode)
        if status:
            _copy_owner_and_mode(temporary, status)
        os.replace(temporary, target)
    except OSError as problem:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise _unusable(path, problem) from None


def _create(path: str, text: str, mode: int) -> None:
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0)
    with open(os.open(path, flags, mode), "wb") as file:
        file.write(text.encode("utf-8", "surrogateescape"))
        file.flush()
        os.fsync(file.fileno())


def _copy_owner_and_mode(path: str, status: os.stat_result) -> None:
    if hasattr(os, "chown"):
        with contextlib.suppress(PermissionError):
            os.chown(path, status.st_uid, status.st_gid)
    os.chmod(path, stat.S_IMODE(status.st_mode))


def delete(path: str) -> None:
    """Delete the file; a symbolic link to it stays."""
    try:
        os.unlink(os.path.realpath(path))
    except FileNotFoundError:
        return
    except OSError as problem:
        raise _unusable(path, problem) from None


def missing_folders(path: str) -> list[str]:
    """Return the folders that writing this file would create, innermost first."""
    missing = []
    folder = os.path.dirname(os.path.realpath(path))
    while not os.path.exists(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    return missing


def remove_empty(folders: list[str]) -> None:
    """Remove folders, innermost first, up to the first that is not empty."""
    with contextlib.suppress(OSError):
        for folder in folders:
            os.rmdir(folder)


def _unusable(path: str, problem: OSError) -> UnusableSettingsFile:
    return UnusableSettingsFile(f"{path} ({problem.strerror or problem})", hint=HINT)
