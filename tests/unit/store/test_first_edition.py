"""A database of the first edition is renamed, reported, and a new one is started."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import warnings
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from holdfast.conversations.store import ConversationStore
from holdfast.errors import StoreDamaged, StoreUnavailable
from holdfast.ledger.connect import open_local_ledger
from holdfast.search.index_db import SearchIndex
from holdfast.store import first_edition, sqlite_migrations
from holdfast.store.sqlite import SQLiteStore
from tests.faulty_disks import make_read_only
from tests.unit.store.store_file import (
    find_set_aside,
    list_files,
    list_sessions,
    make_first_edition,
    query_value,
    save_session,
)

SET_ASIDE_NAME = "holdfast.db.first-edition"
# Leaves a session only in the write-ahead log, as a killed hook does.
WRITE_AND_EXIT = """
import os, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA wal_autocheckpoint = 0")
connection.execute(
    "INSERT INTO sessions (id, host, project, transcript, cursor, state, revision, first_line,"
    " started_at, seen_at) VALUES ('in the log', '', '/p', '', '{}', '{}', 1, 0, 1, 1)"
)
os._exit(0)
"""


# Sets the store aside, saves a session in the new one and leaves it in the write-ahead log.
# Creating a table also writes the first page to the log, which holds the version.
SET_ASIDE_AND_EXIT = """
import os, sys, warnings
warnings.simplefilter("ignore")
from holdfast.store.sqlite import SQLiteStore
from tests.unit.store.store_file import save_session
store = SQLiteStore(sys.argv[1])
save_session(store, "new")
store.database.run("CREATE TABLE more (x)")
os._exit(0)
"""


@pytest.fixture
def reports(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The sentences that are reported to the user."""
    received: list[str] = []
    monkeypatch.setattr(sqlite_migrations, "report", received.append)
    return received


@pytest.fixture
def old_path(path: str) -> str:
    """A store of the first edition with one session."""
    with closing(SQLiteStore(path)) as store:
        save_session(store, "old")
    make_first_edition(path)
    return path


def test_a_store_of_the_first_edition_is_set_aside_and_a_new_one_started(
    old_path: str, reports: list[str]
) -> None:
    before = Path(old_path).read_bytes()
    assert list_sessions(old_path) == []
    assert list_files(old_path) == ["holdfast.db", SET_ASIDE_NAME]
    assert query_value(old_path, "PRAGMA user_version") == sqlite_migrations.STORE_MIGRATIONS[1]
    aside = f"{old_path}.first-edition"
    assert query_value(aside, "SELECT id FROM sessions") == "old"
    assert query_value(aside, "PRAGMA user_version") == 4
    assert len(Path(aside).read_bytes()) == len(before)
    (report,) = reports
    assert f"{old_path} was made by the first edition of Holdfast and is now {aside};" in report
    assert "holdfast recover" in report
    assert "~/.claude/projects" in report


@pytest.mark.parametrize("version", range(1, 14))
def test_every_version_of_the_first_edition_is_recognised(
    path: str, version: int, reports: list[str]
) -> None:
    SQLiteStore(path).close()
    make_first_edition(path, version)
    SQLiteStore(path).close()
    assert list_files(path) == ["holdfast.db", SET_ASIDE_NAME]
    assert len(reports) == 1


@pytest.mark.usefixtures("reports")
def test_the_file_set_aside_includes_the_write_ahead_log(old_path: str) -> None:
    subprocess.run([sys.executable, "-c", WRITE_AND_EXIT, old_path], check=True)
    assert list_files(old_path) == ["holdfast.db", "holdfast.db-shm", "holdfast.db-wal"]
    assert list_sessions(old_path) == []
    assert list_files(old_path) == ["holdfast.db", SET_ASIDE_NAME]
    aside = f"{old_path}.first-edition"
    assert query_value(
        aside, "SELECT group_concat(id) FROM (SELECT id FROM sessions ORDER BY id)"
    ) == ("in the log,old")
    assert query_value(aside, "PRAGMA integrity_check") == "ok"


def test_an_existing_file_with_the_new_name_is_not_overwritten(
    old_path: str, reports: list[str]
) -> None:
    Path(f"{old_path}.first-edition").write_text("existing")
    assert list_sessions(old_path) == []
    assert Path(f"{old_path}.first-edition").read_text() == "existing"
    assert query_value(f"{old_path}.first-edition-2", "SELECT id FROM sessions") == "old"
    assert f"{old_path}.first-edition-2" in reports[0]


@pytest.mark.usefixtures("reports")
def test_a_process_killed_between_link_and_unlink_leaves_one_file_aside(old_path: str) -> None:
    os.link(old_path, f"{old_path}.first-edition")
    assert list_sessions(old_path) == []
    assert list_files(old_path) == ["holdfast.db", SET_ASIDE_NAME]
    assert query_value(f"{old_path}.first-edition", "SELECT id FROM sessions") == "old"


