"""The store on one machine: a SQLite file that any number of hook processes share."""

from __future__ import annotations

from holdfast.store import schema
from holdfast.store.records import Records

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class SQLiteDatabase:
    """See `holdfast.store.base.Database`: one connection, and one writer at a time."""

    dialect = "sqlite"

    def __init__(
        self,
        path: str,
        *,
        busy_seconds: float = 1.0,
        any_thread: bool = False,
        plan: tuple[str, int] | None = None,
        gate: Any = None,
        heard: Any = None,
    ) -> None:
        """`gate` is a lock that threads of one process share: to queue there is quicker than to
        find the file locked and try again. `heard` is called when changes were written.
        """
        self.path = path
        self._heard = heard
        self._gate = gate
        self._inside = False
        self._connection, self._inode = schema.connect(
            path, busy_seconds, any_thread=any_thread, plan=plan
        )
        self._connection.row_factory = _row

    def close(self) -> None:
        self._connection.close()
        self._leave()

    def _leave(self) -> None:
        if self._inside:
            self._inside = False
            self._gate.release()

    @property
    def in_transaction(self) -> bool:
        return self._connection.in_transaction

    def run(
        self, statement: str, values: Any = (), lock: str = ""
    ) -> tuple[list[dict[str, Any]], int]:
        try:
            cursor = self._connection.execute(statement, _storable(values))
            return cursor.fetchall(), cursor.rowcount
        except schema.Error as problem:
            raise schema.explain(problem, self.path, self._inode) from problem

    def run_many(self, statement: str, rows: list[tuple[Any, ...]]) -> int:
        try:
            return self._connection.executemany(statement, map(_storable, rows)).rowcount
        except schema.Error as problem:
            raise schema.explain(problem, self.path, self._inode) from problem

    def begin(self, lock: str = "") -> None:
        if self._gate is not None:
            self._gate.acquire()
            self._inside = True
        try:
            self.run("BEGIN IMMEDIATE")
        except BaseException:
            self._leave()
            raise

    def commit(self) -> None:
        self.run("COMMIT")
        self._leave()

    def told(self) -> None:
        if self._heard is not None:
            self._heard()

    def rollback(self) -> None:
        try:
            self.run("ROLLBACK")
        finally:
            self._leave()


class SQLiteStore(Records):
    """See `holdfast.store.base.Store`."""

    def __init__(self, path: str, *, busy_seconds: float = 1.0) -> None:
        super().__init__(SQLiteDatabase(path, busy_seconds=busy_seconds), schema.queries())
        self.path = path


def _storable(values: Any) -> Any:
    """SQLite takes no lone surrogates, which a host's JSON may well hold in a summary."""
    if isinstance(values, dict):
        return {key: _text(value) for key, value in values.items()}
    return [
        value if not isinstance(value, str) or value.isascii() else _text(value) for value in values
    ]


def _text(value: Any) -> Any:
    if isinstance(value, str) and not value.isascii():
        return value.encode("utf-8", "replace").decode("utf-8")
    return value


def _row(cursor: Any, values: tuple[Any, ...]) -> dict[str, Any]:
    return {column[0]: value for column, value in zip(cursor.description, values, strict=True)}
