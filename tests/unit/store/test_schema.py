"""The SQLite file: how it is made, migrated, refused and set aside."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest
from tests.weather import read_only

from holdfast.errors import StoreDamaged, StoreUnavailable
from holdfast.ledger.tables import ALL
from holdfast.state.fold import new_state
from holdfast.store import schema
from holdfast.store.sqlite import SQLiteDatabase, SQLiteStore

MIGRATIONS = Path(schema.MIGRATIONS)
TODAY = schema.VERSION
NEXT = f"{TODAY + 1:04}_moods.sql"
MOODS = "-- One more table; and a comment with a semicolon.\nCREATE TABLE moods (mood TEXT);\n"


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "state" / "holdfast" / "holdfast.db")


@pytest.fixture
def next_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Holdfast of tomorrow: the same migrations and one more."""
    folder = tmp_path / "migrations"
    shutil.copytree(MIGRATIONS, folder)
    (folder / NEXT).write_text(MOODS, encoding="utf-8")
    monkeypatch.setattr(schema, "MIGRATIONS", str(folder))
    monkeypatch.setattr(schema, "VERSION", TODAY + 1)
    return folder


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


def tables(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    found = connection.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()
    return [(name, sql) for name, sql in found if sql]


def ask(path: str, question: str) -> object:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(question).fetchone()[0]


# Making one


def test_only_its_owner_can_read_a_new_store(path: str) -> None:
    old = os.umask(0)
    try:
        with closing(SQLiteStore(path)) as store:
            save(store)
            files = {name: stat.S_IMODE(os.stat(f"{path}{name}").st_mode) for name in ("", "-wal")}
    finally:
        os.umask(old)
    assert files == {"": 0o600, "-wal": 0o600}
    assert stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode) == 0o700


def test_a_folder_that_others_could_read_is_closed_to_them(path: str) -> None:
    os.makedirs(os.path.dirname(path), mode=0o755)
    open_and_close(path)
    assert stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode) == 0o700


def test_a_store_keeps_a_write_ahead_log_and_its_foreign_keys(path: str) -> None:
    connection, _ = schema.connect(path, 1.0)
    with closing(connection):
        assert connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
        assert connection.execute("PRAGMA foreign_keys").fetchone()[0] == 1
        assert connection.execute("PRAGMA user_version").fetchone()[0] == schema.VERSION
        with pytest.raises(sqlite3.IntegrityError):
            connection.execute(
                "INSERT INTO compactions (session, ordinal, opened_at) VALUES ('nobody', 1, 1)"
            )


def test_the_log_stays_short_though_nobody_closes_the_store(path: str) -> None:
    """Hooks leave without closing, and whoever opens the store reads the log first."""
    with closing(SQLiteStore(path)) as store:
        for n in range(500):
            save(store, f"s{n}")
        assert os.path.getsize(f"{path}-wal") < 1 << 20


def test_nothing_but_the_store_is_left_when_it_is_closed(path: str) -> None:
    with closing(SQLiteStore(path)) as store:
        save(store)
    assert names(path) == ["holdfast.db"]


def all_at_once(path: str, migrations: str = "") -> list[int | None]:
    """Eight processes that open the same store at the same moment; how they ended."""
    context = multiprocessing.get_context("spawn")
    line = context.Barrier(8)
    told = [(path, f"s{n}", line, migrations) for n in range(8)]
    racers = [context.Process(target=race, args=args) for args in told]
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join(30)
    return [racer.exitcode for racer in racers]


def race(path: str, session: str, line: Barrier, migrations: str) -> None:
    if migrations:
        schema.MIGRATIONS, schema.VERSION = migrations, TODAY + 1
    line.wait(30)
    with closing(SQLiteStore(path, busy_seconds=10)) as store:
        assert save(store, session)


def test_eight_processes_that_all_want_to_make_the_store_share_one(path: str) -> None:
    assert all_at_once(path) == [0] * 8
    assert names(path) == ["holdfast.db"]
    assert sessions(path) == [f"s{n}" for n in range(8)]
    assert ask(path, "PRAGMA integrity_check") == "ok"
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600


