"""The initial migrations, and how a later one is applied: once, whole, and without loss."""

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
    MIGRATIONS,
    MOODS,
    NEXT,
    TODAY,
    ask,
    names,
    open_and_close,
    save,
    save_today,
    sessions,
)


def tables(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    found = connection.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()
    return [(name, sql) for name, sql in found if sql]


@pytest.mark.parametrize(
    "plan", [sqlite_migrations.STORE_MIGRATIONS, sqlite_migrations.LEDGER_MIGRATIONS]
)
def test_the_version_is_that_of_the_newest_migration(plan: tuple[str, int]) -> None:
    folder, version = plan
    numbers = [int(file.name[:4]) for file in sorted(Path(folder).glob("*.sql"))]
    assert numbers == list(range(1, len(numbers) + 1))
    assert version == sqlite_migrations.VERSION_OFFSET + numbers[-1]


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
    folder, _ = sqlite_migrations.LEDGER_MIGRATIONS
    SQLiteDatabase(path, migrations=sqlite_migrations.LEDGER_MIGRATIONS).close()
    scripts = sorted(Path(folder).glob("*.sql"))
    with closing(sqlite3.connect(path)) as ours, closing(sqlite3.connect(":memory:")) as plain:
        for file in scripts:
            plain.executescript(file.read_text(encoding="utf-8"))
        made = {name for name, sql in tables(ours) if sql.startswith("CREATE TABLE")}
        assert made == {*ALL_TABLES, "changes", "dropped", "sent", "readings"}
        assert tables(ours) == tables(plain)


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
    assert ask(path, "PRAGMA user_version") == TODAY
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
        tomorrow.execute("PRAGMA user_version = 999")
    before = Path(path).read_bytes()
    with pytest.raises(StoreUnavailable, match=r"newer Holdfast \(version 999") as caught:
        SQLiteStore(path)
    assert "upgrade Holdfast" in caught.value.hint
    assert Path(path).read_bytes() == before
    assert names(path) == ["holdfast.db"]
