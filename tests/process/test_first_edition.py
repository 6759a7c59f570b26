"""Hooks and commands with a store of the first edition: it is set aside and nothing is lost."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.demo import append_lines, load_demo
from holdfast.ledger.connect import open_local_ledger
from holdfast.search.index_db import SearchIndex
from holdfast.store import sqlite_migrations
from holdfast.store.sqlite import SQLiteStore
from tests.faulty_disks import make_read_only
from tests.terminal import Terminal
from tests.unit.store.store_file import (
    CURRENT_VERSION,
    NEXT_MIGRATION,
    list_sessions,
    make_first_edition,
    query_value,
    save_session,
)

from .hook_session import HookSession, list_files, wait_for_hook

SET_ASIDE = "holdfast.db.first-edition"
SESSION_ID = "0a1b2c3d-0000-4000-8000-000000000001"
OPEN_STORE = "import sys; from holdfast.store.sqlite import SQLiteStore; SQLiteStore(sys.argv[1])"
# Writes a row and is killed, so that the row is only in the write-ahead log.
WRITE_AND_DIE = """
import os, signal, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA wal_autocheckpoint = 0")
connection.execute("INSERT INTO hooks_seen VALUES ('claude-code', 'Stop', 1, 1, 1, 'old')")
os.kill(os.getpid(), signal.SIGKILL)
"""
KILLS = 25


def make_old_store(path: Path) -> None:
    """A store of the first edition with a session in its file and a row in its write-ahead log."""
    with closing(SQLiteStore(str(path))) as store:
        save_session(store, "old")
    make_first_edition(str(path))
    subprocess.run([sys.executable, "-c", WRITE_AND_DIE, str(path)], check=False)
    assert (path.parent / "holdfast.db-wal").stat().st_size


def assert_store_is_complete(path: Path) -> None:
    assert query_value(str(path), "PRAGMA user_version") == 4
    assert query_value(str(path), "PRAGMA integrity_check") == "ok"
    assert query_value(str(path), "SELECT id FROM sessions") == "old"
    assert query_value(str(path), "SELECT last_session FROM hooks_seen") == "old"


def test_a_hook_sets_the_old_store_aside_logs_it_and_saves(session: HookSession) -> None:
    make_old_store(session.database)
    session.write(session.demo.before)
    assert session.run_hook("Stop").is_silent
    assert session.read_row()["state"] == session.fold_transcript()
    assert_store_is_complete(session.home / SET_ASIDE)
    (line,) = session.read_log()
    for words in ("first edition", str(session.home / SET_ASIDE), "holdfast recover", "~/.claude"):
        assert words in line
    assert session.run_hook("Stop").is_silent
    assert len(session.read_log()) == 1


def test_one_of_eight_concurrent_hooks_sets_the_old_store_aside_and_all_save(
    tmp_path: Path,
) -> None:
    hook_sessions = [HookSession(root=tmp_path, session_id=f"s{number}") for number in range(8)]
    first = hook_sessions[0]
    make_old_store(first.database)
    for session in hook_sessions:
        session.write(session.demo.before)
    processes = [session.start_hook("Stop") for session in hook_sessions]
    for process in processes:
        assert wait_for_hook(process).is_silent
    assert len(first.read_log()) == 1, first.read_log()
    set_aside = [name for name in list_files(first.home) if "first-edition" in name]
    assert set_aside == [SET_ASIDE]
    assert_store_is_complete(first.home / SET_ASIDE)
    for session in hook_sessions:
        assert session.read_row()["state"] == session.fold_transcript()
    assert query_value(str(first.database), "PRAGMA integrity_check") == "ok"


def test_a_hook_in_a_read_only_home_is_silent_and_leaves_the_store(session: HookSession) -> None:
    make_old_store(session.database)
    session.write(session.demo.before)
    before = list_files(session.home)
    with make_read_only(session.home):
        assert session.run_hook("Stop").is_silent
    assert list_files(session.home) == before
    assert len(session.read_log()) == 1
    assert session.run_hook("Stop").is_silent
    assert_store_is_complete(session.home / SET_ASIDE)
    assert session.read_row()["state"] == session.fold_transcript()


def test_a_hook_does_not_take_the_store_from_a_running_first_edition(session: HookSession) -> None:
    make_old_store(session.database)
    session.write(session.demo.before)
    with closing(sqlite3.connect(session.database)) as first_edition:
        first_edition.execute("SELECT * FROM sessions").fetchall()
        assert session.run_hook("Stop").is_silent
        (line,) = session.read_log()
        assert "another process has it open" in line
        first_edition.execute("UPDATE hooks_seen SET times = 2")
        first_edition.commit()
    assert session.run_hook("Stop").is_silent
    assert_store_is_complete(session.home / SET_ASIDE)
    assert query_value(str(session.home / SET_ASIDE), "SELECT times FROM hooks_seen") == 2
    assert session.read_row()["state"] == session.fold_transcript()


def test_a_process_killed_while_it_sets_the_old_store_aside_loses_nothing(tmp_path: Path) -> None:
    template = tmp_path / "template"
    make_old_store(template / "holdfast.db")
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", "from holdfast.store import sqlite"], check=True)
    startup_seconds = time.perf_counter() - started
    generator = random.Random(1811)
    for number in range(KILLS):
        home = tmp_path / str(number)
        shutil.copytree(template, home)
        path = home / "holdfast.db"
        process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", OPEN_STORE, str(path)], stderr=subprocess.DEVNULL
        )
        time.sleep(startup_seconds * generator.uniform(0.7, 1.5))
        process.kill()
        process.wait()
        with pytest.MonkeyPatch.context() as monkeypatch:
            monkeypatch.setattr(sqlite_migrations, "report", lambda _: None)
            assert list_sessions(str(path)) == []
        assert [name for name in list_files(home) if "first-edition" in name] == [SET_ASIDE]
        assert_store_is_complete(home / SET_ASIDE)


def test_a_process_killed_during_a_migration_leaves_the_store_unchanged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "home" / "holdfast.db")
    with closing(SQLiteStore(path)) as store:
        save_session(store, "s1")
    folder = tmp_path / "migrations"
    shutil.copytree(sqlite_migrations.STORE_MIGRATIONS[0], folder)
    (folder / NEXT_MIGRATION).write_text("CREATE TABLE one (x);\nCREATE TABLE two (x);\n")
    program = f"""
