"""The store of one machine: a SQLite file that any number of hook processes share."""

from __future__ import annotations

import os

from holdfast.errors import StoreUnavailable
from holdfast.store import sqlite_migrations
from holdfast.store.repository import StoreRepository

# What Python's driver says about text that is not UTF-8.
UNDECODABLE = "Could not decode to UTF-8"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class SQLiteDatabase:
    """Implements `holdfast.store.protocols.Database` with one connection. SQLite allows one writer
    at a time, so locks by name are not needed.
    """

    dialect = "sqlite"

    def __init__(
        self,
        path: str,
        *,
        busy_seconds: float = 1.0,
        any_thread: bool = False,
        migrations: tuple[str, int] | None = None,
        on_change: Any = None,
        write_lock: Any = None,
    ) -> None:
        """Open the file, which is created and migrated if needed.

        `migrations` is STORE_MIGRATIONS (the default) or LEDGER_MIGRATIONS. `on_change` is called
        after each commit that changed rows of the ledger. `write_lock` is a lock that the threads
        of one process share for their transactions. It is faster than SQLite's own lock: a writer
        that finds the file locked sleeps up to 100 ms before it tries again.
        """
        self.path = path
        self._migrations = migrations
        self._on_change = on_change
        self._write_lock = write_lock
        self._has_lock = False
        self._connection, self._inode = sqlite_migrations.connect(
            path, busy_seconds, any_thread=any_thread, migrations=migrations
        )
        self._connection.row_factory = _to_dict

    def close(self) -> None:
        self._connection.close()
        self._unlock()

    def _unlock(self) -> None:
        if self._has_lock:
            self._has_lock = False
            self._write_lock.release()

    @property
    def in_transaction(self) -> bool:
        return self._connection.in_transaction

    @property
    def is_replaced(self) -> bool:
        """Whether another file is at the path now, because this one is damaged or was deleted."""
        if self.path == sqlite_migrations.IN_MEMORY:
            return False
        try:
            return os.stat(self.path).st_ino != self._inode
        except FileNotFoundError:
            return True

    def _require_own_file(self) -> None:
        if self.is_replaced:
            raise StoreUnavailable(f"{self.path} was replaced", hint="try again")

    def _to_store_error(self, problem: Any) -> StoreUnavailable:
        return sqlite_migrations.to_store_error(problem, self.path, self._inode, self._migrations)

    def run(
        self, statement: str, values: Any = (), lock: str = ""
    ) -> tuple[list[dict[str, Any]], int]:
        if not self._connection.in_transaction:
            self._require_own_file()
        try:
            cursor = self._connection.execute(statement, _make_storable(values))
            return cursor.fetchall(), cursor.rowcount
        except sqlite_migrations.Error as problem:
            if UNDECODABLE in str(problem):
                return self._run_with_replaced_characters(statement, values)
            raise self._to_store_error(problem) from problem

    def _run_with_replaced_characters(
        self, statement: str, values: Any
    ) -> tuple[list[dict[str, Any]], int]:
        """Run a statement that selects text with a damaged byte, so that the other rows and columns
        can be read.
        """
        self._connection.text_factory = lambda data: data.decode("utf-8", "replace")
        try:
            cursor = self._connection.execute(statement, _make_storable(values))
            return cursor.fetchall(), cursor.rowcount
        except sqlite_migrations.Error as problem:
            raise self._to_store_error(problem) from problem
        finally:
            self._connection.text_factory = str

    def begin(self, lock: str = "") -> None:
        if self._write_lock is not None:
            self._write_lock.acquire()
            self._has_lock = True
        try:
            self.run("BEGIN IMMEDIATE")
            # Again, with the lock: what is written to a file that was set aside would be lost.
            self._require_own_file()
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            self._unlock()
            raise

    def commit(self) -> None:
        self.run("COMMIT")
        self._unlock()

    def notify_listeners(self) -> None:
        if self._on_change is not None:
            self._on_change()

    def rollback(self) -> None:
        try:
            self.run("ROLLBACK")
        finally:
            self._unlock()


class SQLiteStore(StoreRepository):
    """Implements `holdfast.store.protocols.Store`."""

    def __init__(self, path: str, *, busy_seconds: float = 1.0) -> None:
        super().__init__(
            SQLiteDatabase(path, busy_seconds=busy_seconds), sqlite_migrations.load_queries()
        )
        self.path = path


def _make_storable(values: Any) -> Any:
    """Return the values with lone surrogates replaced, because SQLite refuses them. The JSON of a
    host may contain some.
    """
    if isinstance(values, dict):
        return {key: _replace_surrogates(value) for key, value in values.items()}
    return [
        value if not isinstance(value, str) or value.isascii() else _replace_surrogates(value)
        for value in values
    ]


def _replace_surrogates(value: Any) -> Any:
    if isinstance(value, str) and not value.isascii():
        return value.encode("utf-8", "replace").decode("utf-8")
    return value


def _to_dict(cursor: Any, values: tuple[Any, ...]) -> dict[str, Any]:
    return {column[0]: value for column, value in zip(cursor.description, values, strict=True)}
