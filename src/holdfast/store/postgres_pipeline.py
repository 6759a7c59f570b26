"""Rows and questions on their way to PostgreSQL without a thread: an event loop sends them, and
does something else until the answer is there.

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
    from collections.abc import Callable, Iterable

    from psycopg.pq.abc import PGresult

    from holdfast.store.questions import Question, Rows

# By the numbers that PostgreSQL gives its types: whole numbers, fractions and text are all that is
# stored here. Whoever is told anything else fails, and a thread asks again.
READ: dict[int, Callable[[bytes], Any]] = {20: int, 23: int, 25: bytes.decode, 701: float}


# Whoever has waited for so long is better off with a thread, which finds out what is wrong.
PATIENCE = 10.0


class Pipeline:
    """One connection, for one caller at a time. After a failure it is closed."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection
        self._libpq = connection.pgconn
        self._libpq.nonblocking = 1
        self._libpq.enter_pipeline_mode()
        # Statements that the server knows, by the names that they were given.
        self._prepared: dict[str, bytes] = {}
        # Where it is told that something has come, and who waits for that.
        self._listens_in: asyncio.AbstractEventLoop | None = None
        self._stir: asyncio.Future[None] | None = None

    async def send(self, parts: Iterable[tuple[str, list[tuple[Any, ...]]]]) -> int:
        """One way over the network and back, and one transaction for all of it; how many rows were
        changed.
        """
        try:
            for statement, rows in parts:
                name = self._prepare(statement)
                for row in rows:
                    self._libpq.send_query_prepared(name, list(map(_sent, row)))
            async with asyncio.timeout(PATIENCE):
                return sum(result.command_tuples or 0 for result in await self._results())
        except BaseException:
            self.close()
            raise

    async def ask(self, questions: Iterable[Question]) -> list[Rows]:
        """One way over the network and back for all of them; the rows that answer each."""
        try:
            for question in questions:
                name = self._prepare(question.statement)
                names = statements.numbered(question.statement)[1]
                values = [_sent(question.values[one]) for one in names]
                self._libpq.send_query_prepared(name, values)
            async with asyncio.timeout(PATIENCE):
                results = await self._results()
            return [_rows(one) for one in results if one.status == ExecStatus.TUPLES_OK]
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        if not self._connection.closed:
            self._listen_no_more()
        self._connection.close()

    def _prepare(self, statement: str) -> bytes:
        name = self._prepared.get(statement)
        if name is None:
            name = self._prepared[statement] = b"holdfast_%d" % len(self._prepared)
            self._libpq.send_prepare(name, statements.numbered(statement)[0].encode())
        return name

    async def _results(self) -> list[PGresult]:
        """What comes of all that was sent."""
        self._libpq.pipeline_sync()
        while self._libpq.flush():
            # It may be waiting for us to read what it has said.
            await self._stirred(or_writable=True)
            self._libpq.consume_input()
        results: list[PGresult] = []
        was_end = False
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
                return results
            if result.status not in (ExecStatus.COMMAND_OK, ExecStatus.TUPLES_OK):
                raise psycopg.OperationalError(ExecStatus(result.status).name)
            results.append(result)

    async def _stirred(self, *, or_writable: bool = False) -> None:
        """Until there is something to read, or, if that is wanted, room to write."""
        loop, number = asyncio.get_running_loop(), self._libpq.socket
        self._stir = loop.create_future()
        if self._listens_in is not loop:
            loop.add_reader(number, self._told)
            self._listens_in = loop
        if or_writable:
            loop.add_writer(number, self._told)
        try:
            await self._stir
        finally:
            self._stir = None
            if or_writable:
                loop.remove_writer(number)

    def _told(self) -> None:
        if self._stir is None:
            # Nobody has asked anything: it has been closed. Who asks next finds out.
            self._listen_no_more()
        elif not self._stir.done():
            self._stir.set_result(None)

    def _listen_no_more(self) -> None:
        loop, self._listens_in = self._listens_in, None
        if loop is not None and not loop.is_closed():
            loop.remove_reader(self._libpq.socket)


def _sent(value: Any) -> bytes | None:
    if value is None:
        return None
    if isinstance(value, str):
        text: str = statements.storable(value)
        return text.encode()
    if isinstance(value, int | float):
        return repr(value).encode()
    raise TypeError(f"{type(value).__name__} cannot be sent")


def _rows(result: PGresult) -> Rows:
    columns = [
        (number, (result.fname(number) or b"").decode(), READ[result.ftype(number)])
        for number in range(result.nfields)
    ]
    value = result.get_value
    return [
        {
            name: None if (given := value(row, number)) is None else read(given)
            for number, name, read in columns
        }
        for row in range(result.ntuples)
    ]
