"""What other processes write to a SQLite file, noticed by a look that reads none of it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from holdfast.errors import StoreUnavailable
from holdfast.store.sqlite import SQLiteDatabase

if TYPE_CHECKING:
    from collections.abc import Callable

SECONDS = 0.25
CLOSE_SECONDS = 5.0
# A number that is another one whenever another connection has committed.
LOOK = "PRAGMA data_version"


class Watch:
    """Calls `heard` when somebody else has committed; the file is opened and closed by a thread."""

    def __init__(self, opened: Callable[[], SQLiteDatabase], heard: Callable[[], None]) -> None:
        self._opened = opened
        self._heard = heard
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._work, name="watch", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._closing.set()
        self._thread.join(CLOSE_SECONDS)

    def _work(self) -> None:
        while not self._closing.is_set():
            try:
                self._look()
            except StoreUnavailable:
                # What it missed meanwhile is told when it can be opened again.
                self._closing.wait(SECONDS)

    def _look(self) -> None:
        database = self._opened()
        try:
            seen = None
            while True:
                now = database.run(LOOK)[0][0]["data_version"]
                if now != seen:
                    seen = now
                    self._heard()
                if self._closing.wait(SECONDS):
                    return
        finally:
            database.close()
