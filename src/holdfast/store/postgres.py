"""The store of a team in PostgreSQL, with a connection pool that reconnects by itself."""

from __future__ import annotations

import logging
import re
import threading
import time
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from holdfast.errors import DatabaseUnreachable, StoreUnavailable
from holdfast.store import dsn, sqlite_migrations
from holdfast.store.repository import StoreRepository

try:
    import psycopg
    from psycopg.rows import dict_row
    from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

    from holdfast.store import postgres_migrations
    from holdfast.store.postgres_notify import ChangeListener, ChangeNotifier
except ImportError as missing:
    raise StoreUnavailable(
        f"PostgreSQL needs a package that is not installed ({missing.name})",
        hint="pip install 'holdfast[team]'",
    ) from None

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.errors import HoldfastError

Connection = psycopg.Connection[dict[str, Any]]
_COMMENT = re.compile(r"^\s*--.*$", re.MULTILINE)
_NAMED_PLACEHOLDER = re.compile(r"(?<![:\w']):([a-z_][a-z0-9_]*)")
# A database that cannot be reached is tried again after this time, however many requests there are.
RETRY_SECONDS = 1.0
# SQLSTATE classes of errors that may go away by themselves: lost connections, deadlocks, a server
# that starts, stops or has too many connections.
TEMPORARY_SQLSTATES = ("08", "40", "53", "55P03", "57P")
# A failed connection has no SQLSTATE, only a message. With one of these messages it is not retried:
# it would fail until the address or the role is changed. Messages in other languages are retried.
PERMANENT_MESSAGES = re.compile(
    r"authentication failed|no password supplied|does not exist|not permitted to log in"
    r'|pg_hba\.conf|permission denied for database|parameter "'
    r"|invalid (?:\w+ )?value|invalid port number"
)
# Connection errors are reported once, by Holdfast, so the messages of the pool are not printed.
logging.getLogger("psycopg.pool").addHandler(logging.NullHandler())
logging.getLogger("psycopg.pool").propagate = False


class Postgres:
    """One migrated database and its connection pool, which threads share."""

    def __init__(
        self,
        url: str,
        *,
        busy_seconds: float = 5.0,
        max_connections: int = 4,
        on_connect: Callable[[], None] | None = None,
    ) -> None:
        """Connect and migrate. Raises DatabaseUnreachable or StoreUnavailable if that fails.

        With `on_connect` the database need not be reachable yet: each request tries to connect
        again, and `on_connect` is called when one succeeds.
        """
        self.parts = dsn.parse_dsn(url)
        self.display_url = dsn.render_dsn(self.parts)
        kwargs = {**dsn.add_limits(self.parts, busy_seconds), "autocommit": True}
        kwargs["row_factory"] = dict_row
        self._arguments: dict[str, Any] = kwargs
        self.pool: ConnectionPool[Connection] = ConnectionPool(
            connection_class=psycopg.Connection[dict[str, Any]],
            kwargs=kwargs,
            min_size=1,
            max_size=max_connections,
            timeout=dsn.CONNECT_SECONDS,
            # The pool retries for this time; then the next request tries again.
            reconnect_timeout=dsn.CONNECT_SECONDS,
            # After a restart of the server the pool has dead connections, which are replaced.
            check=ConnectionPool.check_connection,
            name="holdfast",
            open=False,
        )
        self.notifier = ChangeNotifier(self.pool)
        self.connect_problem: HoldfastError | None = None
        """Why no connection was possible so far; None after the first connection."""
        self._on_connect = on_connect
        self._lock = threading.Lock()
        self._retry_at = 0.0
        try:
            self._open()
        except DatabaseUnreachable:
            if on_connect is None:
                raise

    def _open(self) -> None:
        """Migrate, then open the pool, so that no query runs on tables of an older version."""
        try:
            with psycopg.connect(**self._arguments) as connection:
                postgres_migrations.migrate(connection, self.display_url)
        except psycopg.Error as problem:
            kind = DatabaseUnreachable if is_temporary(problem) else StoreUnavailable
            self.connect_problem = kind(self._explain(problem))
            self._retry_at = time.monotonic() + RETRY_SECONDS
            raise self.connect_problem from None
        self.pool.open()
        self.connect_problem = None

    def _ensure_open(self) -> None:
        if self.connect_problem is not None:
            with self._lock:
                self._reopen()

    def _reopen(self) -> None:
        # Another thread may have opened it meanwhile.
        if self.connect_problem is None:
            return
        if time.monotonic() < self._retry_at:
            # The same exception is raised for many requests; this clears its previous traceback.
            raise self.connect_problem.with_traceback(None)
        self._open()
        if self._on_connect is not None:
            self._on_connect()

    def close(self) -> None:
        self.notifier.close()
        self.pool.close()

    def listen(self, on_change: Callable[[], None]) -> ChangeListener:
        """Call `on_change`, in a thread of its own, whenever any process has written a change."""
        return ChangeListener(self._arguments, on_change)

    def translate_errors(self, work: Callable[[], Any]) -> Any:
        """Return the result of `work`. Errors of the driver are raised as StoreUnavailable or
        DatabaseUnreachable, without secrets.
        """
        self._ensure_open()
        try:
            return work()
        except (PoolTimeout, PoolClosed):
            raise DatabaseUnreachable(f"{self.display_url} (no connection available)") from None
        except psycopg.Error as problem:
            raise StoreUnavailable(self._explain(problem)) from None

    def _explain(self, problem: psycopg.Error) -> str:
        message = problem.diag.message_primary or str(problem) or type(problem).__name__
        return f"{self.display_url} ({dsn.remove_secrets(message, self.parts)})"