def test_where_hard_links_do_not_exist_the_store_is_moved_into_place(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(source: str, target: str) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(os, "link", no_links)
    open_and_close(path)
    assert names(path) == ["holdfast.db"]
    assert sessions(path) == []


# Migrations


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
        assert made == {*ALL, "changes", "sent", "readings"}
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
    assert ask(path, "PRAGMA user_version") == schema.VERSION
    assert ask(path, "PRAGMA journal_mode") == "wal"
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600


def test_a_migration_that_fails_half_way_changes_nothing(path: str, next_version: Path) -> None:
    with pytest.MonkeyPatch.context() as today:
        today.setattr(schema, "VERSION", TODAY)
        today.setattr(schema, "MIGRATIONS", str(MIGRATIONS))
        with closing(SQLiteStore(path)) as store:
            save(store)
    (next_version / NEXT).write_text(MOODS + "CREATE TABLE moods (again TEXT);\n")
    with pytest.raises(StoreUnavailable, match="moods already exists"):
        SQLiteStore(path)
    assert ask(path, "PRAGMA user_version") == TODAY
    assert ask(path, "SELECT count(*) FROM sqlite_master WHERE name = 'moods'") == 0
    (next_version / NEXT).write_text(MOODS)
    assert sessions(path) == ["s1"]


def test_eight_processes_that_all_want_to_migrate_the_store_do_it_once(
    path: str, next_version: Path
) -> None:
    with pytest.MonkeyPatch.context() as today:
        today.setattr(schema, "VERSION", TODAY)
        today.setattr(schema, "MIGRATIONS", str(MIGRATIONS))
        with closing(SQLiteStore(path)) as store:
            save(store, "before")
    assert all_at_once(path, str(next_version)) == [0] * 8
    assert sessions(path) == ["before", *(f"s{n}" for n in range(8))]
    assert names(path) == ["holdfast.db", f"holdfast.db.v{TODAY}.bak"]
    assert ask(f"{path}.v{TODAY}.bak", "SELECT group_concat(id) FROM sessions") == "before"


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


# Damage


def test_a_file_that_is_no_database_is_set_aside_and_the_next_open_works(path: str) -> None:
    os.makedirs(os.path.dirname(path))
    Path(path).write_bytes(b"this was never a database\n" * 400)
    with pytest.raises(StoreDamaged) as caught:
        SQLiteStore(path)
    (aside,) = names(path)
    assert aside.startswith("holdfast.db.damaged-")
    assert aside in str(caught.value)
    assert os.path.getsize(os.path.join(os.path.dirname(path), aside)) == 26 * 400
    assert sessions(path) == []


def test_a_store_overwritten_in_the_middle_is_set_aside_when_that_is_found(path: str) -> None:
    damage(path)
    store = SQLiteStore(path)
    with pytest.raises(StoreDamaged, match="malformed"):
        store.sessions(None)
    store.close()
    assert [name for name in names(path) if ".damaged-" not in name] == []
    with closing(SQLiteStore(path)) as fresh:
        assert save(fresh)


def damage(path: str) -> None:
    """Leave the list of tables as it is and spoil the sessions."""
    with closing(SQLiteStore(path)) as store:
        save(store)
    page = ask(path, "SELECT rootpage FROM sqlite_master WHERE name = 'sessions'")
    assert isinstance(page, int)
    with open(path, "r+b") as file:
        file.seek((page - 1) * 4096)
        file.write(b"\xa5" * 4096)


def test_what_another_process_put_in_place_of_a_damaged_store_is_never_set_aside(
    path: str,
) -> None:
    damage(path)
    first, second = SQLiteStore(path), SQLiteStore(path)
    with pytest.raises(StoreDamaged, match="it is now"):
        first.sessions(None)
    with closing(SQLiteStore(path)) as fresh:
        save(fresh, "precious")
        with pytest.raises(StoreDamaged, match="another process"):
            second.sessions(None)
        second.close()
        first.close()
        assert sessions(path) == ["precious"], "its write-ahead log is not taken away either"
        assert save(fresh, "more")
    assert sessions(path) == ["more", "precious"]


# Weather


@pytest.fixture
def locked(path: str) -> Iterator[None]:
    open_and_close(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as holder:
        holder.execute("PRAGMA locking_mode = EXCLUSIVE")
        holder.execute("BEGIN EXCLUSIVE")
        holder.execute("CREATE TABLE held (x)")
        yield


@pytest.mark.usefixtures("locked")
def test_a_store_locked_by_another_process_is_unavailable(path: str) -> None:
    with (
        pytest.raises(StoreUnavailable, match="locked") as caught,
        closing(SQLiteStore(path, busy_seconds=0.05)) as store,
    ):
        store.sessions(None)
    assert not isinstance(caught.value, StoreDamaged)
    assert "doctor" in caught.value.hint


def test_a_folder_that_cannot_be_made_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreUnavailable, match=r"holdfast\.db \("):
        SQLiteStore(str(tmp_path / "file" / "holdfast.db"))


def test_no_store_can_be_made_in_a_read_only_folder(path: str) -> None:
    folder = Path(path).parent
    folder.mkdir(parents=True)
    with read_only(folder), pytest.raises(StoreUnavailable, match=r"(?i)read-only"):
        SQLiteStore(path)
    assert names(path) == []
    open_and_close(path)


def test_a_store_in_a_read_only_folder_is_unavailable(path: str) -> None:
    open_and_close(path)
    with (
        read_only(Path(path).parent),
        pytest.raises(StoreUnavailable),
        closing(SQLiteStore(path)) as store,
    ):
        save(store)
    assert names(path) == ["holdfast.db"]
    with closing(SQLiteStore(path)) as store:
        assert save(store)


def test_a_damaged_store_that_cannot_be_moved_is_still_explained(path: str) -> None:
    os.makedirs(os.path.dirname(path))
    Path(path).write_bytes(b"this was never a database\n" * 400)
    with (
        read_only(Path(path).parent),
        pytest.raises(StoreDamaged, match="could not be set aside"),
    ):
        SQLiteStore(path)
    assert names(path) == ["holdfast.db"]
