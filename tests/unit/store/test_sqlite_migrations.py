"""The SQLite file: creating it, setting a damaged one aside, and stores that cannot be used."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.errors import StoreDamaged, StoreUnavailable
from holdfast.store import sqlite_migrations
from holdfast.store.sqlite import SQLiteStore
from tests.faulty_disks import make_read_only
from tests.unit.store.store_file import (
    find_set_aside,
    list_files,
    list_sessions,
    open_and_close,
    query_value,
    save_session,
)

NOT_A_DATABASE = b"this was never a database\n" * 400

# Creation


def test_a_new_store_is_readable_only_by_its_owner(path: str) -> None:
    previous_umask = os.umask(0)
    try:
        with closing(SQLiteStore(path)) as store:
            save_session(store)
            modes = {name: stat.S_IMODE(os.stat(f"{path}{name}").st_mode) for name in ("", "-wal")}
    finally:
        os.umask(previous_umask)
    assert modes == {"": 0o600, "-wal": 0o600}
    assert stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode) == 0o700


def test_the_folder_of_a_store_is_made_private(path: str) -> None:
    os.makedirs(os.path.dirname(path), mode=0o755)
    open_and_close(path)
    assert stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode) == 0o700


def test_a_connection_uses_a_write_ahead_log_and_checks_foreign_keys(path: str) -> None:
    connection, _ = sqlite_migrations.connect(path, 1.0)
    with closing(connection):
        assert connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
        assert connection.execute("PRAGMA foreign_keys").fetchone()[0] == 1
        assert (
            connection.execute("PRAGMA user_version").fetchone()[0]
            == sqlite_migrations.STORE_MIGRATIONS[1]
        )
        with pytest.raises(sqlite3.IntegrityError):
            connection.execute(
                "INSERT INTO compactions (session, ordinal, opened_at) VALUES ('unknown', 1, 1)"
            )


@pytest.mark.parametrize("folder", ["50% done", "what?mode=memory", "a#b", "größe", "//double"])
def test_a_store_can_be_in_a_folder_of_any_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    path = f"{tmp_path}/{folder}/holdfast.db"
    with closing(SQLiteStore(path)) as store:
        save_session(store)
    assert list_files(path) == ["holdfast.db"]
    monkeypatch.chdir(os.path.dirname(path))
    assert list_sessions("./holdfast.db") == ["s1"]


def test_the_write_ahead_log_stays_short_while_the_store_is_open(path: str) -> None:
    """Hooks exit without closing the store, and every process that opens it reads the log."""
    with closing(SQLiteStore(path)) as store:
        for n in range(500):
            save_session(store, f"s{n}")
        assert os.path.getsize(f"{path}-wal") < 1 << 20


def test_closing_the_store_removes_its_temporary_files(path: str) -> None:
    with closing(SQLiteStore(path)) as store:
        save_session(store)
    assert list_files(path) == ["holdfast.db"]


def test_without_hard_links_the_store_is_renamed_into_place(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(source: str, target: str) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(os, "link", no_links)
    open_and_close(path)
    assert list_files(path) == ["holdfast.db"]
    assert list_sessions(path) == []


# Damaged files


@pytest.mark.usefixtures("salvage_in_this_process")
def test_a_file_that_is_no_database_is_set_aside_and_a_new_store_is_made(path: str) -> None:
    os.makedirs(os.path.dirname(path))
    Path(path).write_bytes(NOT_A_DATABASE)
    with pytest.raises(StoreDamaged) as caught:
        SQLiteStore(path)
    aside = find_set_aside(path)
    assert str(aside) in str(caught.value)
    assert aside.read_bytes() == NOT_A_DATABASE
    assert list_sessions(path) == []


@pytest.mark.usefixtures("salvage_in_this_process")
def test_a_store_with_damaged_pages_is_set_aside_when_they_are_read(path: str) -> None:
    damage_sessions(path)
    store = SQLiteStore(path)
    with pytest.raises(StoreDamaged, match="malformed"):
        store.sessions(None)
    store.close()
    assert find_set_aside(path).exists()
    with closing(SQLiteStore(path)) as fresh:
        assert save_session(fresh)


def damage_sessions(path: str) -> None:
    """Overwrite the page of the sessions and leave the schema intact."""
    with closing(SQLiteStore(path)) as store:
        save_session(store)
    page = query_value(path, "SELECT rootpage FROM sqlite_master WHERE name = 'sessions'")
    assert isinstance(page, int)
    with open(path, "r+b") as file:
        file.seek((page - 1) * 4096)
        file.write(b"\xa5" * 4096)


@pytest.mark.usefixtures("salvage_in_this_process")
def test_the_replacement_of_a_damaged_store_is_not_set_aside(
    path: str,
) -> None:
    damage_sessions(path)
    first, second = SQLiteStore(path), SQLiteStore(path)
    with pytest.raises(StoreDamaged, match="it is now"):
        first.sessions(None)
    with closing(SQLiteStore(path)) as fresh:
        save_session(fresh, "replacement")
        with pytest.raises(StoreUnavailable, match="was replaced"):
            second.sessions(None)
        second.close()
        first.close()
        assert list_sessions(path) == ["replacement"], "its write-ahead log is still there"
        assert save_session(fresh, "more")
    assert list_sessions(path) == ["more", "replacement"]


# Stores that cannot be used


@pytest.fixture
def locked(path: str) -> Iterator[None]:
    """Another connection holds an exclusive lock on the store."""
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


def test_a_store_whose_folder_cannot_be_created_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreUnavailable, match=r"holdfast\.db \("):
        SQLiteStore(str(tmp_path / "file" / "holdfast.db"))


def test_creating_a_store_in_a_read_only_folder_leaves_no_files(path: str) -> None:
    folder = Path(path).parent
    folder.mkdir(parents=True)
    with make_read_only(folder), pytest.raises(StoreUnavailable, match=r"(?i)read-only"):
        SQLiteStore(path)
    assert list_files(path) == []
    open_and_close(path)


def test_a_store_in_a_read_only_folder_is_unavailable(path: str) -> None:
    open_and_close(path)
    with (
        make_read_only(Path(path).parent),
        pytest.raises(StoreUnavailable),
        closing(SQLiteStore(path)) as store,
    ):
        save_session(store)
    assert list_files(path) == ["holdfast.db"]
    with closing(SQLiteStore(path)) as store:
        assert save_session(store)


def test_a_damaged_store_that_cannot_be_renamed_is_reported(path: str) -> None:
    os.makedirs(os.path.dirname(path))
    Path(path).write_bytes(NOT_A_DATABASE)
    with (
        make_read_only(Path(path).parent),
        pytest.raises(StoreDamaged, match="could not be set aside"),
    ):
        SQLiteStore(path)
    assert list_files(path) == ["holdfast.db"]