import os, signal
from holdfast.store import sqlite_migrations, sqlite
def yield_and_die(folder, after):
    yield "CREATE TABLE one (x)"
    os.kill(os.getpid(), signal.SIGKILL)
sqlite_migrations._list_statements = yield_and_die
sqlite_migrations.STORE_MIGRATIONS = ({str(folder)!r}, {CURRENT_VERSION + 1})
sqlite.SQLiteStore({path!r})
"""
    process = subprocess.run([sys.executable, "-c", program], check=False)
    assert process.returncode == -9
    assert query_value(path, "PRAGMA user_version") == CURRENT_VERSION
    assert query_value(path, "SELECT count(*) FROM sqlite_master WHERE name IN ('one', 'two')") == 0
    monkeypatch.setattr(sqlite_migrations, "STORE_MIGRATIONS", (str(folder), CURRENT_VERSION + 1))
    assert list_sessions(path) == ["s1"]
    assert query_value(path, "SELECT count(*) FROM sqlite_master WHERE name IN ('one', 'two')") == 2


@pytest.fixture
def home(terminal: Terminal) -> Path:
    """A home of the first edition; Claude Code's folder has a transcript."""
    make_old_store(terminal.store / "holdfast.db")
    open_local_ledger(str(terminal.store / "ledger.db")).database.close()
    make_first_edition(str(terminal.store / "ledger.db"), 8)
    SearchIndex(str(terminal.store / "recall.db")).close()
    make_first_edition(str(terminal.store / "recall.db"), 3)
    folder = terminal.home / ".claude" / "projects" / "-project"
    folder.mkdir(parents=True)
    demo = load_demo(str(terminal.project), SESSION_ID, 1_790_000_000.0)
    append_lines(str(folder / f"{SESSION_ID}.jsonl"), demo.before)
    return terminal.store


@pytest.mark.usefixtures("home")
def test_a_command_reports_the_old_store_and_recover_reads_the_transcripts_again(
    terminal: Terminal,
) -> None:
    status = terminal.run_process("status", "--all", "--json")
    assert status.returncode == 0
    assert b'"sessions": []' in status.stdout
    assert status.stderr.count(b"\n") == 1
    assert status.stderr.startswith(b"note: ")
    assert b"holdfast recover FOLDER" in status.stderr
    recover = terminal.run_process("recover", terminal.home / ".claude" / "projects")
    assert recover.returncode == 0
    assert b"1 of 1 transcripts" in recover.stderr
    assert SESSION_ID.encode() in terminal.run_process("status", "--json").stdout
    assert b"Never touch anything under migrations/" in terminal.run_process("brief").stdout
    assert terminal.run_process("recall", "migrations").returncode == 0
    assert "recall.db.first-edition" in os.listdir(terminal.store)


def test_doctor_reports_a_store_that_was_set_aside(terminal: Terminal, home: Path) -> None:
    report = terminal.run_process("doctor").stdout.decode()
    assert f"set aside: {SET_ASIDE}" in report
    assert "holdfast recover FOLDER" in report
    (home / SET_ASIDE).unlink()
    assert "first edition" not in terminal.run_process("doctor").stdout.decode()
