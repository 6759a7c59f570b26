"""Word of changes between servers: NOTIFY after commits, LISTEN on a connection of its own.

The word has no content: whoever hears it looks into the table of changes.
"""

from __future__ import annotations

import selectors
import socket
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import sql
from psycopg_pool import PoolClosed, PoolTimeout

if TYPE_CHECKING:
    from collections.abc import Callable

    from psycopg_pool import ConnectionPool

# Two Holdfasts in two schemas of one database do not wake each other.
CHANNEL = "SELECT 'holdfast_' || md5(current_schema()) AS channel"
# There is nothing to keep in it, so its commit does not wait for the disk.
SEND = (
    "SELECT set_config('synchronous_commit', 'off', true), "
    "pg_notify('holdfast_' || md5(current_schema()), '')"
)
# At most so often, however many writes there are.
PAUSE_SECONDS = 0.03
AGAIN_SECONDS = 1.0
CLOSE_SECONDS = 5.0
# A connection that only waits would not notice for hours that the other end is gone.
ALIVE = {
    "keepalives_idle": "15",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "30000",
}


class Bell:
    """Rings for other servers: at once, and then once for all that is written meanwhile.

    Not within the writer's transaction: PostgreSQL commits those that notify one after the other,
    so writers could no longer share the wait for the disk. A word that is lost with its process
    is made up for by listeners, which look now and then unasked.
    """

    def __init__(self, pool: ConnectionPool[Any]) -> None:
        self._pool = pool
        self._start = threading.Lock()
        self._rung, self._closing = threading.Event(), threading.Event()
        self._ringer: threading.Thread | None = None

    def ring(self) -> None:
        if self._rung.is_set():
            # It has yet to be sent, and is for this too. Nobody is woken for nothing.
            return
        self._rung.set()
        if self._ringer is None:
            with self._start:
                if self._ringer is None and not self._closing.is_set():
                    self._ringer = threading.Thread(target=self._work, name="bell", daemon=True)
                    self._ringer.start()

    def close(self) -> None:
        """What was rung is sent before this returns, if it can be."""
        with self._start:
            self._closing.set()
        if self._ringer is not None:
            # It sends once more than it has to: there may have been a ring.
            self._rung.set()
            self._ringer.join(CLOSE_SECONDS)

    def _work(self) -> None:
        is_last = False
        while not is_last:
            self._rung.wait()
            is_last = self._closing.is_set()
            self._rung.clear()
            with (
                suppress(psycopg.Error, PoolClosed, PoolTimeout),
                self._pool.connection() as connection,
            ):
                connection.execute(SEND)
            self._closing.wait(PAUSE_SECONDS)


class Listener:
    """Calls `heard` for words of changes, and whenever one may have been missed."""

    def __init__(self, arguments: dict[str, Any], heard: Callable[[], None]) -> None:
        self._arguments = {**ALIVE, **arguments}
        self._heard = heard
        self._closing = threading.Event()
        self._end, self._other_end = socket.socketpair()
        self._thread = threading.Thread(target=self._work, name="listener", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._closing.set()
        self._other_end.close()
        self._thread.join(CLOSE_SECONDS)
        self._end.close()

    def _work(self) -> None:
        while not self._closing.is_set():
            with suppress(psycopg.Error), psycopg.connect(**self._arguments) as connection:
                self._listen(connection)
            self._closing.wait(AGAIN_SECONDS)

    def _listen(self, connection: psycopg.Connection[Any]) -> None:
        channel = sql.Identifier(connection.execute(CHANNEL).fetchone()["channel"])  # type: ignore[index]
        connection.execute(sql.SQL("LISTEN {}").format(channel))
        # Nobody listened until now.
        self._heard()
        with selectors.DefaultSelector() as waiting:
            waiting.register(self._end, selectors.EVENT_READ)
            waiting.register(connection.fileno(), selectors.EVENT_READ)
            while True:
                waiting.select()
                if self._closing.is_set():
                    return
                # Raises if what came is the end of the connection.
                if list(connection.notifies(timeout=0)):
                    self._heard()
