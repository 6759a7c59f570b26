"""Eight processes create or migrate the same store at the same moment."""

from __future__ import annotations

import multiprocessing
import os
import stat
from contextlib import closing
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest

from holdfast.store import sqlite_migrations
from holdfast.store.sqlite import SQLiteStore
from tests.unit.store.store_file import (
    CURRENT_VERSION,
    add_next_migration,
    list_files,
    list_sessions,
    query_value,
    save_in_current_version,
    save_session,
)

from .waiting import TIMEOUT_SECONDS

PROCESSES = 8


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "state" / "holdfast.db")


def open_concurrently(path: str, migrations: str = "") -> list[int | None]:
    """Open a store in eight processes at the same moment, and return their exit codes."""
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(PROCESSES)
    processes = [
        context.Process(target=open_and_save, args=(path, f"s{number}", barrier, migrations))
        for number in range(PROCESSES)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(TIMEOUT_SECONDS)
    return [process.exitcode for process in processes]


def open_and_save(path: str, session: str, barrier: Barrier, migrations: str) -> None:
    if migrations:
        sqlite_migrations.STORE_MIGRATIONS = (migrations, CURRENT_VERSION + 1)
    barrier.wait(TIMEOUT_SECONDS)
    with closing(SQLiteStore(path, busy_seconds=10)) as store:
        assert save_session(store, session)


def test_processes_that_create_the_store_concurrently_share_one(path: str) -> None:
    assert open_concurrently(path) == [0] * PROCESSES
    assert list_files(path) == ["holdfast.db"]
    assert list_sessions(path) == [f"s{n}" for n in range(PROCESSES)]
    assert query_value(path, "PRAGMA integrity_check") == "ok"
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600


def test_a_store_is_migrated_once_by_concurrent_processes(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    next_version = add_next_migration(tmp_path / "migrations", monkeypatch)
    save_in_current_version(path, "before")
    assert open_concurrently(path, str(next_version)) == [0] * PROCESSES
    assert list_sessions(path) == ["before", *(f"s{n}" for n in range(PROCESSES))]
    assert list_files(path) == ["holdfast.db", f"holdfast.db.v{CURRENT_VERSION}.bak"]
    assert (
        query_value(f"{path}.v{CURRENT_VERSION}.bak", "SELECT group_concat(id) FROM sessions")
        == "before"
    )
