"""A home of the first edition, as hooks and commands find it: nothing is lost, work goes on."""

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
from tests.terminal import Terminal
from tests.unit.store.store_file import NEXT, TODAY, ask, make_first_edition, save, sessions
from tests.weather import read_only

from .scene import Scene, files

ASIDE = "holdfast.db.first-edition"
SESSION = "0a1b2c3d-0000-4000-8000-000000000001"
OPEN = "import sys; from holdfast.store.sqlite import SQLiteStore; SQLiteStore(sys.argv[1])"
# Saves a session and is killed: what it wrote is in the write-ahead log only.
SAVE_AND_DIE = """
import os, signal, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA wal_autocheckpoint = 0")
connection.execute("INSERT INTO hooks_seen VALUES ('claude-code', 'Stop', 1, 1, 1, 'old')")
os.kill(os.getpid(), signal.SIGKILL)
"""
KILLS = 25


def old_store(path: Path) -> None:
    """A store of the first edition: a session in the file, a hook's mark in the log."""
    with closing(SQLiteStore(str(path))) as store:
        save(store, "old")
    make_first_edition(str(path))
    subprocess.run([sys.executable, "-c", SAVE_AND_DIE, str(path)], check=False)
    assert (path.parent / "holdfast.db-wal").stat().st_size


def assert_everything_is_in(aside: Path) -> None:
    assert ask(str(aside), "PRAGMA user_version") == 4
    assert ask(str(aside), "PRAGMA integrity_check") == "ok"
    assert ask(str(aside), "SELECT id FROM sessions") == "old"
    assert ask(str(aside), "SELECT last_session FROM hooks_seen") == "old"


def test_a_hook_sets_the_store_aside_logs_it_and_does_its_work(scene: Scene) -> None:
    old_store(scene.database)
    scene.write(scene.demo.before)
    assert scene.fire("Stop").is_silent
    assert scene.row()["state"] == scene.folded()
    assert_everything_is_in(scene.home / ASIDE)
    (line,) = scene.log()
    for words in ("first edition", str(scene.home / ASIDE), "holdfast recover", "~/.claude"):
        assert words in line
    assert scene.fire("Stop").is_silent
    assert len(scene.log()) == 1


def test_of_eight_hooks_at_once_one_sets_it_aside_and_all_do_their_work(tmp_path: Path) -> None:
    scenes = [Scene(root=tmp_path, session=f"s{number}") for number in range(8)]
    first = scenes[0]
    old_store(first.database)
    for scene in scenes:
        scene.write(scene.demo.before)
    running = [scene.start("Stop") for scene in scenes]
    for process in running:
        assert process.communicate(timeout=30) == (b"", b"")
        assert process.returncode == 0
    assert len(first.log()) == 1, first.log()
    aside = [name for name in files(first.home) if "first-edition" in name]
    assert aside == [ASIDE]
    assert_everything_is_in(first.home / ASIDE)
    for scene in scenes:
        assert scene.row()["state"] == scene.folded()
    assert ask(str(first.database), "PRAGMA integrity_check") == "ok"


def test_a_hook_in_a_read_only_home_is_silent_and_leaves_the_store(scene: Scene) -> None:
    old_store(scene.database)
    scene.write(scene.demo.before)
    before = files(scene.home)
    with read_only(scene.home):
        assert scene.fire("Stop").is_silent
    assert files(scene.home) == before
    assert len(scene.log()) == 1
    assert scene.fire("Stop").is_silent
    assert_everything_is_in(scene.home / ASIDE)
    assert scene.row()["state"] == scene.folded()


def test_a_hook_does_not_take_the_store_from_a_running_first_edition(scene: Scene) -> None:
    old_store(scene.database)
    scene.write(scene.demo.before)
    with closing(sqlite3.connect(scene.database)) as server:
        server.execute("SELECT * FROM sessions").fetchall()
        assert scene.fire("Stop").is_silent
        (line,) = scene.log()
        assert "another process has it open" in line
        server.execute("UPDATE hooks_seen SET times = 2")
        server.commit()
    assert scene.fire("Stop").is_silent
    assert_everything_is_in(scene.home / ASIDE)
    assert ask(str(scene.home / ASIDE), "SELECT times FROM hooks_seen") == 2
    assert scene.row()["state"] == scene.folded()


