"""This machine's ledger and store behind the server: two SQLite files."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from typing import TYPE_CHECKING

from holdfast.errors import NoSuchRecord, NotAllowed, NotNow
from holdfast.ledger import batch
from holdfast.ledger.opening import BUSY_SECONDS, local_ledger
from holdfast.store import schema
from holdfast.store.records import Records
from holdfast.store.sqlite import SQLiteDatabase
from holdfast.store.sqlite_watch import Watch
from holdfast.surfaces.api.desk import Books, Desk
from holdfast.surfaces.api.gate import Gate, Impatient
from holdfast.surfaces.api.pause import Pause

if TYPE_CHECKING:
    from holdfast.index.database import Index
    from holdfast.index.team import TeamIndex
    from holdfast.ledger.batch import Fresh
    from holdfast.ledger.ledger import Ledger
    from holdfast.settings import Settings
    from holdfast.store.questions import Question, Rows

# Many connections are kept open, and the cache of each would grow to two megabytes.
CACHE = "PRAGMA cache_size = -256"
# How long the event loop waits for another writer: about as long as its commit takes.
GLIMPSE = 0.001


class LocalDesk(Desk):
    """This machine's two files; connections are kept open and used again."""

    def __init__(self, settings: Settings, gate: Gate | None = None) -> None:
        """Workers of one server share the gate."""
        super().__init__()
        self._settings = settings
        # Threads may take from its end and put back there without a lock.
        self._free: deque[Books] = deque()
        self._gate = gate or Gate()
        # Whoever comes first makes the file, or brings it up to date, which may take long.
        self._is_made = False
        self._impatient: Ledger | None = None
        self._pause = Pause()
        self._reading = Pause()
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

    async def ask(self, questions: list[Question]) -> list[Rows]:
        if self._reading.is_on or not self._is_made:
            raise NotNow
        began = time.monotonic()
        with self.books() as books:
            of = {True: books.ledger.database, False: books.store.database}
            found = [of[one.is_ledgers].run(one.statement, one.values)[0] for one in questions]
        self._reading.judge(time.monotonic() - began)
        return found

    async def add(self, rows: list[Fresh]) -> bool:
        if self._pause.is_on or not self._is_made:
            return False
        began = time.monotonic()
        ledger, self._impatient = self._impatient, None
        if ledger is None:
            ledger = self._ledger(Impatient(self._gate, GLIMPSE), busy_seconds=GLIMPSE)
        try:
            added = batch.add_all(ledger, rows)
        except BlockingIOError:
            # It was not even begun.
            added = False
        except BaseException:
            self._pause.begin()
            ledger.database.close()
            raise
        self._impatient = ledger
        # Now and then one copies the log into the file, which takes longer.
        self._pause.judge(time.monotonic() - began)
        return added

    def _opened(self) -> Books:
        store = SQLiteDatabase(self._settings.database, busy_seconds=BUSY_SECONDS, any_thread=True)
        store.run(CACHE)
        ledger = self._ledger(self._gate, BUSY_SECONDS)
        self._is_made = True
        return Books(Records(store, schema.queries()), ledger)

    def _ledger(self, gate: Gate | Impatient, busy_seconds: float) -> Ledger:
        ledger = local_ledger(
            self._settings.ledger, gate=gate, busy_seconds=busy_seconds, heard=self._heard
        )
        ledger.database.run(CACHE)
        # Whoever is on another machine has been told that it is written: not even a power cut may
        # take it back. Rows are committed together, so one wait for the disk is for all of them.
        ledger.database.run("PRAGMA synchronous = FULL")
        return ledger

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
        if self._impatient is not None:
            self._impatient.database.close()


def _close(books: Books) -> None:
    books.store.close()
    books.ledger.database.close()
