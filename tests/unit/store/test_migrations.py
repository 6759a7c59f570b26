"""The initial migrations, and applying a later one: atomically, with a backup, without loss."""

from __future__ import annotations

import os
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.errors import StoreUnavailable
from holdfast.ledger.schema import ALL_TABLES
from holdfast.store import sqlite_migrations
from holdfast.store.sqlite import SQLiteDatabase, SQLiteStore
from tests.unit.store.store_file import (
    CURRENT_VERSION,
    MIGRATIONS,
    NEXT_MIGRATION,
    NEXT_MIGRATION_SQL,
    list_files,
    list_sessions,
    open_and_close,
    query_value,
    save_in_current_version,
    save_session,
)


def schema(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    """Return name and SQL of all tables and indexes."""
    rows = connection.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()
    return [(name, sql) for name, sql in rows if sql]


@pytest.mark.parametrize(
    "migrations", [sqlite_migrations.STORE_MIGRATIONS, sqlite_migrations.LEDGER_MIGRATIONS]
)
def test_the_version_is_that_of_the_newest_migration(migrations: tuple[str, int]) -> None:
    folder, version = migrations
    numbers = [int(file.name[:4]) for file in sorted(Path(folder).glob("*.sql"))]
    assert numbers == list(range(1, len(numbers) + 1))
    assert version == sqlite_migrations.VERSION_OFFSET + numbers[-1]


def test_a_new_store_has_exactly_the_schema_of_its_migrations(path: str) -> None:
    """Our runner splits the scripts into statements; SQLite runs them whole."""
    open_and_close(path)
    with (
        closing(sqlite3.connect(path)) as migrated,
        closing(sqlite3.connect(":memory:")) as expected,
    ):
        for file in sorted(MIGRATIONS.glob("*.sql")):
            expected.executescript(file.read_text(encoding="utf-8"))
        assert [name for name, _ in schema(migrated)] == [
            "compactions",
            "conversation_budgets",
            "conversation_checkpoints",
            "conversation_events",
            "conversation_messages",
            "conversation_messages_live",
            "conversations",
            "conversations_by_time",
            "handoffs",
            "hooks_seen",
            "marks",
            "sessions",
            "sessions_by_project",
            "snapshots",
            "snapshots_by_session",
            "spend",
            "spend_by_conversation",
        ]
        assert schema(migrated) == schema(expected)


def test_a_new_ledger_has_the_schema_of_its_migrations(path: str) -> None:
    folder, _ = sqlite_migrations.LEDGER_MIGRATIONS
    SQLiteDatabase(path, migrations=sqlite_migrations.LEDGER_MIGRATIONS).close()
    scripts = sorted(Path(folder).glob("*.sql"))
    with (
        closing(sqlite3.connect(path)) as migrated,
        closing(sqlite3.connect(":memory:")) as expected,
    ):
        for file in scripts:
            expected.executescript(file.read_text(encoding="utf-8"))
        table_names = {name for name, sql in schema(migrated) if sql.startswith("CREATE TABLE")}
        assert table_names == {*ALL_TABLES, "changes", "dropped", "sent", "readings"}
        assert schema(migrated) == schema(expected)


def test_a_migration_keeps_the_data_and_makes_a_backup_first(
    path: str, request: pytest.FixtureRequest
) -> None:
    with closing(SQLiteStore(path)) as store:
        save_session(store)
    request.getfixturevalue("next_version")
    assert list_sessions(path) == ["s1"]
    assert query_value(path, "PRAGMA user_version") == CURRENT_VERSION + 1
    assert query_value(path, "SELECT count(*) FROM moods") == 0
    assert list_files(path) == ["holdfast.db", f"holdfast.db.v{CURRENT_VERSION}.bak"]
    backup = f"{path}.v{CURRENT_VERSION}.bak"
    assert stat.S_IMODE(os.stat(backup).st_mode) == 0o600
    assert query_value(backup, "PRAGMA user_version") == CURRENT_VERSION
    assert query_value(backup, "SELECT id FROM sessions") == "s1"
    assert query_value(backup, "SELECT count(*) FROM sqlite_master WHERE name = 'moods'") == 0


def test_the_backup_includes_the_write_ahead_log(path: str, request: pytest.FixtureRequest) -> None:
    with closing(SQLiteStore(path)) as open_store:
        save_session(open_store)
        request.getfixturevalue("next_version")
        assert list_sessions(path) == ["s1"]
    assert query_value(f"{path}.v{CURRENT_VERSION}.bak", "SELECT id FROM sessions") == "s1"


def test_a_migrated_store_has_the_same_schema_as_a_new_one(
    path: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    open_and_close(path)
    request.getfixturevalue("next_version")
    open_and_close(path)
    new_path = str(tmp_path / "new" / "holdfast.db")
    open_and_close(new_path)
    with closing(sqlite3.connect(path)) as old, closing(sqlite3.connect(new_path)) as new:
        assert schema(old) == schema(new)
    assert list_files(new_path) == ["holdfast.db"], "a new store needs no backup"


def test_an_empty_file_becomes_a_store(path: str) -> None:
    os.makedirs(os.path.dirname(path))
    Path(path).touch(mode=0o644)
    open_and_close(path)
    assert list_sessions(path) == []
    assert query_value(path, "PRAGMA user_version") == CURRENT_VERSION
    assert query_value(path, "PRAGMA journal_mode") == "wal"
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600


def test_a_failed_migration_is_rolled_back(path: str, next_version: Path) -> None:
    save_in_current_version(path)
    (next_version / NEXT_MIGRATION).write_text(
        NEXT_MIGRATION_SQL + "CREATE TABLE moods (again TEXT);\n"
    )
    with pytest.raises(StoreUnavailable, match="moods already exists"):
        SQLiteStore(path)
    assert query_value(path, "PRAGMA user_version") == CURRENT_VERSION
    assert query_value(path, "SELECT count(*) FROM sqlite_master WHERE name = 'moods'") == 0
    (next_version / NEXT_MIGRATION).write_text(NEXT_MIGRATION_SQL)
    assert list_sessions(path) == ["s1"]


def test_a_store_of_a_newer_holdfast_is_refused_and_not_changed(path: str) -> None:
    with closing(SQLiteStore(path)) as store:
        save_session(store)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 999")
    before = Path(path).read_bytes()
    with pytest.raises(StoreUnavailable, match=r"newer Holdfast \(version 999") as caught:
        SQLiteStore(path)
    assert "upgrade Holdfast" in caught.value.hint
    assert Path(path).read_bytes() == before
    assert list_files(path) == ["holdfast.db"]
