"""Read and write files of the user (settings of a host, CLAUDE.md): byte for byte, atomically."""

from __future__ import annotations

import contextlib
import errno
import os
import stat

from holdfast import own_files
from holdfast.errors import UnusableSettingsFile
from holdfast.services.projects import find_project

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

    An existing file keeps its mode and owner. A link may only lead to a file in the project or in
    the user's home: a cloned repository may contain links to other files.
    """
    target = os.path.realpath(path)
    _check_target(path, target)
    temporary = ""
    try:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        temporary = own_files.choose_temporary_name(target)
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


def _check_target(path: str, target: str) -> None:
    project = find_project(os.getcwd())
    home = os.path.realpath(os.path.expanduser("~"))
    if _contains(project, target) or _contains(home, target):
        return
    folder = os.path.dirname(os.path.abspath(path))
    is_link = os.path.dirname(target) != os.path.realpath(folder)
    if is_link or _contains(project, folder) or _contains(os.path.abspath("."), folder):
        detail = f"{path} leads to {target}, outside of this project and of your home folder"
        raise UnusableSettingsFile(detail, hint="replace the symbolic link by a file")


def _contains(folder: str, path: str) -> bool:
    return path == folder or path.startswith(os.path.join(folder, ""))


def _create(path: str, text: str, mode: int) -> None:
    with open(os.open(path, own_files.NEW_FILE_FLAGS, mode), "wb") as file:
        file.write(text.encode("utf-8", "surrogateescape"))
        file.flush()
        os.fsync(file.fileno())


def _copy_owner_and_mode(path: str, status: os.stat_result) -> None:
    if hasattr(os, "chown"):
        with contextlib.suppress(PermissionError):
            os.chown(path, status.st_uid, status.st_gid)
    os.chmod(path, stat.S_IMODE(status.st_mode))


def delete(path: str) -> None:
    """Delete the file; a symbolic link to it stays. Raises UnusableSettingsFile as `write`."""
    target = os.path.realpath(path)
    _check_target(path, target)
    try:
        os.unlink(target)
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
