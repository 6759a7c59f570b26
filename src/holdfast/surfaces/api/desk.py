"""Where a request finds the store and the ledger: pooled, one pair for one thread at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from holdfast.actions.remembered import Remembered
from holdfast.errors import NoSuchRecord, NotAllowed, NotNow
from holdfast.ledger.ledger import Ledger
from holdfast.ledger.opening import BUSY_SECONDS, local_ledger
from holdfast.store import schema
from holdfast.store.records import Records
from holdfast.store.sqlite import SQLiteDatabase
from holdfast.store.sqlite_watch import Watch
from holdfast.surfaces.api.named import Found

if TYPE_CHECKING:
    from holdfast.index.database import Index
    from holdfast.index.team import TeamIndex
    from holdfast.settings import Settings
    from holdfast.store.postgres import Postgres

THREADS = 16
# Many connections are kept open, and the cache of each would grow to two megabytes.
CACHE = "PRAGMA cache_size = -256"


class Books(NamedTuple):
    store: Records
    ledger: Ledger


class Desk:
    """Hands out books and takes them back."""

    shown: str
    # How many threads restore. Python runs one at a time, and to take turns costs more than a read.
    readers = 1

    def __init__(self) -> None:
        self.briefs = Remembered()
        """What was restored before, from this database."""
        self.found = Found()

    def forget(self) -> None:
        """Something was deleted: whatever was there may be gone."""
        self.found.clear()

    def books(self) -> AbstractContextManager[Books]:
        raise NotImplementedError

    def trouble(self) -> Exception | None:
        """What keeps everybody from their books, if anything does."""
        try:
            with self.books() as books, books.ledger.together():
                return None
        except Exception as problem:
            return problem

    def index(self, books: Books) -> AbstractContextManager[Index | TeamIndex]:
        """What lookups search."""
        raise NotImplementedError

    def watched(self, heard: Callable[[], None]) -> AbstractContextManager[object]:
        """While it is open, `heard` is called, by any thread, when there may be changes."""
        return nullcontext()

    def close(self) -> None: ...


class LocalDesk(Desk):
    """This machine's two files; connections are kept open and used again."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self._settings = settings
        # Threads may take from its end and put back there without a lock.
        self._free: deque[Books] = deque()
        self._gate = Lock()
        self._hearing: list[Callable[[], None]] = []
        self.shown = settings.home

    @contextmanager
    def books(self) -> Iterator[Books]:
        try:
            books = self._free.pop()
        except IndexError:
            books = self._opened()
        try:
            yield books
        except (NoSuchRecord, NotAllowed, NotNow):
            # Nothing is wrong with the books.
            self._free.append(books)
            raise
        except BaseException:
            # Whatever state they are in, nobody else gets them.
            _close(books)
            raise
        self._free.append(books)

    def _opened(self) -> Books:
        store = SQLiteDatabase(self._settings.database, busy_seconds=BUSY_SECONDS, any_thread=True)
        ledger = local_ledger(self._settings.ledger, gate=self._gate, heard=self._heard)
        for database in (store, ledger.database):
            database.run(CACHE)
        # Whoever is on another machine has been told that it is written: not even a power cut may
        # take it back. Rows are committed together, so one wait for the disk is for all of them.
        ledger.database.run("PRAGMA synchronous = FULL")
        return Books(Records(store, schema.queries()), ledger)

    def _heard(self) -> None:
        for heard in tuple(self._hearing):
            heard()

    @contextmanager
    def watched(self, heard: Callable[[], None]) -> Iterator[None]:
        """What this process writes is heard at once, what others write a moment later."""
        self._hearing.append(heard)
        try:
            with closing(Watch(self._watching, heard)):
                yield
        finally:
            self._hearing.remove(heard)

    def _watching(self) -> SQLiteDatabase:
        return SQLiteDatabase(self._settings.ledger, plan=schema.LEDGER)

    def index(self, books: Books) -> AbstractContextManager[Index | TeamIndex]:
        from holdfast.index.database import Index

        return Index(self._settings.index)

    def close(self) -> None:
        while self._free:
            _close(self._free.pop())


class TeamDesk(Desk):
    """A team's PostgreSQL: the pool is the driver's."""

    # One works while the other waits for the network.
    readers = 2

    def __init__(self, url: str) -> None:
        from holdfast.store.postgres import Postgres

        super().__init__()
        self._postgres: Postgres = Postgres(url, busy_seconds=BUSY_SECONDS, most=THREADS)
        self._queries = schema.queries()
        self.shown = self._postgres.shown

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
        self._postgres.close()


def _close(books: Books) -> None:
    books.store.close()
    books.ledger.database.close()
