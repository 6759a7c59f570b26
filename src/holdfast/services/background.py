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
