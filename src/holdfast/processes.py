"""Start a module of Holdfast as a background process, and locks between processes.

A process is spawned and not forked, because an open SQLite connection must not be used after a
fork.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

PROGRAM = "import sys; sys.path.insert(0, {folder!r}); from {module} import main; main()"


def build_command(module: str, *words: str) -> list[str]:
    """Return the command line that calls `main` of a module."""
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    program = PROGRAM.format(folder=folder, module=module)
    return [sys.executable, "-I", "-S", "-c", program, *words]


def start_process(environment: Mapping[str, str], module: str, *words: str) -> int:
    """Start `main` of a module and return its process id; 0 if it could not be started."""
    if not hasattr(os, "posix_spawn"):
        return 0
    null_streams = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0) for stream in (0, 1, 2)]
    try:
        return os.posix_spawn(
            sys.executable,
            build_command(module, *words),
            environment,
            file_actions=null_streams,
            setpgroup=0,
        )
    except (OSError, ValueError):
        return 0


def try_lock(path: str, *, wait: bool = False) -> int | None:
    """Return the descriptor of a locked file, or None if another process holds the lock.

    With `wait`, waits until it is free. Raises OSError if the file cannot be created.
    """
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except ImportError:
        # No fcntl on Windows. Two processes at once do no harm, they repeat work.
        return descriptor
    except OSError:
        os.close(descriptor)
        return None
    return descriptor
