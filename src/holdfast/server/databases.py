"""The databases of the server: this machine's two SQLite files, or a team's PostgreSQL.

Each request runs in a thread and takes a store and a ledger from a pool until it ends. Frequent
writes go through the write queue.
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
from holdfast.services.conversations import open_conversations
from holdfast.store import sqlite_migrations
from holdfast.store.repository import StoreRepository
from holdfast.store.sqlite import SQLiteDatabase
from holdfast.store.sqlite_changes import ChangeWatcher

if TYPE_CHECKING:
    from holdfast.conversations.store import ConversationStore
    from holdfast.errors import HoldfastError
    from holdfast.search.index_db import SearchIndex
    from holdfast.search.team_index import TeamIndex
    from holdfast.settings import Settings
    from holdfast.store.postgres import Postgres

SELECT_SESSION_FOLDER = "SELECT project AS folder FROM sessions WHERE id = :session"
# Limits the cache of a SQLite connection to 256 KiB (the default is 2 MB), because many stay open.
SET_CACHE_SIZE = "PRAGMA cache_size = -256"
# Litestar runs up to 40 handlers at a time, but more connections than this bring no more speed.
MAX_POSTGRES_CONNECTIONS = 16


class Connections:
    """A ledger and a store, for one thread at a time. The store is opened when it is first used."""

    def __init__(
        self,
        ledger: Ledger,
        open_store: Callable[[], StoreRepository],
        *,
        is_one_database: bool = False,
    ) -> None:
        """`is_one_database` says that the ledger's database has the store's tables too."""
        self.ledger = ledger
        self._open_store = open_store
        self._is_one_database = is_one_database

    @cached_property
    def store(self) -> StoreRepository:
        return self._open_store()

    @property
    def is_replaced(self) -> bool:
        """Whether a damaged file was replaced since it was opened. PostgreSQL has no files."""
        opened = [self.ledger.database]
        if "store" in self.__dict__:
            opened.append(self.store.database)
        return any(getattr(database, "is_replaced", False) for database in opened)

    def close(self) -> None:
        if "store" in self.__dict__:
            self.store.close()
        self.ledger.database.close()

    def find_project(
        self, ident: str | None, session: str = "", *, subtask: str = "", folder: str = ""
    ) -> str:
        """Return the project with the id `ident` if one is given, else the project of the subtask,
        the folder or the session; "" if none is known.

        Raises `NotFound` if the given project or subtask does not exist.
        """
        subtask_project = str(self.ledger.require(SUBTASKS, subtask)["project"]) if subtask else ""
        if named := normalize_id(ident):
            self.ledger.require(PROJECTS, named)
            return named
        return (
            subtask_project
            or self._find_folder_project(folder)
            or self.find_session_project(session)
        )

    def _find_folder_project(self, folder: str) -> str:
        try:
            return str(projects.find_by_path(self.ledger, folder)["id"]) if folder else ""
        except NotFound:
            return ""

    def find_session_project(self, session: str) -> str:
        """Return the project in which the session has work, agents or its folder; "" if there is
        none or more than one.
        """
        # With a token for one project, the project is that of the token.
        if not session or self.ledger.scope_values:
            return ""
        given = {"session": session}
        found = {row["project"] for row in self.ledger.database.run(SESSION_PROJECTS, given)[0]}
        database = self.ledger.database if self._is_one_database else self.store.database
        for row in database.run(SELECT_SESSION_FOLDER, given)[0]:
            path = self.ledger.get(PROJECT_PATHS, row["folder"])
            # A folder without a project may get one later, so "" counts as a project here.
            found.add(path["project"] if path else "")
        return str(found.pop()) if len(found) == 1 else ""


def normalize_id(ident: str | None) -> str:
    """Return an id from a caller, "" if it is missing. Shell scripts send the word `null` for a
    value that jq did not find.
    """
    return "" if ident in (None, "null") else str(ident)


class Databases(ABC):
    """Provides connections, and runs writes through a queue."""

    label: str
    """How messages name the database: its folder or its address."""

    def __init__(self) -> None:
        self._queue = WriteQueue(self.connect)

    @abstractmethod
    def connect(self) -> AbstractContextManager[Connections]:
        """Take a store and a ledger from the pool; they go back to it when the context ends."""

    def write(self, work: Callable[[Connections], Result]) -> Result:
        """Call `work` in a transaction that it shares with other writes; return its result after
        the commit. Raises what `work` raises.
        """
        return self._queue.write(work)

    @abstractmethod
    def open_index(self, db: Connections) -> AbstractContextManager[SearchIndex | TeamIndex]:
        """Open the full-text index that lookups search."""

    def open_conversations(self) -> AbstractContextManager[ConversationStore]:
        """Open the conversations of SessionManager. Raises NotFound if the server has none."""
        raise NotFound(
            "A team's server has no conversations",
            hint="they stay on the machine of their agent: run `holdfast serve` there",
        )

    def watch_changes(self, on_change: Callable[[], None]) -> AbstractContextManager[object]:
        """Return a context manager. While it is open, `on_change` is called, from any thread,
        whenever there may be new changes.
        """
        return nullcontext()

    def watch_sessions(self, on_change: Callable[[], None]) -> AbstractContextManager[object]:
        """Like `watch_changes`, for the sessions that hooks write."""
        return nullcontext()

    def close(self) -> None:
        self._queue.close()


class LocalDatabases(Databases):
    """The two SQLite files of this machine. Connections stay open and are reused."""

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
        db = self._take_free() or self._open()
        try:
            yield db
        except (NotFound, Forbidden, Conflict):
            # The request was refused, but its connections can be reused.
            self._free.append(db)
            raise
        except BaseException:
            # A transaction may still be open.
            db.close()
            raise
        self._free.append(db)

    def _take_free(self) -> Connections | None:
        """Return open connections to the files that are there now, or None."""
        while self._free:
            try:
                db = self._free.pop()
            except IndexError:
                return None
            if not db.is_replaced:
                return db
            db.close()
        return None

    def _open(self) -> Connections:
        ledger = open_local_ledger(
            self._settings.ledger,
            any_thread=True,
            on_change=self._notify,
            write_lock=self._write_lock,
        )
        ledger.database.run(SET_CACHE_SIZE)
        # A write that was acknowledged to a client must survive a power cut.
        ledger.database.run("PRAGMA synchronous = FULL")
        return Connections(ledger, self._open_store)

    def _open_store(self) -> StoreRepository:
        store = SQLiteDatabase(self._settings.database, busy_seconds=BUSY_SECONDS, any_thread=True)
        store.run(SET_CACHE_SIZE)
        return StoreRepository(store, sqlite_migrations.load_queries())

    def _notify(self) -> None:
        for listener in tuple(self._listeners):
            listener()

    @contextmanager
    def watch_changes(self, on_change: Callable[[], None]) -> Iterator[None]:
        """Call `on_change` after each commit of this process, and soon after those of others, which
        are found by polling the file.
        """
        self._listeners.append(on_change)
        try:
            with closing(ChangeWatcher(self._open_ledger_file, on_change)):
                yield
        finally:
            self._listeners.remove(on_change)

    def watch_sessions(self, on_change: Callable[[], None]) -> AbstractContextManager[object]:
        return closing(ChangeWatcher(self._open_store_file, on_change))

    def _open_store_file(self) -> SQLiteDatabase:
        return SQLiteDatabase(self._settings.database)

    def _open_ledger_file(self) -> SQLiteDatabase:
        return SQLiteDatabase(self._settings.ledger, migrations=sqlite_migrations.LEDGER_MIGRATIONS)

    def open_index(self, db: Connections) -> AbstractContextManager[SearchIndex | TeamIndex]:
        from holdfast.search.index_db import SearchIndex

        return SearchIndex(self._settings.index)

    def open_conversations(self) -> AbstractContextManager[ConversationStore]:
        return open_conversations(self._settings.database)

    def close(self) -> None:
        super().close()
        while self._free:
            self._free.pop().close()


class TeamDatabases(Databases):
    """A team's PostgreSQL, through the driver's connection pool."""

    def __init__(self, url: str, on_connect: Callable[[], None] | None = None) -> None:
        """With `on_connect`, the database need not be reachable yet; `on_connect` is called when
        the first connection succeeds.
        """
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
        """Why no connection was possible so far; None after the first connection."""
        return self._postgres.connect_problem

    @contextmanager
    def connect(self) -> Iterator[Connections]:
        from holdfast.store.postgres import PostgresDatabase

        # Closing it returns the connection to the driver's pool.
        with closing(PostgresDatabase(self._postgres, keeps_connection=True)) as database:
            yield Connections(
                Ledger(database),
                lambda: StoreRepository(database, self._queries),
                is_one_database=True,
            )

    def open_index(self, db: Connections) -> AbstractContextManager[SearchIndex | TeamIndex]:
        from holdfast.search.team_index import TeamIndex

        return nullcontext(TeamIndex(db.store.database))

    def watch_changes(self, on_change: Callable[[], None]) -> AbstractContextManager[object]:
        return closing(self._postgres.listen(on_change))

    def close(self) -> None:
        super().close()
        self._postgres.close()
