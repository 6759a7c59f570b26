"""The SQLite file: how it is made, refused and set aside."""

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
from tests.unit.store.store_file import ask, names, open_and_close, save, sessions
from tests.weather import read_only

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
                "INSERT INTO compactions (session, ordinal, opened_at) VALUES ('nobody', 1, 1)"
            )


@pytest.mark.parametrize("folder", ["50% done", "what?mode=memory", "a#b", "größe", "//double"])
def test_a_store_can_be_in_a_folder_of_any_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    path = f"{tmp_path}/{folder}/holdfast.db"
    with closing(SQLiteStore(path)) as store:
        save(store)
    assert names(path) == ["holdfast.db"]
    monkeypatch.chdir(os.path.dirname(path))
    assert sessions("./holdfast.db") == ["s1"]


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


def test_where_hard_links_do_not_exist_the_store_is_moved_into_place(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(source: str, target: str) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(os, "link", no_links)
    open_and_close(path)
    assert names(path) == ["holdfast.db"]
    assert sessions(path) == []


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
