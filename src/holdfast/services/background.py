"""Start a module of Holdfast as a background process.

It is spawned and not forked, because an open SQLite connection must not be used after a fork.
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
    folder = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    program = PROGRAM.format(folder=folder, module=module)
    return [sys.executable, "-I", "-S", "-c", program, *words]


def report_to_log(database: str) -> None:
    """Send reports about a database that is set aside to the log, because stderr is closed."""
    from holdfast import diagnostics
    from holdfast.store import sqlite_migrations

    path = os.path.join(os.path.dirname(database), "holdfast.log")
    sqlite_migrations.report = lambda message: diagnostics.log(path, message, os.environ)


def start_process(environment: Mapping[str, str], module: str, *words: str) -> bool:
    """Start `main` of a module and return at once; False if it could not be started."""
    if not hasattr(os, "posix_spawn"):
        return False
    null_streams = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0) for stream in (0, 1, 2)]
    try:
        os.posix_spawn(
            sys.executable,
            build_command(module, *words),
            environment,
            file_actions=null_streams,
            setpgroup=0,
        )
    except (OSError, ValueError):
        return False
    return True


def try_lock(path: str) -> int | None:
    """Return the descriptor of a locked file, or None if another process holds the lock."""
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:
        # No fcntl on Windows. Two processes at once do no harm, they repeat work.
        return descriptor
    except OSError:
        os.close(descriptor)
        return None
    return descriptor
