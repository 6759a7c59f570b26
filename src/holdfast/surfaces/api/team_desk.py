"""A team's ledger and store behind the server: one PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from typing import TYPE_CHECKING

from litestar.concurrency import sync_to_thread

from holdfast.ledger import batch
from holdfast.ledger.ledger import Ledger
from holdfast.ledger.opening import BUSY_SECONDS
from holdfast.store import schema
from holdfast.store.records import Records
from holdfast.surfaces.api.desk import Books, Desk
from holdfast.surfaces.api.pause import Pause

if TYPE_CHECKING:
    from holdfast.index.database import Index
    from holdfast.index.team import TeamIndex
    from holdfast.ledger.batch import Fresh
    from holdfast.store.postgres import Postgres
    from holdfast.store.postgres_sender import Sender

THREADS = 16


class TeamDesk(Desk):
    """A team's PostgreSQL: the pool is the driver's."""

    # One works while the other waits for the network.
    readers = 2

    def __init__(self, url: str) -> None:
        from holdfast.store.postgres import Postgres

        super().__init__()
        self._postgres: Postgres = Postgres(url, busy_seconds=BUSY_SECONDS, most=THREADS)
        self._queries = schema.queries()
        self._sender: Sender | None = None
        self._pause = Pause()
        self.shown = self._postgres.shown

    async def add(self, rows: list[Fresh]) -> bool:
        if self._pause.is_on:
            return False
        sender, self._sender = self._sender, None
        try:
            if sender is None:
                sender = await sync_to_thread(self._postgres.sender)
            parts = batch.sendable(rows)
            changed = await sender.send(parts)
        except BaseException:
            # Threads find out when it is back.
            self._pause.begin()
            raise
        self._sender = sender
        self._postgres.bell.ring()
        return changed == sum(len(values) for _, values in parts)

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
        if self._sender is not None:
            self._sender.close()
        self._postgres.close()
