"""Eight processes want the same store at the same moment: to make it, or to migrate it."""

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
from tests.unit.store.store_file import TODAY, ask, names, save, save_today, sessions, tomorrow


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "state" / "holdfast.db")


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
        sqlite_migrations.STORE_MIGRATIONS = (migrations, TODAY + 1)
    line.wait(30)
    with closing(SQLiteStore(path, busy_seconds=10)) as store:
        assert save(store, session)


def test_eight_processes_that_all_want_to_make_the_store_share_one(path: str) -> None:
    assert all_at_once(path) == [0] * 8
    assert names(path) == ["holdfast.db"]
    assert sessions(path) == [f"s{n}" for n in range(8)]
    assert ask(path, "PRAGMA integrity_check") == "ok"
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600


def test_eight_processes_that_all_want_to_migrate_the_store_do_it_once(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    next_version = tomorrow(tmp_path / "migrations", monkeypatch)
    save_today(path, "before")
    assert all_at_once(path, str(next_version)) == [0] * 8
    assert sessions(path) == ["before", *(f"s{n}" for n in range(8))]
    assert names(path) == ["holdfast.db", f"holdfast.db.v{TODAY}.bak"]
    assert ask(f"{path}.v{TODAY}.bak", "SELECT group_concat(id) FROM sessions") == "before"
