"""Statements that are not answered at all: a server that hangs keeps no timeout of its own.

Whoever waits for one would wait for as long as the connection stands, so it is cut.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import psycopg

from holdfast.store.dsn import STATEMENT_SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterator

# The server's own limit comes first, and says what was wrong.
PATIENCE = STATEMENT_SECONDS + 5.0
LOOK_SECONDS = 1.0


class Watch:
    """Knows who waits since when; threads share one."""

    def __init__(self) -> None:
        self._waiting: dict[int, tuple[float, psycopg.Connection[Any]]] = {}
        self._cut: set[int] = set()
        self._start = threading.Lock()
        self._looking: threading.Thread | None = None
        self._closing = threading.Event()

    @contextmanager
    def over(self, connection: psycopg.Connection[Any]) -> Iterator[None]:
        """While it is asked something."""
        if self._looking is None:
            self._begin()
        me = threading.get_ident()
        self._waiting[me] = time.monotonic(), connection
        try:
            yield
        finally:
            self._waiting.pop(me, None)

    def has_cut(self) -> bool:
        """Whether what this thread asked last was not answered."""
        me = threading.get_ident()
        was = me in self._cut
        self._cut.discard(me)
        return was

    def _begin(self) -> None:
        with self._start:
            if self._looking is None:
                self._looking = threading.Thread(target=self._look, name="watch", daemon=True)
                self._looking.start()

    def _look(self) -> None:
        while not self._closing.wait(LOOK_SECONDS):
            late = time.monotonic() - PATIENCE
            for who, (since, connection) in [*self._waiting.items()]:
                if since < late:
                    self._cut.add(who)
                    _cut(connection)

    def close(self) -> None:
        self._closing.set()


def _cut(connection: psycopg.Connection[Any]) -> None:
    """Whoever waits for it finds that the other side is gone."""
    # By a second name for the same socket: closing that closes nothing.
    with (
        suppress(OSError, ValueError, psycopg.Error),
        socket.socket(fileno=os.dup(connection.fileno())) as line,
    ):
        line.shutdown(socket.SHUT_RDWR)
