"""The index's own SQLite file, beside the store: filling it never holds a lock that a hook needs.

It can be deleted at any time; what transcripts still hold is read again.
"""

from __future__ import annotations

import contextlib
import os
import zlib
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from holdfast.errors import StoreDamaged, StoreUnavailable
from holdfast.index import ids
from holdfast.index.words import storable

try:
    # The C module behind `sqlite3`: the same API, without `datetime` and its import time.
    import _sqlite3 as sqlite3
except ImportError:
    import sqlite3  # type: ignore[no-redef]

if TYPE_CHECKING:
    from holdfast.index.search import Filter, Lookup

# Goes up whenever the schema, or what is found by which words, changes.
VERSION = 3
SQL = os.path.join(os.path.dirname(__file__), "sql")
TABLES = ("words", "pieces", "notes", "transcripts", "projects")
IN_MEMORY = ":memory:"
# Shorter texts do not get smaller by packing.
SMALLEST_PACKED = 120
HINT = "the index can be deleted at any time: it is made again from the transcripts"

Row = dict[str, Any]


class Index:
    """An open index."""

    def __init__(self, path: str, *, busy_seconds: float = 5.0) -> None:
        self.path = path
        self._queries = _queries()
        try:
            self._connection = _connect(path, busy_seconds)
        except StoreDamaged:
            self._connection = _connect(path, busy_seconds)

    def __enter__(self) -> Index:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    def all(self, name: str, values: Any = ()) -> list[Row]:
        """The rows of a named statement."""
        with _explained(self.path):
            return self._connection.execute(self._queries[name], values).fetchall()

    def one(self, name: str, values: Any = ()) -> Row | None:
        return next(iter(self.all(name, values)), None)

    def many(self, name: str, rows: Iterable[tuple[Any, ...]]) -> None:
        with _explained(self.path):
            self._connection.executemany(self._queries[name], rows)

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """All of it or nothing; others may read meanwhile."""
        with _explained(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    def empty(self) -> None:
        """Forget everything."""
        with self.writing():
            _make(self._connection)
        with _explained(self.path):
            self._connection.execute("VACUUM")

    def scope(self, project: str | None, session: str | None) -> ids.Range | None:
        """The ids of a session, of a project or of everything; nothing if it is not known."""
        if session is not None:
            row = self.session(session)
            return ids.of_session(row["number"]) if row else None
        if project is not None:
            row = self.one("project", (storable(project),))
            return ids.of_project(row["number"]) if row else None
        return ids.EVERYTHING

    def session(self, session: str) -> Row | None:
        """What is known of a session; its number is what the ids of its pieces begin with."""
        return self.one("transcript", (storable(session),))

    def kept(self, low: int, high: int) -> list[Row]:
        """The pieces between two ids, in order."""
        return self.all("pieces_between", (low, high))

    def lookup(self, scope: ids.Range, only: Filter) -> Lookup:
        """For questions: see `search.py`."""
        from holdfast.index.fts5 import FTS5Lookup

        return FTS5Lookup(self, scope, only)

    @property
    def size(self) -> int:
        """Bytes in use."""
        with _explained(self.path):
            ask = self._connection.execute
            pages, free, size = (
                ask(f"PRAGMA {name}").fetchone()[name]
                for name in ("page_count", "freelist_count", "page_size")
            )
        used: int = (pages - free) * size
        return used


def pack(text: str) -> bytes | str:
    data = text.encode("utf-8", "replace")
    return text if len(data) < SMALLEST_PACKED else zlib.compress(data, 1)


def unpack(stored: bytes | str) -> str:
    return stored if isinstance(stored, str) else zlib.decompress(stored).decode("utf-8")


def delete(path: str) -> None:
    """Take the index away."""
    for ending in ("", "-wal", "-shm"):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path + ending)


def _connect(path: str, busy_seconds: float) -> sqlite3.Connection:
    try:
        if path != IN_MEMORY:
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
    except OSError as problem:
        raise StoreUnavailable(f"{path} ({problem.strerror or problem})") from problem
    with _explained(path):
        connection = sqlite3.connect(path, timeout=busy_seconds, isolation_level=None)
        try:
            connection.row_factory = _row
            _prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection


def _prepare(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA synchronous = NORMAL")
    if _version(connection) == VERSION:
        return
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("BEGIN IMMEDIATE")
    # Of two processes at once, the second finds the work done.
    if _version(connection) != VERSION:
        _make(connection)
    connection.execute("COMMIT")


def _make(connection: sqlite3.Connection) -> None:
    """Whatever another version made goes: nothing in here is the only copy."""
    for table in TABLES:
        connection.execute(f"DROP TABLE IF EXISTS {table}")
    with open(os.path.join(SQL, "schema.sql"), encoding="utf-8") as file:
        statements = file.read().split(";\n")
    for statement in statements:
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {VERSION}")


def _version(connection: sqlite3.Connection) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()["user_version"]
    return version


@contextlib.contextmanager
def _explained(path: str) -> Iterator[None]:
    """What a database error means; a damaged index goes at once."""
    try:
        yield
    except sqlite3.Error as problem:
        if "not a database" in str(problem) or "malformed" in str(problem):
            delete(path)
            raise StoreDamaged(f"{path} ({problem}) was deleted", hint=HINT) from problem
        raise StoreUnavailable(f"{path} ({problem})", hint=HINT) from problem


def _queries() -> dict[str, str]:
    with open(os.path.join(SQL, "queries.sql"), encoding="utf-8") as file:
        parts = file.read().split("-- name: ")[1:]
    return {
        name.strip(): text.strip() for name, _, text in (part.partition("\n") for part in parts)
    }


def _row(cursor: Any, values: tuple[Any, ...]) -> Row:
    return {column[0]: value for column, value in zip(cursor.description, values, strict=True)}
