"""A store's file, as tests look at it."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.state.fold import new_state
from holdfast.store import sqlite_migrations
from holdfast.store.sqlite import SQLiteStore

MIGRATIONS = Path(sqlite_migrations.STORE_MIGRATIONS[0])
TODAY = sqlite_migrations.STORE_MIGRATIONS[1]
NEXT = f"{TODAY + 1 - sqlite_migrations.VERSION_OFFSET:04}_moods.sql"
MOODS = "-- One more table; and a comment with a semicolon.\nCREATE TABLE moods (mood TEXT);\n"


def tomorrow(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Holdfast of tomorrow: the same migrations and one more."""
    shutil.copytree(MIGRATIONS, folder)
    (folder / NEXT).write_text(MOODS, encoding="utf-8")
    monkeypatch.setattr(sqlite_migrations, "STORE_MIGRATIONS", (str(folder), TODAY + 1))
    return folder


def save_today(path: str, session: str = "s1") -> None:
    """A session in a store as today's Holdfast makes it."""
    with pytest.MonkeyPatch.context() as today:
        today.setattr(sqlite_migrations, "STORE_MIGRATIONS", (str(MIGRATIONS), TODAY))
        with closing(SQLiteStore(path)) as store:
            save(store, session)


def make_first_edition(path: str, version: int = 4) -> None:
    """Make the database at `path` look like one of the first edition, which had the same tables."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {version}")


def open_and_close(path: str) -> None:
    SQLiteStore(path).close()


def save(store: SQLiteStore, session: str = "s1") -> bool:
    return store.save_session(
        session=session, host="claude-code", project="/p", transcript="", cursor=None,
        state=new_state(), revision=0, now=1.0,
    )  # fmt: skip


def sessions(path: str) -> list[str]:
    with closing(SQLiteStore(path)) as store:
        return sorted(row["id"] for row in store.sessions(None))


def names(path: str) -> list[str]:
    return sorted(os.listdir(os.path.dirname(path)))


def ask(path: str, question: str) -> object:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(question).fetchone()[0]
