"""A store of yesterday becomes one of today; nothing is lost on the way."""

from __future__ import annotations

import os
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest
from tests.unit.store.store_file import (
    MIGRATIONS,
    MOODS,
    NEXT,
    OLD_MESSAGE,
    TODAY,
    ask,
    names,
    open_and_close,
    save,
    save_today,
    sessions,
)

from holdfast.errors import StoreUnavailable
from holdfast.ledger import messages
from holdfast.ledger.ledger import Ledger
from holdfast.ledger.tables import ALL, BLOCKINGS, SUBSCRIPTIONS
from holdfast.store import schema
from holdfast.store.sqlite import SQLiteDatabase, SQLiteStore


def tables(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    found = connection.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()
    return [(name, sql) for name, sql in found if sql]


def test_the_version_is_that_of_the_newest_migration() -> None:
    numbers = [int(file.name[:4]) for file in sorted(MIGRATIONS.glob("*.sql"))]
    assert numbers == list(range(1, schema.VERSION + 1))


def test_a_new_store_holds_what_the_migrations_say_and_nothing_else(path: str) -> None:
    """The scripts run whole by SQLite itself, against our own statement by statement."""
    open_and_close(path)
    with closing(sqlite3.connect(path)) as ours, closing(sqlite3.connect(":memory:")) as plain:
        for file in sorted(MIGRATIONS.glob("*.sql")):
            plain.executescript(file.read_text(encoding="utf-8"))
        assert [name for name, _ in tables(ours)] == [
            "compactions",
            "conversation_checkpoints",
            "conversation_messages",
            "conversation_messages_live",
            "conversations",
            "handoffs",
            "hooks_seen",
            "marks",
            "sessions",
            "sessions_by_project",
            "snapshots",
            "snapshots_by_session",
            "spend",
        ]
        assert tables(ours) == tables(plain)


def test_a_new_ledger_holds_what_its_migrations_say(path: str) -> None:
    folder, newest = schema.LEDGER
    SQLiteDatabase(path, plan=schema.LEDGER).close()
    scripts = sorted(Path(folder).glob("*.sql"))
    assert [int(file.name[:4]) for file in scripts] == list(range(1, newest + 1))
    with closing(sqlite3.connect(path)) as ours, closing(sqlite3.connect(":memory:")) as plain:
        for file in scripts:
            plain.executescript(file.read_text(encoding="utf-8"))
        made = {name for name, sql in tables(ours) if sql.startswith("CREATE TABLE")}
        assert made == {*ALL, "changes", "dropped", "sent", "readings"}
        assert tables(ours) == tables(plain)


def test_messages_of_an_old_ledger_are_told_once(path: str) -> None:
    folder, newest = schema.LEDGER
    os.makedirs(os.path.dirname(path))
    with closing(sqlite3.connect(path)) as old, old:
        old.executescript(Path(folder, "0001_ledger.sql").read_text(encoding="utf-8"))
        old.execute("PRAGMA user_version = 1")
        old.executemany(OLD_MESSAGE, [("read",), ("waiting",)])
        old.execute("INSERT INTO message_reads VALUES ('r', 'read', 'a', 2)")
    with closing(SQLiteDatabase(path, plan=schema.LEDGER)) as database:
        found = messages.inbox(Ledger(database), "a", 3.0, 9)
        assert [row["id"] for row in found] == ["waiting"]
    with closing(sqlite3.connect(path)) as upgraded, closing(sqlite3.connect(":memory:")) as plain:
        for file in sorted(Path(folder).glob("*.sql")):
            plain.executescript(file.read_text(encoding="utf-8"))
        assert tables(upgraded) == tables(plain)
        assert upgraded.execute("PRAGMA user_version").fetchone()[0] == newest


def test_what_agents_of_an_old_ledger_chose_is_their_only_project_s(path: str) -> None:
    folder, _ = schema.LEDGER
    os.makedirs(os.path.dirname(path))
    with closing(sqlite3.connect(path)) as old, old:
        for file in sorted(Path(folder).glob("*.sql"))[:5]:
            old.executescript(file.read_text(encoding="utf-8"))
        old.execute("PRAGMA user_version = 5")
        for agent, project in (("a", "p"), ("a", ""), ("both", "p"), ("both", "q")):
            given = agent + project, agent, project
            rest = "'', '', '', '', 1, 0, 0, 0, NULL, 1, 1"
            old.execute(f"INSERT INTO agents VALUES (?, ?, ?, {rest})", given)
        for agent in ("a", "both", "nobody"):
            old.execute("INSERT INTO subscriptions VALUES (?1, ?1, 'x', 1, 1)", (agent,))
            old.execute("INSERT INTO blockings VALUES (?1, ?1, 'x', '', 1, 1)", (agent,))
    with closing(SQLiteDatabase(path, plan=schema.LEDGER)) as database:
        for table, column in ((SUBSCRIPTIONS, "agent_id"), (BLOCKINGS, "blocked_id")):
            found = {row[column]: row["project"] for row in Ledger(database).rows(table)}
            assert found == {"a": "p", "both": "", "nobody": ""}


def test_a_migration_keeps_the_data_and_takes_a_copy_of_the_old_store_first(
    path: str, request: pytest.FixtureRequest
) -> None:
    with closing(SQLiteStore(path)) as store:
        save(store)
    request.getfixturevalue("next_version")
    assert sessions(path) == ["s1"]
    assert ask(path, "PRAGMA user_version") == TODAY + 1
    assert ask(path, "SELECT count(*) FROM moods") == 0
    assert names(path) == ["holdfast.db", f"holdfast.db.v{TODAY}.bak"]
    copy = f"{path}.v{TODAY}.bak"
    assert stat.S_IMODE(os.stat(copy).st_mode) == 0o600
    assert ask(copy, "PRAGMA user_version") == TODAY
    assert ask(copy, "SELECT id FROM sessions") == "s1"
    assert ask(copy, "SELECT count(*) FROM sqlite_master WHERE name = 'moods'") == 0


def test_the_copy_holds_what_only_the_write_ahead_log_had(
    path: str, request: pytest.FixtureRequest
) -> None:
    with closing(SQLiteStore(path)) as still_open:
        save(still_open)
        request.getfixturevalue("next_version")
        assert sessions(path) == ["s1"]
    assert ask(f"{path}.v{TODAY}.bak", "SELECT id FROM sessions") == "s1"


def test_a_store_migrated_step_by_step_equals_one_made_today(
    path: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    open_and_close(path)
    request.getfixturevalue("next_version")
    open_and_close(path)
    today = str(tmp_path / "today" / "holdfast.db")
    open_and_close(today)
    with closing(sqlite3.connect(path)) as old, closing(sqlite3.connect(today)) as new:
        assert tables(old) == tables(new)
    assert names(today) == ["holdfast.db"], "a new store has nothing to copy"


def test_an_empty_file_becomes_a_store_like_any_other(path: str) -> None:
    os.makedirs(os.path.dirname(path))
    Path(path).touch(mode=0o644)
    open_and_close(path)
    assert sessions(path) == []
    assert ask(path, "PRAGMA user_version") == schema.VERSION
    assert ask(path, "PRAGMA journal_mode") == "wal"
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600


def test_a_migration_that_fails_half_way_changes_nothing(path: str, next_version: Path) -> None:
    save_today(path)
    (next_version / NEXT).write_text(MOODS + "CREATE TABLE moods (again TEXT);\n")
    with pytest.raises(StoreUnavailable, match="moods already exists"):
        SQLiteStore(path)
    assert ask(path, "PRAGMA user_version") == TODAY
    assert ask(path, "SELECT count(*) FROM sqlite_master WHERE name = 'moods'") == 0
    (next_version / NEXT).write_text(MOODS)
    assert sessions(path) == ["s1"]


def test_a_store_of_a_newer_holdfast_is_refused_and_left_alone(path: str) -> None:
    with closing(SQLiteStore(path)) as store:
        save(store)
    with closing(sqlite3.connect(path)) as tomorrow:
        tomorrow.execute("PRAGMA user_version = 7")
    before = Path(path).read_bytes()
    with pytest.raises(StoreUnavailable, match=r"newer Holdfast \(version 7") as caught:
        SQLiteStore(path)
    assert "upgrade Holdfast" in caught.value.hint
    assert Path(path).read_bytes() == before
    assert names(path) == ["holdfast.db"]
