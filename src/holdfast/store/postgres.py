"""The store of a team: PostgreSQL by its address, with pooled connections that come back."""

from __future__ import annotations

import logging
import select
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from holdfast.errors import NoConnection, StoreUnavailable
from holdfast.store import dsn, schema, statements
from holdfast.store.records import Records

try:
    import psycopg
    from psycopg.rows import dict_row
    from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

    from holdfast.store import postgres_schema
    from holdfast.store.postgres_bell import ALIVE, Bell, Listener
    from holdfast.store.postgres_opening import Opening, passes
    from holdfast.store.postgres_pipeline import Pipeline
    from holdfast.store.postgres_watch import Watch
except ImportError as missing:
    raise StoreUnavailable(
        f"PostgreSQL needs a package that is not installed ({missing.name})",
        hint="pip install 'holdfast[team]'",
    ) from None

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.errors import HoldfastError

Connection = psycopg.Connection[dict[str, Any]]
# What goes wrong with a connection is told once, by us, where it matters.
logging.getLogger("psycopg.pool").addHandler(logging.NullHandler())
logging.getLogger("psycopg.pool").propagate = False


class Postgres:
    """One database, migrated, and its pool of connections; threads share it."""

    def __init__(
        self,
        url: str,
        *,
        busy_seconds: float = 5.0,
        most: int = 4,
        came: Callable[[], None] | None = None,
    ) -> None:
        """With `came` it need not be there yet: whoever asks finds out, and it is called then."""
        self.parts = dsn.parts_of(url)
        self.shown = dsn.shown(self.parts)
        kwargs = {**dsn.completed(self.parts, busy_seconds), "autocommit": True}
        kwargs["row_factory"] = dict_row
        self._arguments: dict[str, Any] = kwargs
        self.watch = Watch()
        self.pool: ConnectionPool[Connection] = ConnectionPool(
            connection_class=psycopg.Connection[dict[str, Any]],
            kwargs=kwargs,
            min_size=1,
            max_size=most,
            timeout=dsn.CONNECT_SECONDS,
            # Attempts come ever later after each other, for minutes if they may, and nobody else
            # tries meanwhile. Given up, the next who asks begins anew.
            reconnect_timeout=dsn.CONNECT_SECONDS,
            # A restarted server leaves dead connections: they are replaced, not handed out.
            check=_checked,
            name="holdfast",
            # Nobody works with tables of another version.
            open=False,
        )
        self.bell = Bell(self.pool)
        self._opening = Opening(self._open, came)

    def _open(self) -> None:
        try:
            with psycopg.connect(**self._arguments) as connection:
                postgres_schema.migrate(connection, self.shown)
        except psycopg.Error as problem:
            kind = NoConnection if passes(problem) else StoreUnavailable
            raise kind(self._told(problem)) from None
        self.pool.open()

    @property
    def absence(self) -> HoldfastError | None:
        """Why it has not been there yet, if it has not."""
        return self._opening.problem

    def close(self) -> None:
        self.watch.close()
        self.bell.close()
        self.pool.close()

    def listen(self, heard: Callable[[], None]) -> Listener:
        """Have `heard` called, by a thread of its own, when anybody has written a change."""
        return Listener(self._arguments, heard)

    def pipeline(self) -> Pipeline:
        """A connection of its own for an event loop."""
        self._opening.need()
        return Pipeline(psycopg.connect(**{**ALIVE, **self._arguments}))

    def explained(self, work: Callable[[], Any]) -> Any:
        """Do it; what the driver has to say about it is told in our words, without secrets."""
        self._opening.need()
        try:
            return work()
        except (PoolTimeout, PoolClosed):
            raise NoConnection(f"{self.shown} (no connection could be had)") from None
        except psycopg.Error as problem:
            if self.watch.has_cut():
                raise NoConnection(f"{self.shown} (it does not answer)") from None
            raise StoreUnavailable(self._told(problem)) from None

    def _told(self, problem: psycopg.Error) -> str:
        told = problem.diag.message_primary or str(problem) or type(problem).__name__
        return f"{self.shown} ({dsn.without_secrets(told, self.parts)})"


