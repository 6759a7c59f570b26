"""A process that nobody waits for: bring the index that lookups search up to date.

`Stop` starts it when enough was written since the last time, and `holdfast serve` when hooks have
saved something. One runs at a time, with low priority, and it often gives back the index's lock.
"""

from __future__ import annotations

import os
import sys
import time

from holdfast.surfaces import apart

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.settings import Settings
    from holdfast.store.base import Store

# A lookup reads twice as much in a twentieth of a second, so less is not worth a process.
ENOUGH = 512 << 10
# What is left then is left to the next one.
SECONDS = 60.0
BATCH = 1 << 20
# A lookup that waits for the lock asks for it every so often.
PAUSE = 0.05
POLITE = 10
MARK = "filled"


def is_due(store: Store, session: str, transcript: str) -> bool:
    """Whether a session has grown enough since this was last asked and found so."""
    try:
        size = os.stat(transcript).st_size
    except (OSError, ValueError):
        return False
    known = store.mark(session, MARK).get("size", 0)
    if 0 <= size - known < ENOUGH:
        return False
    store.set_mark(session, MARK, {"size": size}, clean=True)
    return True


def start(chosen: Settings, environment: Mapping[str, str]) -> None:
    """Start it and return at once. Where it cannot be started, the next lookup does the work."""
    apart.start(environment, __name__, chosen.database, chosen.index)


def main() -> None:
    from holdfast.store.sqlite import SQLiteStore

    database, index = sys.argv[1:3]
    os._exit(0 if fill(SQLiteStore(database), index) else 1)


def fill(store: Store, path: str) -> bool:
    """Read on in all transcripts, the latest first; whether there is nothing left to read."""
    from holdfast.actions.indexing import catch_up
    from holdfast.index.database import Index

    lock = _alone(f"{path}.lock")
    if lock is None:
        return True
    if hasattr(os, "nice"):
        os.nice(POLITE)
    with Index(path) as index:
        rows = store.transcripts(None)
        behind = catch_up(index, rows, time.time(), SECONDS, batch=BATCH, told=_pause)
    os.close(lock)
    return not behind


def _pause(_: int) -> None:
    time.sleep(PAUSE)


def _alone(path: str) -> int | None:
    """An open file that says that somebody is at it; nothing if somebody is already."""
    held = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        import fcntl

        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:
        # Two at once do no harm: each finds what the other has read.
        return held
    except OSError:
        os.close(held)
        return None
    return held
