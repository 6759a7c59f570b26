"""Flipped bits in the databases, and transcripts that are cut or garbled."""

from __future__ import annotations

import json
import shutil
import signal
import sqlite3
import subprocess
import sys
import urllib.error
from contextlib import closing, suppress
from pathlib import Path

from tests.process.hook_session import HookSession
from tests.process.serving import Server, retry_while_unavailable
from tests.torture.report import Run

DATABASES = ("holdfast.db", "ledger.db", "recall.db")
# The events of a compaction in their order, with what they need.
COMPACTION = (
    ("PreCompact", {}), ("SubagentStop", {}), ("SessionStart", {"source": "compact"}),
    ("PostCompact", {}), ("UserPromptSubmit", {}), ("Stop", {}),
)  # fmt: skip
MAX_FLIPS = 20
ACTIONS = 300
# SQLite's errors, and one in its message.
UNREADABLE = (sqlite3.Error, UnicodeDecodeError)


def run(run: Run, folder: Path) -> None:
    store, ledger, transcripts = run.split(3)
    flip_bits_under_hooks(store, folder / "store")
    flip_bits_in_the_ledger(ledger, folder / "ledger")
    garble_transcripts(transcripts, folder / "transcripts")


def flip_bits_under_hooks(run: Run, folder: Path) -> None:
    """Hooks exit 0 and print guidance and brief all the same, and the next turn is saved."""
    original = _make_session(folder / "original")
    number = 0
    while run.has_time():
        number += 1
        session = _copy_session(original, folder / str(number))
        name = run.random.choice(DATABASES)
        _flip_bits(run, session.home / name)
        row = run.row(f"hooks on a damaged {name}", "hooks")
        results = {event: session.run_hook(event, **fields) for event, fields in COMPACTION}
        for event, result in results.items():
            row.check((result.exit_code, result.stderr) == (0, ""), f"{event}: {result}"[:300])
        printed = bool(results["PreCompact"].stdout and results["SessionStart"].stdout)
        run.row(f"compactions with a damaged {name}", "briefs").check(printed, f"copy {number}")
        session.run_hook("Stop")
        with suppress(AssertionError, *UNREADABLE):
            is_whole = session.read_row()["state"] == session.fold_transcript()
            run.row("sessions after damage", "sessions").check(is_whole, f"copy {number}, {name}")
        doctor = _run(session, "doctor", "--json")
        run.row("`doctor` on damage", "runs").check(
            doctor.returncode in (0, 1), doctor.stderr[-300:]
        )
        shutil.rmtree(session.root, ignore_errors=True)


def flip_bits_in_the_ledger(run: Run, folder: Path) -> None:
    """A server on a damaged ledger keeps every row that can be read, and the old file."""
    home = folder / "original"
    server = Server(home)
    for _ in range(ACTIONS):
        server.post_action()
    server.stop()
    _checkpoint(home / "ledger.db")
    number = 0
    while run.has_time():
        number += 1
        copy = folder / str(number)
        shutil.copytree(home, copy)
        _flip_bits(run, copy / "ledger.db")
        damaged = (copy / "ledger.db").read_bytes()
        readable = _read_action_ids(copy / "ledger.db")
        row = run.row("readable rows of damaged ledgers", "rows")
        try:
            server = Server(copy)
        except AssertionError as problem:
            run.row("servers on a damaged ledger", "starts").check(False, str(problem)[:300])
            continue
        with suppress(urllib.error.HTTPError):
            retry_while_unavailable(server.post_action)
        server.stop_with(signal.SIGKILL)
        kept = _read_action_ids(copy / "ledger.db")
        for ident in readable:
            row.check(ident in kept, f"copy {number}: action {ident}")
        files = [file.read_bytes() for file in copy.iterdir() if "ledger" in file.name]
        is_same = len(kept) >= len(readable)
        run.row("damaged ledgers", "files").check(
            is_same and (damaged in files or kept >= readable), f"copy {number}"
        )
        shutil.rmtree(copy, ignore_errors=True)


def garble_transcripts(run: Run, folder: Path) -> None:
    """Cut, flip or repeat parts of a transcript: hooks exit 0 and a brief comes out."""
    row = run.row("hooks on garbled transcripts", "hooks")
    number = 0
    while run.has_time():
        number += 1
        session = HookSession(root=folder / str(number))
        session.write(session.demo.before)
        data = bytearray(session.transcript.read_bytes())
        for _ in range(run.random.randint(1, MAX_FLIPS)):
            at = run.random.randrange(len(data))
            choice = run.random.randrange(4)
            if choice == 0:
                data[at] ^= 1 << run.random.randrange(8)
            elif choice == 1:
                del data[at : at + run.random.randint(1, 5000)]
            elif choice == 2:
                data[at:at] = run.random.randbytes(run.random.randint(1, 300))
            else:
                data[at:at] = data[at : at + 3000]
        session.transcript.write_bytes(data)
        results = [session.run_hook(event, **fields) for event, fields in COMPACTION]
        for (event, _), result in zip(COMPACTION, results, strict=True):
            row.check((result.exit_code, result.stderr) == (0, ""), f"{event}: {result}"[:300])
        run.row("compactions with a garbled transcript", "briefs").check(
            bool(results[2].stdout), f"transcript {number}"
        )
        shutil.rmtree(session.root, ignore_errors=True)


def _make_session(root: Path) -> HookSession:
    """A session with a store, a ledger and an index, at the moment before a compaction."""
    session = HookSession(root=root)
    session.write(session.demo.before)
    session.run_hook("Stop")
    _run(session, "recall", "backoff", "--all-projects")
    server = Server(session.home)
    server.post_action()
    server.stop()
    for name in DATABASES:
        _checkpoint(session.home / name)
    return session


def _copy_session(original: HookSession, root: Path) -> HookSession:
    """A copy whose store names the original's transcript, which is not changed."""
    shutil.copytree(original.root, root)
    session = HookSession(root=root)
    session.demo = original.demo
    return session


def _checkpoint(database: Path) -> None:
    """Move everything from the write-ahead log into the database file."""
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _flip_bits(run: Run, file: Path) -> None:
    """Flip some bits anywhere, or overwrite one page with noise."""
    data = bytearray(file.read_bytes())
    if run.random.random() < 0.3:
        page = 4096 * run.random.randrange(len(data) // 4096)
        data[page : page + 4096] = run.random.randbytes(4096)
    for _ in range(run.random.randint(1, MAX_FLIPS)):
        data[run.random.randrange(len(data))] ^= 1 << run.random.randrange(8)
    file.write_bytes(data)


def _read_action_ids(database: Path) -> set[str]:
    """The ids of all rows that SQLite can still read, one row at a time."""
    found: set[str] = set()
    for at in range(1, ACTIONS + 50):
        with suppress(*UNREADABLE), closing(sqlite3.connect(database)) as connection:
            row = connection.execute("SELECT * FROM actions WHERE rowid = ?", (at,)).fetchone()
            if row is not None and isinstance(row[0], str):
                found.add(row[0])
    return found


def _run(session: HookSession, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**session.environment, "HOME": str(session.root), "PATH": "/usr/bin:/bin"}
    process = subprocess.run(
        [sys.executable, "-m", "holdfast", *words], env=environment, cwd=session.root,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if words[0] == "doctor":
        with suppress(ValueError):
            json.loads(process.stdout)
    return process