class PostgresDatabase:
    """See `holdfast.store.base.Database`. Holds a connection only while a transaction is open,
    or, if it is for one short task (`keeps`), from the first statement until it is closed.
    """

    dialect = "postgres"
    path = ""

    def __init__(self, postgres: Postgres, *, owns: bool = False, keeps: bool = False) -> None:
        self.postgres = postgres
        self._owns = owns
        self._keeps = keeps
        self._kept: Connection | None = None
        self._held: Connection | None = None

    def close(self) -> None:
        if self._held is not None:
            self._give_back("ROLLBACK")
        if self._kept is not None:
            kept, self._kept = self._kept, None
            self.postgres.pool.putconn(kept)
        if self._owns:
            self.postgres.close()

    @property
    def in_transaction(self) -> bool:
        return self._held is not None

    def run(
        self, statement: str, values: Any = (), lock: str = ""
    ) -> tuple[list[dict[str, Any]], int]:
        if self._held is None and lock:
            return self._alone(statement, values, lock)
        found: tuple[list[dict[str, Any]], int]
        found = self.postgres.explained(lambda: self._execute(statement, values))
        return found

    def run_many(self, statement: str, rows: list[tuple[Any, ...]]) -> int:
        changed: int
        changed = self.postgres.explained(lambda: self._execute_many(statement, rows))
        return changed

    def _execute_many(self, statement: str, rows: list[tuple[Any, ...]]) -> int:
        words = statements.translated(statement).encode()
        with self._connection() as connection, self.postgres.watch.over(connection):
            return _done_many(connection, words, rows)

    def _execute(self, statement: str, values: Any) -> tuple[list[dict[str, Any]], int]:
        with self._connection() as connection, self.postgres.watch.over(connection):
            return _done(connection, statement, values)

    def _connection(self) -> AbstractContextManager[Connection]:
        """For one statement: that of the transaction, one that is kept, or any."""
        if self._held is not None:
            return nullcontext(self._held)
        return nullcontext(self._taken()) if self._keeps else self.postgres.pool.connection()

    def _taken(self) -> Connection:
        """A connection from the pool, or the one that is kept."""
        connection = self._kept or self.postgres.pool.getconn()
        if self._keeps:
            self._kept = connection
        return connection

    def _alone(self, statement: str, values: Any, lock: str) -> tuple[list[dict[str, Any]], int]:
        self.begin(lock)
        try:
            done = self.run(statement, values)
        except BaseException:
            self.rollback()
            raise
        self.commit()
        return done

    def begin(self, lock: str = "") -> None:
        if self._held is not None:
            raise StoreUnavailable("a transaction is open already")
        self._held = self.postgres.explained(self._taken)
        try:
            self.run("BEGIN")
            if lock:
                self.run(postgres_schema.LOCK, (f" {lock}",))
        except BaseException:
            self._give_back("ROLLBACK")
            raise

    def commit(self) -> None:
        self._end("COMMIT")

    def rollback(self) -> None:
        self._end("ROLLBACK")

    def told(self) -> None:
        self.postgres.bell.ring()

    def _end(self, statement: str) -> None:
        if self._held is None:
            raise StoreUnavailable(f"there is no transaction to {statement.lower()}")
        try:
            self.run(statement)
        finally:
            self._give_back("")

    def _give_back(self, statement: str) -> None:
        held, self._held = self._held, None
        if held is None:
            return
        if statement and not held.closed:
            try:
                held.execute(statement)
            except psycopg.Error:
                held.close()
        if held is not self._kept:
            self.postgres.pool.putconn(held)


class PostgresStore(Records):
    """See `holdfast.store.base.Store`."""

    def __init__(self, database: PostgresDatabase) -> None:
        super().__init__(database, schema.queries())

    @classmethod
    def at(cls, url: str, *, busy_seconds: float = 5.0) -> PostgresStore:
        """A store with a pool of its own."""
        postgres = Postgres(url, busy_seconds=busy_seconds, most=2)
        return cls(PostgresDatabase(postgres, owns=True))


def _done(connection: Connection, statement: str, values: Any) -> tuple[list[dict[str, Any]], int]:
    # Without values psycopg leaves `%` alone and sends the statement as it is.
    words = statements.translated(statement) if values else statement
    cursor = connection.execute(words.encode(), _storable(values) if values else None)
    # Whether there are columns; a description of each takes as long as to read a row.
    rows = cursor.fetchall() if cursor.pgresult and cursor.pgresult.nfields else []
    return rows, cursor.rowcount


def _done_many(connection: Connection, words: bytes, rows: list[tuple[Any, ...]]) -> int:
    # The driver sends all of them at once, and the server takes that as one transaction.
    with connection.cursor() as cursor:
        cursor.executemany(words, map(_storable, rows))
        return cursor.rowcount


def _checked(connection: Connection) -> None:
    """Raises if the connection is dead. A server that is gone has closed it, which can be seen
    here: only if something came while nobody asked is it worth a way over the network.
    """
    waiting = select.poll()
    waiting.register(connection.fileno(), select.POLLIN)
    if waiting.poll(0):
        ConnectionPool.check_connection(connection)


def _storable(values: Any) -> Any:
    if isinstance(values, dict):
        return {key: statements.storable(value) for key, value in values.items()}
    return [statements.storable(value) for value in values]
