"""`holdfast doctor` shows no ✓ for a database that is damaged, locked or cannot be written."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from holdfast import processes
from holdfast import settings as holdfast_settings
from holdfast.ledger.connect import open_local_ledger
from holdfast.search.index_db import SearchIndex
from holdfast.services.doctor import database_checks
from holdfast.services.doctor.database_checks import check_databases, find_set_aside
from holdfast.services.doctor.hook_checks import Finding
from holdfast.settings import Settings
from holdfast.store.sqlite import SQLiteStore
from tests.faulty_disks import make_read_only, mount_small_disk

NAMES = ("store", "ledger", "search index")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    return holdfast_settings.load({"HOLDFAST_HOME": str(home)}, str(tmp_path))


def create_databases(settings: Settings) -> dict[str, Path]:
    SQLiteStore(settings.database).close()
    open_local_ledger(settings.ledger).database.close()
    SearchIndex(settings.index).close()
    paths = (settings.database, settings.ledger, settings.index)
    return {name: Path(path) for name, path in zip(NAMES, paths, strict=True)}


def check(settings: Settings) -> dict[str, Finding]:
    return {finding.name: finding for finding in check_databases(settings)}


def get_statuses(findings: dict[str, Finding]) -> dict[str, str]:
    return {name: finding.status for name, finding in findings.items()}


def test_three_databases_that_work_are_ok_and_unchanged(settings: Settings) -> None:
    paths = create_databases(settings)
    before = [path.read_bytes() for path in paths.values()]
    assert get_statuses(check(settings)) == dict.fromkeys(NAMES, "ok")
    assert [path.read_bytes() for path in paths.values()] == before
    assert sorted(os.listdir(settings.home)) == sorted(path.name for path in paths.values())


def test_databases_that_do_not_exist_are_not_created(settings: Settings) -> None:
    assert get_statuses(check(settings)) == {"store": "info"}
    assert os.listdir(settings.home) == []


def test_a_full_disk_is_a_failure_of_each(settings: Settings) -> None:
    with mount_small_disk(Path(settings.home), 1000):
        create_databases(settings)
        with open(os.path.join(settings.home, "filler"), "wb", buffering=0) as file:
            with suppress(OSError):
                while file.write(b"x" * 4096):
                    pass
            findings = check(settings)
        assert get_statuses(findings) == dict.fromkeys(("home", *NAMES), "fail")
        for finding in findings.values():
            assert "full" in finding.detail
            assert "make room" in finding.hint


def test_a_read_only_home_is_a_failure_of_each(settings: Settings) -> None:
    create_databases(settings)
    with make_read_only(Path(settings.home)):
        findings = check(settings)
    assert get_statuses(findings) == dict.fromkeys(("home", *NAMES), "fail")
    for finding in findings.values():
        assert "cannot be written" in finding.detail
        assert "HOLDFAST_HOME" in finding.hint


def test_a_home_that_is_a_file_is_a_failure(settings: Settings) -> None:
    os.rmdir(settings.home)
    Path(settings.home).write_text("not a folder")
    assert check(settings)["home"].status == "fail"


def test_a_database_that_another_process_locks_is_a_failure(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_checks, "LOCK_TIMEOUT_SECONDS", 0.01)
    for name, path in create_databases(settings).items():
        with closing(sqlite3.connect(path, isolation_level=None)) as other_process:
            other_process.execute("BEGIN IMMEDIATE")
            findings = check(settings)
        assert get_statuses(findings) == {**dict.fromkeys(NAMES, "ok"), name: "fail"}
        assert "another process" in findings[name].detail
        assert findings[name].hint


def damage_page(path: Path, number: int) -> None:
    with path.open("r+b") as file:
        file.seek((number - 1) * 4096)
        file.write(b"\xa5" * 4096)


@pytest.fixture
def salvaged(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """A function that does what the process would that is started for a damaged database."""
    started: list[tuple[str, ...]] = []
    monkeypatch.setattr(
        processes, "start_process", lambda *words: started.append(words[2:]) or 999_999_999
    )
    from holdfast.store import salvage

    def run() -> None:
        while started:
            salvage.salvage(*started.pop())

    yield run
    while salvage.OPEN_CONNECTIONS:
        salvage.OPEN_CONNECTIONS.pop().close()


def test_a_damaged_database_is_a_failure_and_salvaged(
    settings: Settings, salvaged: Callable[[], None]
) -> None:
    paths = create_databases(settings)
    for name in NAMES[:2]:
        with closing(sqlite3.connect(paths[name])) as connection:
            (root,) = connection.execute(
                "SELECT rootpage FROM sqlite_master WHERE type = 'index' ORDER BY 1 DESC"
            ).fetchone()
        damage_page(paths[name], root)
        findings = check(settings)
        assert get_statuses(findings) == {**dict.fromkeys(NAMES, "ok"), name: "fail"}
        assert "it is now" in findings[name].detail
        findings = check(settings)
        assert findings[name].status == "fail", "it is not done yet"
        assert "being copied" in findings[name].detail
        salvaged()
        assert get_statuses(check(settings)) == dict.fromkeys(NAMES, "ok")
    set_aside = [*find_set_aside(settings.home)]
    assert [finding.status for finding in set_aside] == ["warn", "warn"]
    assert all("copied: no rows" in finding.detail for finding in set_aside)


def test_the_rows_that_were_copied_and_lost_are_reported(
    settings: Settings, salvaged: Callable[[], None]
) -> None:
    path = create_databases(settings)["ledger"]
    with closing(sqlite3.connect(path)) as connection, connection:
        for number in range(100):
            connection.execute(
                "INSERT INTO project_paths VALUES (?, ?, 1)", (f"/{number}", "x" * 1000)
            )
    with closing(sqlite3.connect(path)) as connection:
        query = "SELECT pageno FROM dbstat WHERE name = 'project_paths' AND pagetype = 'leaf'"
        try:
            (page,) = connection.execute(query).fetchone()
        except sqlite3.OperationalError:
            pytest.skip("this SQLite has no dbstat")
    damage_page(path, page)
    assert check(settings)["ledger"].status == "fail"
    salvaged()
    (finding,) = find_set_aside(settings.home)
    assert "copied: 96 of project_paths; not readable: 4 of project_paths" in finding.detail
    assert f"{path}.damaged-" in finding.detail


def test_a_damaged_index_is_a_failure_until_it_is_made_again(settings: Settings) -> None:
    path = create_databases(settings)["search index"]
    damage_page(path, path.stat().st_size // 4096)
    finding = check(settings)["search index"]
    assert finding.status == "fail"
    assert "holdfast index rebuild" in finding.hint
