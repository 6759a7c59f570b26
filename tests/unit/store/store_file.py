"""Helpers that create, migrate and inspect the file of a store."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.state.fold import new_state
from holdfast.store import salvage, sqlite_migrations
from holdfast.store.sqlite import SQLiteStore

MIGRATIONS = Path(sqlite_migrations.STORE_MIGRATIONS[0])
# The current version, and the file name of the migration after it.
CURRENT_VERSION = sqlite_migrations.STORE_MIGRATIONS[1]
NEXT_MIGRATION = f"{CURRENT_VERSION + 1 - sqlite_migrations.VERSION_OFFSET:04}_moods.sql"
NEXT_MIGRATION_SQL = (
    "-- Another table; the comment has a semicolon.\nCREATE TABLE moods (mood TEXT);\n"
)


def add_next_migration(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make this process a newer Holdfast, with one more migration; return their folder."""
    shutil.copytree(MIGRATIONS, folder)
    (folder / NEXT_MIGRATION).write_text(NEXT_MIGRATION_SQL, encoding="utf-8")
    monkeypatch.setattr(sqlite_migrations, "STORE_MIGRATIONS", (str(folder), CURRENT_VERSION + 1))
    return folder


def save_in_current_version(path: str, session: str = "s1") -> None:
    """Save a session in a store of the current version, even after `add_next_migration`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sqlite_migrations, "STORE_MIGRATIONS", (str(MIGRATIONS), CURRENT_VERSION))
        with closing(SQLiteStore(path)) as store:
            save_session(store, session)


def make_first_edition(path: str, version: int = 4) -> None:
    """Make the database at `path` look like one of the first edition, which had the same tables."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {version}")


def open_and_close(path: str) -> None:
    SQLiteStore(path).close()


def save_session(store: SQLiteStore, session: str = "s1") -> bool:
    return store.save_session(
        session=session, host="claude-code", project="/p", transcript="", cursor=None,
        state=new_state(), revision=0, now=1.0,
    )  # fmt: skip


def list_sessions(path: str) -> list[str]:
    """Return the ids of all sessions."""
    with closing(SQLiteStore(path)) as store:
        return sorted(row["id"] for row in store.sessions(None))


def list_files(path: str) -> list[str]:
    """Return the names of all files in the folder of the store."""
    return sorted(os.listdir(os.path.dirname(path)))


def find_set_aside(path: str) -> Path:
    """Return the damaged file that a new one has replaced."""
    (aside,) = [
        file
        for file in Path(path).parent.glob("*.damaged-*")
        if not file.name.endswith(("-wal", "-shm", ".json"))
    ]
    return aside


def close_old_files() -> None:
    """Do what happens when a process that salvages ends."""
    while salvage.OPEN_CONNECTIONS:
        salvage.OPEN_CONNECTIONS.pop().close()


def query_value(path: str, query: str) -> object:
    """Run a query and return the first column of its first row."""
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query).fetchone()[0]