def is_temporary(problem: psycopg.Error) -> bool:
    """Return whether an error may go away by itself, so that a retry makes sense."""
    if not isinstance(problem, psycopg.OperationalError):
        return False
    if problem.sqlstate:
        return problem.sqlstate.startswith(TEMPORARY_SQLSTATES)
    return PERMANENT_MESSAGES.search(str(problem)) is None


class PostgresDatabase:
    """Implements `holdfast.store.protocols.Database`.

    It takes a connection from the pool for each statement or transaction. With `keeps_connection`,
    for one short task, it keeps the connection from the first statement until `close`. With
    `owns_pool` it closes the pool too.
    """

    dialect = "postgres"
    path = ""

    def __init__(
        self, postgres: Postgres, *, owns_pool: bool = False, keeps_connection: bool = False
    ) -> None:
        self.postgres = postgres
        self._owns_pool = owns_pool
        self._keeps_connection = keeps_connection
        self._kept_connection: Connection | None = None
        self._transaction_connection: Connection | None = None

    def close(self) -> None:
        if self._transaction_connection is not None:
            self._return_connection("ROLLBACK")
        if self._kept_connection is not None:
            kept, self._kept_connection = self._kept_connection, None
            self.postgres.pool.putconn(kept)
        if self._owns_pool:
            self.postgres.close()

    @property
    def in_transaction(self) -> bool:
        return self._transaction_connection is not None

    def run(
        self, statement: str, values: Any = (), lock: str = ""
    ) -> tuple[list[dict[str, Any]], int]:
        if self._transaction_connection is None and lock:
            return self._run_locked(statement, values, lock)
        result: tuple[list[dict[str, Any]], int]
        result = self.postgres.translate_errors(lambda: self._execute(statement, values))
        return result

    def _execute(self, statement: str, values: Any) -> tuple[list[dict[str, Any]], int]:
        with self._get_connection() as connection:
            return _run_statement(connection, statement, values)

    def _get_connection(self) -> AbstractContextManager[Connection]:
        """Return the connection for one statement: that of the transaction, the kept one, or one
        from the pool that is returned afterwards.
        """
        if self._transaction_connection is not None:
            return nullcontext(self._transaction_connection)
        return (
            nullcontext(self._take_connection())
            if self._keeps_connection
            else self.postgres.pool.connection()
        )

    def _take_connection(self) -> Connection:
        """Take a connection from the pool, or return the kept one."""
        connection = self._kept_connection or self.postgres.pool.getconn()
        if self._keeps_connection:
            self._kept_connection = connection
        return connection

    def _run_locked(
        self, statement: str, values: Any, lock: str
    ) -> tuple[list[dict[str, Any]], int]:
        self.begin(lock)
        try:
            result = self.run(statement, values)
        except BaseException:
            self.rollback()
            raise
        self.commit()
        return result

    def begin(self, lock: str = "") -> None:
        if self._transaction_connection is not None:
            raise StoreUnavailable("a transaction is already open")
        self._transaction_connection = self.postgres.translate_errors(self._take_connection)
        try:
            self.run("BEGIN")
            if lock:
                self.run(postgres_migrations.LOCK, (f" {lock}",))
        except BaseException:
            self._return_connection("ROLLBACK")
            raise

    def commit(self) -> None:
        self._end("COMMIT")

    def rollback(self) -> None:
        self._end("ROLLBACK")

    def notify_listeners(self) -> None:
        self.postgres.notifier.notify()

    def _end(self, statement: str) -> None:
        if self._transaction_connection is None:
            raise StoreUnavailable(f"there is no transaction to {statement.lower()}")
        try:
            self.run(statement)
        finally:
            self._return_connection("")

    def _return_connection(self, statement: str) -> None:
        """Run a statement, if any, and return the connection of the transaction to the pool."""
        connection, self._transaction_connection = self._transaction_connection, None
        if connection is None:
            return
        if statement and not connection.closed:
            try:
                connection.execute(statement)
            except psycopg.Error:
                connection.close()
        if connection is not self._kept_connection:
            self.postgres.pool.putconn(connection)


