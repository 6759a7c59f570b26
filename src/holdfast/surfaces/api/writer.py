"""Group commit: rows that come while the last ones are being written are written together.

Whoever waits for a row is answered after the commit that holds it, never before.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from holdfast.ledger import batch

if TYPE_CHECKING:
    from holdfast.ledger.batch import Fresh
    from holdfast.ledger.ledger import Row
    from holdfast.surfaces.api.desk import Desk

# A thousand agents may wait at once. The first of a group is answered when the last is written.
MOST = 500


class Writer:
    """One thread that commits; everybody else only waits."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._waiting: list[tuple[Fresh, asyncio.Future[Row]]] = []
        self._at_work: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(1, "writer")

    async def write(self, row: Fresh) -> Row:
        """The row as it is on disk."""
        loop = asyncio.get_running_loop()
        written: asyncio.Future[Row] = loop.create_future()
        self._waiting.append((row, written))
        if self._at_work is None:
            # It begins when all requests that have come by now are waiting.
            self._at_work = loop.create_task(self._work())
        return await written

    async def _work(self) -> None:
        try:
            while some := self._waiting[:MOST]:
                del self._waiting[:MOST]
                await self._settle(some)
        finally:
            self._at_work = None

    async def _settle(self, some: list[tuple[Fresh, asyncio.Future[Row]]]) -> None:
        loop, rows = asyncio.get_running_loop(), [row for row, _ in some]
        outcomes: list[Row | Exception]
        try:
            outcomes = await loop.run_in_executor(self._thread, self._written, rows)
        except Exception as problem:
            outcomes = [problem] * len(some)
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
        self._thread.shutdown()


def _tell(written: asyncio.Future[Row], outcome: Row | Exception) -> None:
    if written.cancelled():
        return
    if isinstance(outcome, Exception):
        written.set_exception(outcome)
    else:
        written.set_result(outcome)