def test_a_process_killed_while_it_sets_the_store_aside_loses_nothing(tmp_path: Path) -> None:
    model = tmp_path / "model"
    old_store(model / "holdfast.db")
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", "from holdfast.store import sqlite"], check=True)
    start_up = time.perf_counter() - started
    chance = random.Random(1811)
    for number in range(KILLS):
        home = tmp_path / str(number)
        shutil.copytree(model, home)
        path = home / "holdfast.db"
        process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", OPEN, str(path)], stderr=subprocess.DEVNULL
        )
        time.sleep(start_up * chance.uniform(0.7, 1.5))
        process.kill()
        process.wait()
        with pytest.MonkeyPatch.context() as quiet:
            quiet.setattr(sqlite_migrations, "report", lambda _: None)
            assert sessions(str(path)) == []
        assert [name for name in files(home) if "first-edition" in name] == [ASIDE]
        assert_everything_is_in(home / ASIDE)


def test_a_process_killed_in_the_middle_of_a_migration_leaves_the_store_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "home" / "holdfast.db")
    with closing(SQLiteStore(path)) as store:
        save(store, "s1")
    folder = tmp_path / "migrations"
    shutil.copytree(sqlite_migrations.STORE_MIGRATIONS[0], folder)
    (folder / NEXT).write_text("CREATE TABLE one (x);\nCREATE TABLE two (x);\n")
    program = f"""
import os, signal
from holdfast.store import sqlite_migrations, sqlite
def killed(folder, after):
    yield "CREATE TABLE one (x)"
    os.kill(os.getpid(), signal.SIGKILL)
sqlite_migrations._statements = killed
sqlite_migrations.STORE_MIGRATIONS = ({str(folder)!r}, {TODAY + 1})
sqlite.SQLiteStore({path!r})
"""
    done = subprocess.run([sys.executable, "-c", program], check=False)
    assert done.returncode == -9
    assert ask(path, "PRAGMA user_version") == TODAY
    assert ask(path, "SELECT count(*) FROM sqlite_master WHERE name IN ('one', 'two')") == 0
    monkeypatch.setattr(sqlite_migrations, "STORE_MIGRATIONS", (str(folder), TODAY + 1))
    assert sessions(path) == ["s1"]
    assert ask(path, "SELECT count(*) FROM sqlite_master WHERE name IN ('one', 'two')") == 2


@pytest.fixture
def home(terminal: Terminal) -> Path:
    """A home of the first edition, and Claude Code's folder with a transcript."""
    old_store(terminal.store / "holdfast.db")
    open_local_ledger(str(terminal.store / "ledger.db")).database.close()
    make_first_edition(str(terminal.store / "ledger.db"), 8)
    SearchIndex(str(terminal.store / "recall.db")).close()
    make_first_edition(str(terminal.store / "recall.db"), 3)
    folder = terminal.home / ".claude" / "projects" / "-project"
    folder.mkdir(parents=True)
    made = load_demo(str(terminal.project), SESSION, 1_790_000_000.0)
    append_lines(str(folder / f"{SESSION}.jsonl"), made.before)
    return terminal.store


@pytest.mark.usefixtures("home")
def test_a_command_says_on_stderr_that_it_was_set_aside_and_recover_folds_it_anew(
    terminal: Terminal,
) -> None:
    told = terminal.process("status", "--all", "--json")
    assert told.returncode == 0
    assert b'"sessions": []' in told.stdout
    assert told.stderr.count(b"\n") == 1
    assert told.stderr.startswith(b"note: ")
    assert b"holdfast recover FOLDER" in told.stderr
    done = terminal.process("recover", terminal.home / ".claude" / "projects")
    assert done.returncode == 0
    assert b"1 of 1 transcripts" in done.stderr
    assert SESSION.encode() in terminal.process("status", "--json").stdout
    assert b"Never touch anything under migrations/" in terminal.process("brief").stdout
    assert terminal.process("recall", "migrations").returncode == 0
    assert "recall.db.first-edition" in os.listdir(terminal.store)


def test_doctor_finds_what_was_set_aside(terminal: Terminal, home: Path) -> None:
    found = terminal.process("doctor").stdout.decode()
    assert f"set aside: {ASIDE}" in found
    assert "holdfast recover FOLDER" in found
    (home / ASIDE).unlink()
    assert "first edition" not in terminal.process("doctor").stdout.decode()
