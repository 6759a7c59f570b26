"""Rows on their way to PostgreSQL without a thread: an event loop sends them, and does something
else until the answer is there.

This is by the driver's low-level module. Its own asynchronous connections take twice as long for
such small things, and its synchronous ones wait after each row.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.pq import ExecStatus

from holdfast.store import statements

if TYPE_CHECKING:
    from collections.abc import Iterable


class Sender:
    """One connection, for one sender at a time. After a failure it is closed."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection
        self._libpq = connection.pgconn
        self._libpq.nonblocking = 1
        self._libpq.enter_pipeline_mode()
        # Statements that the server knows, by the names that they were given.
        self._prepared: dict[str, bytes] = {}

    async def send(self, parts: Iterable[tuple[str, list[tuple[Any, ...]]]]) -> int:
        """One way over the network and back, and one transaction for all of it; how many rows were
        changed.
        """
        try:
            for statement, rows in parts:
                name = self._prepare(statement)
                for row in rows:
                    self._libpq.send_query_prepared(name, list(map(_sent, row)))
            self._libpq.pipeline_sync()
            while self._libpq.flush():
                # It may be waiting for us to read what it has said.
                await self._stirred(or_writable=True)
                self._libpq.consume_input()
            return await self._changed()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._connection.close()

    def _prepare(self, statement: str) -> bytes:
        name = self._prepared.get(statement)
        if name is None:
            name = self._prepared[statement] = b"holdfast_%d" % len(self._prepared)
            self._libpq.send_prepare(name, statements.numbered(statement).encode())
        return name

    async def _changed(self) -> int:
        changed, was_end = 0, False
        while True:
            while self._libpq.is_busy():
                await self._stirred()
                self._libpq.consume_input()
            result = self._libpq.get_result()
            if result is None:
                # Once after each statement; twice is more than can come.
                if was_end:
                    raise psycopg.OperationalError("the answer has no end")
                was_end = True
                continue
            was_end = False
            if result.status == ExecStatus.PIPELINE_SYNC:
                return changed
            if result.status != ExecStatus.COMMAND_OK:
                raise psycopg.OperationalError(ExecStatus(result.status).name)
            changed += result.command_tuples or 0

    async def _stirred(self, *, or_writable: bool = False) -> None:
        """Until there is something to read, or, if that is wanted, room to write."""
        loop, number = asyncio.get_running_loop(), self._libpq.socket
        stirred: asyncio.Future[None] = loop.create_future()

        def told() -> None:
            if not stirred.done():
                stirred.set_result(None)

        loop.add_reader(number, told)
        if or_writable:
            loop.add_writer(number, told)
        try:
            await stirred
        finally:
            loop.remove_reader(number)
            if or_writable:
                loop.remove_writer(number)


def _sent(value: Any) -> bytes | None:
    if value is None:
        return None
    if isinstance(value, str):
        text: str = statements.storable(value)
        return text.encode()
    if isinstance(value, int | float):
        return repr(value).encode()
    raise TypeError(f"{type(value).__name__} cannot be sent")
