"""A background process that folds the rest of a transcript that was too long for a hook."""

from __future__ import annotations

import os
import sys

from holdfast import processes
from holdfast.services import background

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.settings import Settings

NICENESS = 10


def start(settings: Settings, session: str, environ: Mapping[str, str]) -> None:
    """Start the process and return at once. If it cannot start, the next hooks fold the rest."""
    processes.start_process(environ, __name__, settings.database, session)


def main() -> None:
    """The background process: arguments are the path of the store and the id of the session."""
    from holdfast.services.sessions import refresh_session
    from holdfast.store.sqlite import SQLiteStore

    database, session = sys.argv[1:3]
    background.report_to_log(database)
    lock = processes.try_lock(f"{database}.fold.lock")
    if lock is not None:
        if hasattr(os, "nice"):
            os.nice(NICENESS)
        store = SQLiteStore(database)
        row = store.session(session)
        if row is not None:
            refresh_session(store, row)
    os._exit(0)
