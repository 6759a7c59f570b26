"""The databases behind the server: this machine's two SQLite files, or a team's PostgreSQL.

A request takes a store and a ledger for as long as it runs, in a thread of its own. Connections
are pooled. Frequent writes go through the write queue.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING

from holdfast.errors import Conflict, Forbidden, NotFound
from holdfast.ledger import projects
from holdfast.ledger.connect import BUSY_SECONDS, open_local_ledger
from holdfast.ledger.messages import SESSION_PROJECTS
from holdfast.ledger.repository import Ledger
from holdfast.ledger.schema import PROJECT_PATHS, PROJECTS, SUBTASKS
from holdfast.server.write_queue import Result, WriteQueue
from holdfast.store import sqlite_migrations
from holdfast.store.repository import StoreRepository
from holdfast.store.sqlite import SQLiteDatabase
from holdfast.store.sqlite_changes import ChangeWatcher

if TYPE_CHECKING:
    from holdfast.errors import HoldfastError
    from holdfast.search.index_db import SearchIndex
    from holdfast.search.team_index import TeamIndex
    from holdfast.settings import Settings
    from holdfast.store.postgres import Postgres

FOLDER_OF_SESSION = "SELECT project AS folder FROM sessions WHERE id = :session"
# Many SQLite connections stay open, and the cache of each would grow to two megabytes.
CACHE_SIZE = "PRAGMA cache_size = -256"
# Litestar runs up to 40 handlers at a time; more connections than this only wait for each other.
MAX_POSTGRES_CONNECTIONS = 16


class Connections:
    """A ledger and a store, for one thread at a time. The store is opened when it is first used."""

    def __init__(self, ledger: Ledger, open_store: Callable[[], StoreRepository]) -> None:
        self.ledger = ledger
        self._open_store = open_store

    @cached_property
    def store(self) -> StoreRepository:
        return self._open_store()

    def close(self) -> None:
        if "store" in self.__dict__:
            self.store.close()
        self.ledger.database.close()

    def find_project(
        self, ident: str | None, session: str = "", *, subtask: str = "", folder: str = ""
    ) -> str:
        """The id of the project that is named, else that of the subtask, of the folder or of the
        session; empty if it is not known. Raises `NotFound` for a project or a subtask that
        does not exist.
        """
        above = str(self.ledger.require(SUBTASKS, subtask)["project"]) if subtask else ""
        if named := given_id(ident):
            self.ledger.require(PROJECTS, named)
            return named
        return above or self._project_of_folder(folder) or self.project_of_session(session)

    def _project_of_folder(self, folder: str) -> str:
        try:
            return str(projects.find_by_path(self.ledger, folder)["id"]) if folder else ""
        except NotFound:
            return ""

    def project_of_session(self, session: str) -> str:
        """The only project in which the session has work, agents or its folder; else empty."""
        # A token for one project must not write to another.
        if not session or self.ledger.scope_values:
            return ""
        given = {"session": session}
        found = {row["project"] for row in self.ledger.database.run(SESSION_PROJECTS, given)[0]}
        for row in self.store.database.run(FOLDER_OF_SESSION, given)[0]:
            path = self.ledger.get(PROJECT_PATHS, row["folder"])
            # A folder without a project may get one later: then the session would be ambiguous.
            found.add(path["project"] if path else "")
        return str(found.pop()) if len(found) == 1 else ""


def given_id(ident: str | None) -> str:
    """An id as callers send it; shell scripts send `null` for what jq did not find."""
    return "" if ident in (None, "null") else str(ident)


class Databases(ABC):
    """Hands out connections and runs queued writes."""

    label: str
    """What to call it in messages."""

    def __init__(self) -> None:
        self._queue = WriteQueue(self.connect)

    @abstractmethod
    def connect(self) -> AbstractContextManager[Connections]:
        """Take a store and a ledger from the pool, and return them to it at the end."""

    def write(self, work: Callable[[Connections], Result]) -> Result:
        """Run `work` in a transaction that it shares with other callers, and return its result
        once that is committed.
        """
        return self._queue.write(work)

    @abstractmethod
    def index(self, db: Connections) -> AbstractContextManager[SearchIndex | TeamIndex]:
        """The full-text index that lookups search."""

    def watch_changes(self, on_change: Callable[[], None]) -> AbstractContextManager[object]:
        """While it is open, `on_change` is called, by any thread, when there may be changes."""
        return nullcontext()

    def close(self) -> None:
        self._queue.close()


class LocalDatabases(Databases):
    """This machine's two files; connections stay open and are used again."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self._settings = settings
        # A deque needs no lock: `append` and `pop` are atomic.
        self._free: deque[Connections] = deque()
        self._listeners: list[Callable[[], None]] = []
        self._write_lock = Lock()
        self.label = settings.home

    @contextmanager
    def connect(self) -> Iterator[Connections]:
        try:
            db = self._free.pop()
        except IndexError:
            db = self._open()
        try:
            yield db
        except (NotFound, Forbidden, Conflict):
            # The request is refused; nothing is wrong with its connections.
            self._free.append(db)
            raise
        except BaseException:
            # They may be in the middle of a transaction.
            db.close()
            raise
        self._free.append(db)

    def _open(self) -> Connections:
        ledger = open_local_ledger(
            self._settings.ledger,
            any_thread=True,
            on_change=self._notify,
            write_lock=self._write_lock,
        )
        ledger.database.run(CACHE_SIZE)
        # A write that was acknowledged to another machine must survive a power cut.
        ledger.database.run("PRAGMA synchronous = FULL")
        return Connections(ledger, self._open_store)

    def _open_store(self) -> StoreRepository:
        store = SQLiteDatabase(self._settings.database, busy_seconds=BUSY_SECONDS, any_thread=True)
        store.run(CACHE_SIZE)
        return StoreRepository(store, sqlite_migrations.load_queries())

    def _notify(self) -> None:
        for listener in tuple(self._listeners):
            listener()

    @contextmanager
    def watch_changes(self, on_change: Callable[[], None]) -> Iterator[None]:
        """Writes of this process are noticed at once, those of others by a look at the file."""
        self._listeners.append(on_change)
        try:
            with closing(ChangeWatcher(self._open_ledger_file, on_change)):
                yield
        finally:
            self._listeners.remove(on_change)

    def _open_ledger_file(self) -> SQLiteDatabase:
        return SQLiteDatabase(self._settings.ledger, migrations=sqlite_migrations.LEDGER_MIGRATIONS)

    def index(self, db: Connections) -> AbstractContextManager[SearchIndex | TeamIndex]:
        from holdfast.search.index_db import SearchIndex

        return SearchIndex(self._settings.index)

    def close(self) -> None:
        super().close()
        while self._free:
            self._free.pop().close()


