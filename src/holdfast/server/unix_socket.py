"""A Unix socket that only the user who runs the server can connect to."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress

from holdfast.errors import InvalidInput

# With this umask, `bind` creates the socket with the mode 0600.
SOCKET_UMASK = 0o177
WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH
BACKLOG = 1024


@contextmanager
def listen(path: str) -> Iterator[socket.socket]:
    """Listen at `path` until the context ends, then remove the socket file.

    Raises `InvalidInput` if other users could replace the file, or if the path is in use.
    """
    if not hasattr(socket, "AF_UNIX"):
        raise InvalidInput("Python has no Unix sockets on this system")
    _check_folder(os.path.dirname(os.path.abspath(path)))
    _remove_stale_socket(path)
    with closing(socket.socket(socket.AF_UNIX)) as bound:
        _bind(bound, path)
        inode = os.lstat(path).st_ino
        try:
            bound.listen(BACKLOG)
            yield bound
        finally:
            with suppress(OSError):
                # Another server may have replaced the file.
                if os.lstat(path).st_ino == inode:
                    os.unlink(path)


def _check_folder(folder: str) -> None:
    try:
        status = os.stat(folder)
    except OSError as problem:
        raise InvalidInput(f"{folder} cannot be used ({problem.strerror})") from None
    if status.st_uid != os.geteuid() or status.st_mode & WRITABLE_BY_OTHERS:
        raise InvalidInput(
            f"other users can replace files in {folder}",
            hint="put the socket in a folder that belongs to you and that only you can write to",
        )


def _remove_stale_socket(path: str) -> None:
    """Remove a socket that a killed server left. Raises `InvalidInput` for any other file."""
    try:
        is_socket = stat.S_ISSOCK(os.lstat(path).st_mode)
    except FileNotFoundError:
        return
    if not is_socket:
        raise InvalidInput(f"{path} exists and is not a socket", hint="choose another path")
    with closing(socket.socket(socket.AF_UNIX)) as client:
        try:
            client.connect(path)
        except ConnectionRefusedError:
            os.unlink(path)
            return
        except OSError as problem:
            raise InvalidInput(f"{path} cannot be used ({problem.strerror})") from None
    raise InvalidInput(f"another server listens at {path}", hint="stop it, or choose another path")


def _bind(bound: socket.socket, path: str) -> None:
    previous = os.umask(SOCKET_UMASK)
    try:
        bound.bind(path)
    except OSError as problem:
        # For a path that is too long, Python's error has a text but no number.
        raise InvalidInput(f"{path} cannot be listened on ({problem})") from None
    finally:
        os.umask(previous)
