"""The SQLite file of the search index.

It is separate from the store, so that filling it never holds a lock that a hook needs. It can
be deleted at any time: it is filled again from the transcripts that still exist.
"""

from __future__ import annotations

import contextlib
import os
import zlib
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from holdfast.errors import StoreDamaged, StoreUnavailable
from holdfast.search import document_ids
from holdfast.search.tokenizer import to_storable
from holdfast.store import first_edition, sqlite_migrations

try:
    # The C module behind `sqlite3`: the same API, without `datetime` and its import time.
    import _sqlite3 as sqlite3
except ImportError:
    import sqlite3  # type: ignore[no-redef]

if TYPE_CHECKING:
    from holdfast.search.search import Filter, Lookup

# Increased when the schema changes, or the words that find a text. The first edition had 1 to 3.
SCHEMA_VERSION = 102
SQL_DIRECTORY = os.path.join(os.path.dirname(__file__), "sql")
TABLES = ("words", "documents", "notes", "transcripts", "projects")
IN_MEMORY = sqlite_migrations.IN_MEMORY
# Shorter texts do not get smaller by compression.
MIN_COMPRESSED_BYTES = 120
REBUILD_HINT = "the index can be deleted at any time: it is made again from the transcripts"

Row = dict[str, Any]


class SearchIndex:
    """An open search index. SQLite errors are raised as `StoreDamaged` or `StoreUnavailable`."""

    def __init__(self, path: str, *, busy_seconds: float = 5.0) -> None:
        self.path = path
        self._queries = _load_queries()
        try:
            self._connection = _connect(path, busy_seconds)
        except StoreDamaged:
            # The damaged file was deleted: this creates an empty one.
            self._connection = _connect(path, busy_seconds)

    def __enter__(self) -> SearchIndex:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    def fetch_all(self, name: str, values: Any = ()) -> list[Row]:
        """Run a statement of `queries.sql` and return its rows."""
        with _translate_errors(self.path):
            return self._connection.execute(self._queries[name], values).fetchall()

    def fetch_one(self, name: str, values: Any = ()) -> Row | None:
        """Run a statement of `queries.sql` and return its first row, if there is one."""
        return next(iter(self.fetch_all(name, values)), None)

    def execute_many(self, name: str, rows: Iterable[tuple[Any, ...]]) -> None:
        """Run a statement of `queries.sql` once for each row of values."""
        with _translate_errors(self.path):
            self._connection.executemany(self._queries[name], rows)

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Hold the write lock; commit at the end, or roll back on an exception.

        Other connections can read meanwhile.
        """
        with _translate_errors(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    def clear(self) -> None:
        """Delete everything in the index."""
        with self.transaction():
            _create_tables(self._connection)
        with _translate_errors(self.path):
            self._connection.execute("VACUUM")

    def scope(self, project: str | None, session: str | None) -> document_ids.IdRange | None:
        """Return the ids of a session, of a project or of everything; None if it is unknown."""
        if session is not None:
            row = self.session(session)
            return document_ids.session_range(row["number"]) if row else None
        if project is not None:
            row = self.fetch_one("project", (to_storable(project),))
            return document_ids.project_range(row["number"]) if row else None
        return document_ids.ALL_IDS

    def session(self, session: str) -> Row | None:
        """Return the row of a session; its `number` is the upper part of its documents' ids."""
        return self.fetch_one("transcript", (to_storable(session),))

    def documents_between(self, low: int, high: int) -> list[Row]:
        """Return the documents from id `low` to `high`, in order."""
        return self.fetch_all("documents_between", (low, high))

    def lookup(self, scope: document_ids.IdRange, filters: Filter) -> Lookup:
        """Return the lookup that `search.search` uses for a scope and a filter."""
        from holdfast.search.sqlite_query import SqliteLookup

        return SqliteLookup(self, scope, filters)

    @property
    def size(self) -> int:
        """Bytes that the index uses, without free pages."""
        with _translate_errors(self.path):
            pages, free_pages, page_size = (
                self._connection.execute(f"PRAGMA {name}").fetchone()[name]
                for name in ("page_count", "freelist_count", "page_size")
            )
        used_bytes: int = (pages - free_pages) * page_size
        return used_bytes


