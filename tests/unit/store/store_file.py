"""A store's file, as tests look at it."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.state.fold import new_state
from holdfast.store import schema
from holdfast.store.sqlite import SQLiteStore

MIGRATIONS = Path(schema.MIGRATIONS)
TODAY = schema.VERSION
NEXT = f"{TODAY + 1:04}_moods.sql"
MOODS = "-- One more table; and a comment with a semicolon.\nCREATE TABLE moods (mood TEXT);\n"
# A message from b to a, before it was kept with it whether a has read it.
OLD_MESSAGE = """
INSERT INTO messages (id, project, session, from_agent_id, to_agent_id, message_type, topic,
    payload, priority, created_at, expires_at, updated_at)
VALUES (?, '', '', 'b', 'a', 'info', '', 'null', 5, 1, 9, 1)"""


def tomorrow(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Holdfast of tomorrow: the same migrations and one more."""
    shutil.copytree(MIGRATIONS, folder)
    (folder / NEXT).write_text(MOODS, encoding="utf-8")
    monkeypatch.setattr(schema, "MIGRATIONS", str(folder))
    monkeypatch.setattr(schema, "VERSION", TODAY + 1)
    return folder


def save_today(path: str, session: str = "s1") -> None:
    """A session in a store as today's Holdfast makes it."""
    with pytest.MonkeyPatch.context() as today:
        today.setattr(schema, "VERSION", TODAY)
        today.setattr(schema, "MIGRATIONS", str(MIGRATIONS))
        with closing(SQLiteStore(path)) as store:
            save(store, session)


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