class PostgresStore(StoreRepository):
    """Implements `holdfast.store.protocols.Store`."""

    def __init__(self, database: PostgresDatabase) -> None:
        super().__init__(database, sqlite_migrations.load_queries())

    @classmethod
    def at(cls, url: str, *, busy_seconds: float = 5.0) -> PostgresStore:
        """Open a store with a connection pool of its own."""
        postgres = Postgres(url, busy_seconds=busy_seconds, max_connections=2)
        return cls(PostgresDatabase(postgres, owns_pool=True))


def _run_statement(
    connection: Connection, statement: str, values: Any
) -> tuple[list[dict[str, Any]], int]:
    # Without values psycopg leaves `%` alone and sends the statement as it is.
    sql = to_psycopg(statement) if values else statement
    cursor = connection.execute(sql.encode(), _make_storable(values) if values else None)
    # `nfields` is the number of columns. `cursor.description` would take as long as reading a row.
    rows = cursor.fetchall() if cursor.pgresult and cursor.pgresult.nfields else []
    return rows, cursor.rowcount


def _make_storable(values: Any) -> Any:
    if isinstance(values, dict):
        return {key: _replace_unstorable(value) for key, value in values.items()}
    return [_replace_unstorable(value) for value in values]


def _replace_unstorable(value: Any) -> Any:
    """Replace characters that PostgreSQL refuses in text: lone surrogates and NUL."""
    if isinstance(value, str):
        if not value.isascii():
            value = value.encode("utf-8", "replace").decode("utf-8")
        return value.replace("\0", "\ufffd")
    return value


@lru_cache(maxsize=1000)
def to_psycopg(statement: str) -> str:
    """Return a statement with psycopg's placeholders: `?` becomes `%s`, `:name` `%(name)s`."""
    bare = _COMMENT.sub("", statement).replace("%", "%%").strip()
    return _NAMED_PLACEHOLDER.sub(r"%(\1)s", bare).replace("?", "%s")
