"""Detect commits of other processes to a SQLite file by polling `PRAGMA data_version`."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from holdfast.errors import StoreUnavailable
from holdfast.store.sqlite import SQLiteDatabase

if TYPE_CHECKING:
    from collections.abc import Callable

POLL_SECONDS = 0.25
CLOSE_SECONDS = 5.0
# Its value changes whenever another connection has committed. Reading it costs almost nothing.
DATA_VERSION = "PRAGMA data_version"


class ChangeWatcher:
    """Calls `on_change` after commits of other connections, in a thread that opens and closes the
    file.
    """

    def __init__(
        self, open_database: Callable[[], SQLiteDatabase], on_change: Callable[[], None]
    ) -> None:
        self._open_database = open_database
        self._on_change = on_change
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._work, name="watch", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._closing.set()
        self._thread.join(CLOSE_SECONDS)

    def _work(self) -> None:
        while not self._closing.is_set():
            try:
                self._poll()
            except StoreUnavailable:
                # `_poll` starts with a call of `on_change`, which covers commits that were missed.
                self._closing.wait(POLL_SECONDS)

    def _poll(self) -> None:
        database = self._open_database()
        try:
            last_version = None
            while True:
                version = database.run(DATA_VERSION)[0][0]["data_version"]
                if version != last_version:
                    last_version = version
                    self._on_change()
                if self._closing.wait(POLL_SECONDS):
                    return
        finally:
            database.close()