def compress_text(text: str) -> bytes | str:
    """Return a text as it is stored: compressed, or unchanged if it is short."""
    data = text.encode("utf-8", "replace")
    return text if len(data) < MIN_COMPRESSED_BYTES else zlib.compress(data, 1)


def decompress_text(stored: bytes | str) -> str:
    """Return the text that `compress_text` stored."""
    return stored if isinstance(stored, str) else zlib.decompress(stored).decode("utf-8")


def delete_index(path: str) -> None:
    """Delete the files of an index, if they exist."""
    for suffix in ("", "-wal", "-shm"):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path + suffix)


def _connect(path: str, busy_seconds: float) -> sqlite3.Connection:
    """Open the index, and create it if it is missing.

    As `sqlite_migrations.connect`, retries if another process has moved the file meanwhile.
    """
    for _ in range(sqlite_migrations.CONNECT_ATTEMPTS):
        inode = 0
        try:
            if path != IN_MEMORY and not os.path.exists(path):
                sqlite_migrations.create(
                    path, lambda fresh: _open(fresh, 1.0).close(), own_folder=False
                )
            inode = sqlite_migrations.get_inode(path)
            try:
                connection = _open(path, busy_seconds)
                if sqlite_migrations.get_inode(path) == inode:
                    return connection
                connection.close()
            except sqlite_migrations.FirstEditionFound:
                # It may have the last copy of texts whose transcripts were deleted.
                first_edition.set_aside(path, busy_seconds)
        except sqlite_migrations.Error:
            if sqlite_migrations.get_inode(path) == inode:
                with _translate_errors(path):
                    raise
        except OSError as problem:
            raise StoreUnavailable(f"{path} ({problem.strerror or problem})") from problem
    raise StoreUnavailable(
        f"{path} is made again and again by the first edition", hint=REBUILD_HINT
    )


def _open(path: str, busy_seconds: float) -> sqlite3.Connection:
    if path == IN_MEMORY:
        connection = sqlite3.connect(path, isolation_level=None)
    else:
        connection = sqlite_migrations.open_file(path, busy_seconds)
    try:
        connection.row_factory = _row
        _prepare(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _prepare(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA synchronous = NORMAL")
    version = _version(connection)
    if version == SCHEMA_VERSION:
        return
    if sqlite_migrations.is_first_edition(version):
        raise sqlite_migrations.FirstEditionFound
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("BEGIN IMMEDIATE")
    # Another process may have created the tables while this one waited for the lock.
    if _version(connection) != SCHEMA_VERSION:
        _create_tables(connection)
    connection.execute("COMMIT")


def _create_tables(connection: sqlite3.Connection) -> None:
    """Create empty tables; drop those of another version: nothing in here is the only copy."""
    for table in TABLES:
        connection.execute(f"DROP TABLE IF EXISTS {table}")
    with open(os.path.join(SQL_DIRECTORY, "schema.sql"), encoding="utf-8") as file:
        statements = file.read().split(";\n")
    for statement in statements:
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def _version(connection: sqlite3.Connection) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()["user_version"]
    return version


@contextlib.contextmanager
def _translate_errors(path: str) -> Iterator[None]:
    """Raise SQLite errors as `StoreDamaged` or `StoreUnavailable`; delete a damaged index."""
    try:
        yield
    except sqlite_migrations.Error as problem:
        if sqlite_migrations.is_damage(problem):
            delete_index(path)
            raise StoreDamaged(f"{path} ({problem}) was deleted", hint=REBUILD_HINT) from problem
        raise StoreUnavailable(f"{path} ({problem})", hint=REBUILD_HINT) from problem


def _load_queries() -> dict[str, str]:
    """Return the statements of `queries.sql` by name."""
    with open(os.path.join(SQL_DIRECTORY, "queries.sql"), encoding="utf-8") as file:
        sections = file.read().split("-- name: ")[1:]
    named = (section.partition("\n") for section in sections)
    return {name.strip(): statement.strip() for name, _, statement in named}


def _row(cursor: Any, values: tuple[Any, ...]) -> Row:
    return {column[0]: value for column, value in zip(cursor.description, values, strict=True)}
