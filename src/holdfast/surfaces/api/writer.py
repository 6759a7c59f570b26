"""Group commit: rows that come while the last ones are being written are written together.

Whoever waits for a row is answered after the commit that holds it, never before.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING

from holdfast.errors import ServerBusy
from holdfast.ledger import batch

if TYPE_CHECKING:
    from holdfast.ledger.batch import Fresh
    from holdfast.ledger.ledger import Row
    from holdfast.surfaces.api.desk import Desk

    Group = list[tuple[Fresh, asyncio.Future[Row]]]

# A thousand agents may wait at once. The first of a group is answered when the last is written.
MOST = 500


class Writer:
    """One thread that commits; everybody else only waits."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._waiting: Group = []
        self._at_work = False
        self._groups: SimpleQueue[Group | None] = SimpleQueue()
        self._thread: Thread | None = None
        self._closed = False

    async def write(self, row: Fresh) -> Row:
        """The row as it is on disk."""
        if self._closed:
            raise ServerBusy("it is about to stop")
        loop = asyncio.get_running_loop()
        if self._thread is None:
            self._thread = Thread(target=self._work, args=(loop,), name="writer", daemon=True)
            self._thread.start()
        written: asyncio.Future[Row] = loop.create_future()
        self._waiting.append((row, written))
        if not self._at_work:
            self._at_work = True
            # It begins when all requests that have come by now are waiting.
            loop.call_soon(self._next)
        return await written

    def _next(self) -> None:
        some = self._waiting[:MOST]
        del self._waiting[:MOST]
        self._at_work = bool(some)
        if some:
            self._groups.put(some)

    def _work(self, loop: asyncio.AbstractEventLoop) -> None:
        """The thread's own. An executor would do, but costs as much again as a small commit."""
        while some := self._groups.get():
            outcomes: list[Row | Exception]
            try:
                outcomes = self._written([row for row, _ in some])
            except Exception as problem:
                outcomes = [problem] * len(some)
            # Whoever waited is gone with the loop.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(self._settle, some, outcomes)

    def _settle(self, some: Group, outcomes: list[Row | Exception]) -> None:
        self._next()
        for (_, written), outcome in zip(some, outcomes, strict=True):
            _tell(written, outcome)

    def _written(self, rows: list[Fresh]) -> list[Row | Exception]:
        try:
            with self._desk.books() as books:
                if batch.add_all(books.ledger, rows):
                    return [row.stored for row in rows]
        except Exception:
            if down := self._down():
                return [down] * len(rows)
        # One of them is known already, or cannot be written; the others have nothing to do with it.
        return list(map(self._alone, rows))

    def _down(self) -> Exception | None:
        """What keeps everybody from writing, if anything does."""
        try:
            with self._desk.books() as books, books.ledger.together():
                return None
        except Exception as problem:
            return problem

    def _alone(self, row: Fresh) -> Row | Exception:
        try:
            with self._desk.books() as books:
                return row.table.encoded(row.alone(books.ledger))
        except Exception as problem:
            return problem

    def close(self) -> None:
        self._closed = True
        self._groups.put(None)
        if self._thread is not None:
            self._thread.join()


def _tell(written: asyncio.Future[Row], outcome: Row | Exception) -> None:
    if written.cancelled():
        return
    if isinstance(outcome, Exception):
        written.set_exception(outcome)
    else:
        written.set_result(outcome)
