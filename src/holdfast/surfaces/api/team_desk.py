"""A team's ledger and store behind the server: one PostgreSQL."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from typing import TYPE_CHECKING, TypeVar

from litestar.concurrency import sync_to_thread

from holdfast.errors import NotNow
from holdfast.ledger import batch
from holdfast.ledger.ledger import Ledger
from holdfast.ledger.opening import BUSY_SECONDS
from holdfast.store import schema
from holdfast.store.records import Records
from holdfast.surfaces.api.desk import Books, Desk
from holdfast.surfaces.api.pause import Pause

if TYPE_CHECKING:
    from holdfast.errors import HoldfastError
    from holdfast.index.database import Index
    from holdfast.index.team import TeamIndex
    from holdfast.ledger.batch import Fresh
    from holdfast.store.postgres import Postgres
    from holdfast.store.postgres_pipeline import Pipeline
    from holdfast.store.questions import Question, Rows

THREADS = 16
T = TypeVar("T")


class TeamDesk(Desk):
    """A team's PostgreSQL: the pool is the driver's."""

    # One works while the other waits for the network.
    readers = 2

    def __init__(self, url: str, came: Callable[[], None] | None = None) -> None:
        """With `came` the database need not be there yet, and it is called when it is."""
        from holdfast.store.postgres import Postgres

        super().__init__()
        self._postgres: Postgres = Postgres(url, busy_seconds=BUSY_SECONDS, most=THREADS, came=came)
        self._queries = schema.queries()
        # One for those who write, and some for those who read: nobody waits for another's answer.
        self._sender: Pipeline | None = None
        self._askers: list[Pipeline] = []
        self._pause = Pause()
        self.shown = self._postgres.shown

    @property
    def absence(self) -> HoldfastError | None:
        """Why the database has not been there yet, if it has not."""
        return self._postgres.absence

    async def add(self, rows: list[Fresh]) -> bool:
        if self._pause.is_on:
            return False
        parts = batch.sendable(rows)
        sender, self._sender = self._sender, None
        self._sender, changed = await self._by(sender, lambda one: one.send(parts))
        self._postgres.bell.ring()
        return changed == sum(len(values) for _, values in parts)

    async def ask(self, questions: list[Question]) -> list[Rows]:
        if self._pause.is_on:
            raise NotNow
        free = self._askers.pop() if self._askers else None
        asker, found = await self._by(free, lambda one: one.ask(questions))
        self._askers.append(asker)
        return found

    async def _by(
        self, pipeline: Pipeline | None, work: Callable[[Pipeline], Awaitable[T]]
    ) -> tuple[Pipeline, T]:
        """What comes of it, and the pipeline for the next time."""
        try:
            if pipeline is None:
                pipeline = await sync_to_thread(self._postgres.pipeline)
            return pipeline, await work(pipeline)
        except BaseException:
            # Threads find out when it is back.
            self._pause.begin()
            raise

    @contextmanager
    def books(self) -> Iterator[Books]:
        from holdfast.store.postgres import PostgresDatabase

        database = PostgresDatabase(self._postgres, keeps=True)
        try:
            yield Books(Records(database, self._queries), Ledger(database))
        finally:
            database.close()

    def index(self, books: Books) -> AbstractContextManager[Index | TeamIndex]:
        from holdfast.index.team import TeamIndex

        return nullcontext(TeamIndex(books.store.database))

    def watched(self, heard: Callable[[], None]) -> AbstractContextManager[object]:
        return closing(self._postgres.listen(heard))

    def close(self) -> None:
        for pipeline in filter(None, (self._sender, *self._askers)):
            pipeline.close()
        self._postgres.close()
