"""A copy of one session's rows in memory, for a hook whose store cannot be written."""

from __future__ import annotations

from holdfast.store import sqlite_migrations
from holdfast.store.sqlite import SQLiteStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# table -> the column with the session's id
TABLES = {
    "sessions": "id",
    "snapshots": "session",
    "compactions": "session",
    "marks": "session",
    "handoffs": "session",
}
# A reader is not blocked by a writer, so this is only for a moment such as a checkpoint.
BUSY_SECONDS = 0.2


def copy_session(path: str, session: str) -> SQLiteStore:
    """Return a store in memory with what can be read of this session; it may be nothing."""
    store = SQLiteStore(sqlite_migrations.IN_MEMORY)
    # The copy has the rows of one session only, and may lack those that are damaged.
    store.database.run("PRAGMA foreign_keys = OFF")
    source = _open_for_reading(path)
    if source is not None:
        for table, column in TABLES.items():
            _copy_rows(source, store, table, column, session)
        source.close()
    return store


def _open_for_reading(path: str) -> Any:
    """Return a connection that only reads, or None if the file cannot be read."""
    # Without write access SQLite cannot create the shared memory of a write-ahead log. If there is
    # no log, the file is complete without it, and `immutable` needs no shared memory.
    for mode in ("mode=ro", "immutable=1"):
        try:
            connection = sqlite_migrations.open_file(path, BUSY_SECONDS, mode=mode)
            version = connection.execute("PRAGMA user_version").fetchone()[0]
        except sqlite_migrations.Error:
            continue
        return connection if version == sqlite_migrations.STORE_MIGRATIONS[1] else None
    return None


def _copy_rows(source: Any, store: SQLiteStore, table: str, column: str, session: str) -> None:
    """Copy the rows of a table; a table that is damaged stays empty."""
    try:
        cursor = source.execute(f"SELECT * FROM {table} WHERE {column} = ?", (session,))
        rows = cursor.fetchall()
    except sqlite_migrations.Error:
        return
    names = [name for name, *_ in cursor.description]
    places = ", ".join("?" * len(names))
    statement = f"INSERT INTO {table} ({', '.join(names)}) VALUES ({places})"
    for row in rows:
        store.database.run(statement, row)
