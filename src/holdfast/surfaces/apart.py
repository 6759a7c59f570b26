"""Start a part of Holdfast as a process that nobody waits for.

A fresh process and no fork, because an open SQLite connection must not be taken along into one.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

PROGRAM = "import sys; sys.path.insert(0, {folder!r}); from {module} import main; main()"


def command(module: str, *words: str) -> list[str]:
    """What to run for the `main` of a module."""
    folder = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    program = PROGRAM.format(folder=folder, module=module)
    return [sys.executable, "-I", "-S", "-c", program, *words]


def start(environment: Mapping[str, str], module: str, *words: str) -> bool:
    """Start it and return at once; whether it could be started."""
    if not hasattr(os, "posix_spawn"):
        return False
    nowhere = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0) for stream in (0, 1, 2)]
    try:
        os.posix_spawn(
            sys.executable,
            command(module, *words),
            environment,
            file_actions=nowhere,
            setpgroup=0,
        )
    except (OSError, ValueError):
        return False
    return True