@pytest.mark.usefixtures("reports")
def test_without_hard_links_the_file_is_renamed(
    old_path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(source: str, target: str) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(os, "link", no_links)
    Path(f"{old_path}.first-edition").write_text("existing")
    assert list_sessions(old_path) == []
    assert Path(f"{old_path}.first-edition").read_text() == "existing"
    assert query_value(f"{old_path}.first-edition-2", "SELECT id FROM sessions") == "old"


@pytest.mark.usefixtures("reports")
def test_a_file_that_is_set_aside_while_it_is_being_opened_is_opened_again(
    old_path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite would apply the write-ahead log of the new file to the old one and destroy it."""
    open_file = sqlite_migrations.open_file

    def open_then_replace(path: str, *args: Any, **options: Any) -> sqlite3.Connection:
        connection = open_file(path, *args, **options)
        monkeypatch.setattr(sqlite_migrations, "open_file", open_file)
        subprocess.run([sys.executable, "-c", SET_ASIDE_AND_EXIT, old_path], check=True)
        return connection

    monkeypatch.setattr(sqlite_migrations, "open_file", open_then_replace)
    with closing(SQLiteStore(old_path)) as store:
        assert [row["id"] for row in store.sessions(None)] == ["new"]
        # Enough for SQLite to write the log back into the file.
        for number in range(500):
            save_session(store, f"s{number}")
    assert query_value(old_path, "SELECT count(*) FROM sessions") == 501
    assert (
        query_value(f"{old_path}.first-edition", "SELECT group_concat(id) FROM sessions") == "old"
    )
    for path in (old_path, f"{old_path}.first-edition"):
        assert query_value(path, "PRAGMA integrity_check") == "ok"


def test_a_store_that_another_process_has_open_is_not_touched(
    old_path: str, reports: list[str]
) -> None:
    with closing(sqlite3.connect(old_path)) as other:
        other.execute("SELECT * FROM sessions").fetchall()
        with pytest.raises(StoreUnavailable, match="another process has it open") as caught:
            SQLiteStore(old_path, busy_seconds=0.1)
        assert "holdfast serve" in caught.value.hint
        other.execute("DELETE FROM sessions")
        other.commit()
        assert reports == []
    assert list_sessions(old_path) == []
    assert list_files(old_path) == ["holdfast.db", SET_ASIDE_NAME]


def test_a_store_stays_in_a_read_only_folder(old_path: str, reports: list[str]) -> None:
    with make_read_only(Path(old_path).parent), pytest.raises(StoreUnavailable) as caught:
        SQLiteStore(old_path)
    assert not isinstance(caught.value, StoreDamaged)
    assert list_files(old_path) == ["holdfast.db"]
    assert query_value(old_path, "SELECT id FROM sessions") == "old"
    assert reports == []
    assert list_sessions(old_path) == []
    assert len(reports) == 1


def test_a_store_without_a_write_ahead_log_stays_in_a_read_only_folder(
    old_path: str, reports: list[str]
) -> None:
    """Without write-ahead logging SQLite can read the file, and renaming it fails."""
    with closing(sqlite3.connect(old_path)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
    with (
        make_read_only(Path(old_path).parent),
        pytest.raises(StoreUnavailable, match=r"(?i)read-?only"),
    ):
        SQLiteStore(old_path)
    assert list_files(old_path) == ["holdfast.db"]
    assert reports == []


@pytest.mark.usefixtures("salvage_in_this_process")
def test_a_damaged_store_of_the_first_edition_is_set_aside_as_damaged(
    old_path: str, reports: list[str]
) -> None:
    with open(old_path, "r+b") as file:
        file.truncate(4096)
    with pytest.raises(StoreDamaged, match="it is now"):
        SQLiteStore(old_path)
    assert os.path.getsize(find_set_aside(old_path)) == 4096
    assert reports == []


def test_the_ledger_of_the_first_edition_is_set_aside(path: str, reports: list[str]) -> None:
    ledger = os.path.join(os.path.dirname(path), "ledger.db")
    open_local_ledger(ledger).database.close()
    make_first_edition(ledger, 8)
    with closing(open_local_ledger(ledger).database) as database:
        assert database.run("SELECT count(*) AS n FROM tasks")[0] == [{"n": 0}]
    assert list_files(path) == ["ledger.db", "ledger.db.first-edition"]
    assert len(reports) == 1


def test_the_index_of_the_first_edition_is_set_aside(path: str, reports: list[str]) -> None:
    index = os.path.join(os.path.dirname(path), "recall.db")
    with SearchIndex(index) as opened:
        opened.execute_many("add_project", [("/p",)])
    make_first_edition(index, 3)
    with SearchIndex(index) as fresh:
        assert fresh.fetch_one("project", ("/p",)) is None
    assert list_files(path) == ["recall.db", "recall.db.first-edition"]
    assert os.stat(index).st_mode & 0o077 == 0
    assert query_value(f"{index}.first-edition", "SELECT path FROM projects") == "/p"
    assert len(reports) == 1


def test_a_program_that_uses_the_library_is_warned(
    old_path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A hook that ran in this process may have replaced the function.
    monkeypatch.setattr(sqlite_migrations, "report", sqlite_migrations._warn)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ConversationStore(old_path).close()
        ConversationStore(old_path).close()
    assert ["first edition" in str(warning.message) for warning in caught] == [True]


@pytest.fixture
def recreated(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first edition creates its store again each time it was set aside."""
    really_set_aside = first_edition.set_aside

    def set_aside(path: str, busy_seconds: float) -> None:
        really_set_aside(path, busy_seconds)
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TABLE sessions (id)")
        make_first_edition(path)

    monkeypatch.setattr(first_edition, "set_aside", set_aside)


@pytest.mark.usefixtures("recreated", "reports")
def test_a_store_recreated_by_the_first_edition_is_an_error(old_path: str) -> None:
    with pytest.raises(StoreUnavailable, match="again and again"):
        SQLiteStore(old_path)
