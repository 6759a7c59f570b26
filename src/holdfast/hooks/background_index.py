"""A background process that brings the search index up to date, so that lookups need not.

A `Stop` hook starts it when enough was written since the last time, and `holdfast serve` starts it
when hooks have saved something. Only one runs at a time, at low priority, and it pauses between
batches so that a lookup can take the index's lock.
"""

from __future__ import annotations

import os
import sys
import time

from holdfast import processes
from holdfast.services import background

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.settings import Settings
    from holdfast.store.protocols import Store

# A lookup reads twice as much by itself in 50 ms, so less is not worth a process.
MIN_NEW_BYTES = 512 << 10
# After this time the process ends, and the next one continues.
TIME_LIMIT_SECONDS = 60.0
BATCH_BYTES = 1 << 20
# A lookup that waits for the lock retries at short intervals; the pause lets it in.
PAUSE_SECONDS = 0.05
NICENESS = 10
MARK = "filled"


def claim_refresh(store: Store, session_id: str, transcript_path: str) -> bool:
    """Return whether enough was written since this last returned True.

    If so, the size of the transcript is recorded, and the caller starts the process.
    """
    try:
        size = os.stat(transcript_path).st_size
    except (OSError, ValueError):
        return False
    indexed_size = store.get_mark(session_id, MARK).get("size", 0)
    if 0 <= size - indexed_size < MIN_NEW_BYTES:
        return False
    store.set_mark(session_id, MARK, {"size": size}, is_redacted=True)
    return True


def start(settings: Settings, environ: Mapping[str, str]) -> None:
    """Start the process and return at once. If it cannot start, the next lookup does the work."""
    processes.start_process(environ, __name__, settings.database, settings.index)


def main() -> None:
    """The background process: arguments are the paths of the store and of the index."""
    from holdfast.store.sqlite import SQLiteStore

    database, index_path = sys.argv[1:3]
    background.report_to_log(database)
    os._exit(0 if refresh_index(SQLiteStore(database), index_path) else 1)


def refresh_index(store: Store, index_path: str) -> bool:
    """Index what is new in all transcripts, latest session first.

    Returns False if the time limit came first. Returns True at once if another process is doing it.
    """
    from holdfast.search.index_db import SearchIndex
    from holdfast.services.recall import index_refresh

    lock = processes.try_lock(f"{index_path}.lock")
    if lock is None:
        return True
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    with SearchIndex(index_path) as index:
        rows = store.transcripts(None)
        unfinished = index_refresh.refresh_index(
            index, rows, time.time(), TIME_LIMIT_SECONDS, batch=BATCH_BYTES, on_batch=_pause
        )
    os.close(lock)
    return not unfinished


def _pause(_: int) -> None:
    time.sleep(PAUSE_SECONDS)
