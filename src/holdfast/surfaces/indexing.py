"""A process that nobody waits for: index the names of a session while its host summarises.

The hook before a compaction starts it. It is a fresh process and no fork, because an open SQLite
connection must not be taken along into one.
"""

from __future__ import annotations

import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

SECONDS = 20.0
PROGRAM = "import sys; sys.path.insert(0, {folder!r}); from {module} import main; main()"


def start(database: str, session: str, transcript: str, environment: Mapping[str, str]) -> None:
    """Start it and return at once. Where it cannot be started, the restore does the work."""
    if not hasattr(os, "posix_spawn") or not transcript:
        return
    folder = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    program = PROGRAM.format(folder=folder, module=__name__)
    nowhere = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0) for stream in (0, 1, 2)]
    try:
        os.posix_spawn(
            sys.executable,
            [sys.executable, "-I", "-S", "-c", program, database, session, transcript],
            environment,
            file_actions=nowhere,
            setpgroup=0,
        )
    except OSError:
        return


def main() -> None:
    from holdfast.actions.name_index import index_apart
    from holdfast.store.sqlite import SQLiteStore

    database, session, transcript = sys.argv[1:4]
    end = time.perf_counter() + SECONDS
    store = SQLiteStore(database)
    index_apart(store, session, transcript, lambda: time.perf_counter() > end)
    os._exit(0)