class TeamDatabases(Databases):
    """A team's PostgreSQL, through the driver's connection pool."""

    def __init__(self, url: str, on_connect: Callable[[], None] | None = None) -> None:
        """With `on_connect` the database may be away at first; it is called when it is there."""
        from holdfast.store.postgres import Postgres

        super().__init__()
        self._postgres: Postgres = Postgres(
            url,
            busy_seconds=BUSY_SECONDS,
            max_connections=MAX_POSTGRES_CONNECTIONS,
            on_connect=on_connect,
        )
        self._queries = sqlite_migrations.load_queries()
        self.label = self._postgres.display_url

    @property
    def connect_problem(self) -> HoldfastError | None:
        """Why there has been no connection yet; None once there was one."""
        return self._postgres.connect_problem

    @contextmanager
    def connect(self) -> Iterator[Connections]:
        from holdfast.store.postgres import PostgresDatabase

        # Closing it returns the connection to the driver's pool.
        with closing(PostgresDatabase(self._postgres, keeps_connection=True)) as database:
            yield Connections(Ledger(database), lambda: StoreRepository(database, self._queries))

    def index(self, db: Connections) -> AbstractContextManager[SearchIndex | TeamIndex]:
        from holdfast.search.team_index import TeamIndex

        return nullcontext(TeamIndex(db.store.database))

    def watch_changes(self, on_change: Callable[[], None]) -> AbstractContextManager[object]:
        return closing(self._postgres.listen(on_change))

    def close(self) -> None:
        super().close()
        self._postgres.close()
