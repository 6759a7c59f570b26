"""Notify other servers of changes: NOTIFY after commits, LISTEN on a separate connection.

A notification has no content: its receiver reads the change feed.
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

# The schema is part of the channel: installations in two schemas of one database do not notify each
# other.
SELECT_CHANNEL = "SELECT 'holdfast_' || md5(current_schema()) AS channel"
# This transaction writes nothing, so its commit need not wait for the disk.
SEND_NOTIFICATION = (
    "SELECT set_config('synchronous_commit', 'off', true), "
    "pg_notify('holdfast_' || md5(current_schema()), '')"
)
# Notifications are sent at most this often, however many writes there are.
MIN_INTERVAL_SECONDS = 0.03
RECONNECT_SECONDS = 1.0
CLOSE_SECONDS = 5.0


class ChangeNotifier:
    """Notifies other servers: at once after a write, then once for all writes of an interval.

    Notifications are not sent in the writer's transaction, because PostgreSQL commits transactions
    that notify one after the other, and writers could no longer share one wait for the disk. If a
    process ends before it has sent a notification, other servers find the change when they next
    poll the change feed.
    """

    def __init__(self, pool: ConnectionPool[Any]) -> None:
        self._pool = pool
        self._start_lock = threading.Lock()
        self._requested, self._closing = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None

    def notify(self) -> None:
        """Request a notification. The first call starts the thread that sends them."""
        if self._requested.is_set():
            # A notification that has not been sent yet covers this change too.
            return
        self._requested.set()
        if self._thread is None:
            with self._start_lock:
                if self._thread is None and not self._closing.is_set():
                    self._thread = threading.Thread(target=self._work, name="notifier", daemon=True)
                    self._thread.start()

    def close(self) -> None:
        """Send a requested notification, if possible, and end the thread."""
        with self._start_lock:
            self._closing.set()
        if self._thread is not None:
            # The thread sends once more, because a notification may have been requested meanwhile.
            self._requested.set()
            self._thread.join(CLOSE_SECONDS)

    def _work(self) -> None:
        is_last = False
        while not is_last:
            self._requested.wait()
            is_last = self._closing.is_set()
            self._requested.clear()
            with (
                suppress(psycopg.Error, PoolClosed, PoolTimeout),
                self._pool.connection() as connection,
            ):
                connection.execute(SEND_NOTIFICATION)
            self._closing.wait(MIN_INTERVAL_SECONDS)


class ChangeListener:
    """Calls `on_change` for each notification, and whenever one may have been missed."""

    def __init__(self, arguments: dict[str, Any], on_change: Callable[[], None]) -> None:
        self._arguments = arguments
        self._on_change = on_change
        self._closing = threading.Event()
        self._wake_receiver, self._wake_sender = socket.socketpair()
        self._thread = threading.Thread(target=self._work, name="listener", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._closing.set()
        self._wake_sender.close()
        self._thread.join(CLOSE_SECONDS)

    def _work(self) -> None:
        # The thread itself closes its end: it may still be connecting when `close` returns.
        with self._wake_receiver:
            while not self._closing.is_set():
                with suppress(psycopg.Error), psycopg.connect(**self._arguments) as connection:
                    self._listen(connection)
                self._closing.wait(RECONNECT_SECONDS)

    def _listen(self, connection: psycopg.Connection[Any]) -> None:
        channel = sql.Identifier(connection.execute(SELECT_CHANNEL).fetchone()["channel"])  # type: ignore[index]
        connection.execute(sql.SQL("LISTEN {}").format(channel))
        # Changes before LISTEN were not notified.
        self._on_change()
        with selectors.DefaultSelector() as selector:
            selector.register(self._wake_receiver, selectors.EVENT_READ)
            selector.register(connection.fileno(), selectors.EVENT_READ)
            while True:
                selector.select()
                if self._closing.is_set():
                    return
                # Raises if the connection was closed.
                if list(connection.notifies(timeout=0)):
                    self._on_change()
