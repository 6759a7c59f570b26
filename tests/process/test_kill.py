"""Hooks that are killed with SIGKILL, and concurrent hooks, lose nothing that was saved."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.store.protocols import SnapshotRow

from .hook_session import HookResult, HookSession, list_files, wait_for_hook

KILLS = 50
GENERATOR = random.Random(2206)


def read_snapshots(session: HookSession) -> dict[str, SnapshotRow]:
    with session.open_store() as store:
        return {row["id"]: row for row in store.snapshots(session.session_id, 1000)}


def check_integrity(database: Path) -> list[str]:
    """The problems that SQLite finds; `["ok"]` if there are none."""
    with closing(sqlite3.connect(database)) as store:
        problems = [row[0] for row in store.execute("PRAGMA integrity_check")]
        orphans = store.execute("PRAGMA foreign_key_check").fetchall()
    return [*problems, *map(str, orphans)]


def measure_hook_seconds(*sessions: HookSession) -> float:
    """The median time that a PreCompact hook takes on this machine."""
    durations = []
    for session in sessions:
        started = time.perf_counter()
        assert session.run_hook("PreCompact").exit_code == 0
        durations.append(time.perf_counter() - started)
    return sorted(durations)[len(durations) // 2]


def choose_delays(hook_seconds: float) -> list[float]:
    """Random delays in random order that cover the whole duration of a hook evenly."""
    delays = [hook_seconds * 1.15 * (n + GENERATOR.random()) / KILLS for n in range(KILLS)]
    GENERATOR.shuffle(delays)
    return delays


def kill_after(process: subprocess.Popen[bytes], seconds: float) -> int:
    with process:
        time.sleep(seconds)
        process.kill()
    return process.returncode


def kill_during_write(process: subprocess.Popen[bytes], wal: Path, size: int) -> int:
    """Kill the hook when the write-ahead log is larger than `size`; return the log's final size."""
    with process:
        while process.poll() is None and read_size(wal) <= size:
            pass
        process.kill()
    return read_size(wal)


def read_size(file: Path) -> int:
    try:
        return os.stat(file).st_size
    except FileNotFoundError:
        return 0


def test_a_hook_killed_at_any_moment_loses_nothing(session: HookSession) -> None:
    lines = session.demo.before
    session.write(lines[: len(lines) // 2])
    hook_seconds = measure_hook_seconds(*[session] * 5)
    before = read_snapshots(session)
    exit_codes = []
    for n, delay in enumerate(choose_delays(hook_seconds)):
        # New lines for each hook, so that it has something to write.
        rest = lines[len(lines) // 2 :]
        session.write(rest[n * len(rest) // KILLS : (n + 1) * len(rest) // KILLS])
        exit_codes.append(kill_after(session.start_hook("PreCompact"), delay))
        moment = f"killed after {delay:.4f} s of {hook_seconds:.4f}"
        assert check_integrity(session.database) == ["ok"], moment
        after = read_snapshots(session)
        assert {ident: after.get(ident) for ident in before} == before
        assert set(exit_codes) <= {0, -9}
        before = after
    assert exit_codes.count(-9) >= KILLS // 5, "too few hooks were killed before they ended"
    assert session.run_hook("Stop").is_silent
    assert session.read_row()["state"] == session.fold_transcript()
    assert session.run_hook("PreCompact").exit_code == 0
    assert len(read_snapshots(session)) == len(before) + 1
    assert session.read_log() == []


def test_a_hook_killed_while_it_commits_leaves_the_store_as_it_was(session: HookSession) -> None:
    """A commit is too short for a random delay to hit, so the kill waits for the write."""
    session.write(session.demo.before)
    measure_hook_seconds(*[session] * 2)
    wal = session.home / "holdfast.db-wal"
    interrupted = 0
    for n in range(30):
        before = read_snapshots(session)
        session.write(session.demo.before[:3])
        wal_size = kill_during_write(session.start_hook("PreCompact"), wal, 32 + n % 8 * 4120)
        assert check_integrity(session.database) == ["ok"], (
            f"killed with {wal_size} bytes in the log"
        )
        after = read_snapshots(session)
        assert {ident: after.get(ident) for ident in before} == before
        interrupted += wal_size > 32 and after == before
        if interrupted == 3:
            break
    session.run_hook("Stop")
    assert session.read_row()["state"] == session.fold_transcript()
    assert session.read_log() == []


def test_a_killed_hook_saves_all_or_nothing(session: HookSession) -> None:
    """Snapshot, compaction and the count of hook runs are written in one transaction."""
    session.write(session.demo.before)
    hook_seconds = measure_hook_seconds(*[session] * 5)
    for delay in choose_delays(hook_seconds)[: KILLS // 2]:
        kill_after(session.start_hook("PreCompact"), delay)
        with session.open_store() as store:
            snapshots = store.snapshots("s1", 1000)
            (compaction,) = store.compactions("s1")
            (hook_run,) = store.hook_runs()
        assert len(snapshots) == hook_run["times"]
        assert compaction["snapshot"] in {row["id"] for row in snapshots}


def test_the_next_hook_works_after_one_was_killed_while_it_created_the_store(
    session: HookSession,
) -> None:
    others = [HookSession(root=session.root / f"home{n}") for n in range(23)]
    for other in others:
        other.write(other.demo.before)
    hook_seconds = measure_hook_seconds(*others[:3])
    for other, delay in zip(others[3:], choose_delays(hook_seconds), strict=False):
        kill_after(other.start_hook("PreCompact"), delay)
        assert other.run_hook("PreCompact").stdout
        assert check_integrity(other.database) == ["ok"]
        assert other.read_log() == []


# Concurrent hooks


def assert_all_succeeded(results: list[HookResult]) -> None:
    for result in results:
        assert (result.exit_code, result.stderr) == (0, "")


CONCURRENT_EVENTS = [
    "Stop", "PreCompact", "UserPromptSubmit", "Stop",
    "PreCompact", "UserPromptSubmit", "PreCompact", "Stop",
]  # fmt: skip


@pytest.mark.parametrize("is_stored", [False, True], ids=["a new session", "a stored session"])
def test_eight_concurrent_hooks_save_the_same_as_one(session: HookSession, is_stored: bool) -> None:
    half = len(session.demo.before) // 2
    session.write(session.demo.before[:half])
    if is_stored:
        session.run_hook("Stop")
    session.write(session.demo.before[half:])
    assert_all_succeeded(session.run_hooks_concurrently(*CONCURRENT_EVENTS))
    assert session.read_row()["state"] == session.fold_transcript()
    states = [row["state"] for row in read_snapshots(session).values()]
    assert states == [session.fold_transcript()] * CONCURRENT_EVENTS.count("PreCompact")
    with session.open_store() as store:
        assert sum(row["times"] for row in store.hook_runs()) == 8 + is_stored
    # The write-ahead log stays if the last process that used the store did not close it.
    assert [name for name in list_files(session.home) if not name.endswith(("-wal", "-shm"))] == [
        "holdfast.db"
    ]
    assert session.read_log() == []


def test_concurrent_hooks_lose_no_line_while_the_transcript_grows(session: HookSession) -> None:
    is_written = threading.Event()

    def write_lines() -> None:
        for line in session.demo.before:
            session.write([line])
            time.sleep(0.003)
        is_written.set()

    writer = threading.Thread(target=write_lines)
    writer.start()
    rounds = 0
    while not is_written.is_set():
        assert_all_succeeded(
            session.run_hooks_concurrently("Stop", "UserPromptSubmit", "PreCompact")
        )
        rounds += 1
    writer.join()
    assert rounds > 1
    session.run_hook("Stop")
    assert session.read_row()["state"] == session.fold_transcript()
    assert len(read_snapshots(session)) == rounds
    assert session.read_log() == []


def test_sessions_with_similar_ids_are_kept_apart(session: HookSession) -> None:
    one, ten = session, HookSession(root=session.root, session_id="s10")
    one.write(one.demo.before)
    ten.write(ten.demo.before[:60])
    processes = [each.start_hook(event) for event in CONCURRENT_EVENTS[:4] for each in (one, ten)]
    assert [wait_for_hook(process).exit_code for process in processes] == [0] * 8
    assert one.read_row()["state"] == one.fold_transcript() != ten.fold_transcript()
    assert ten.read_row()["state"] == ten.fold_transcript()
    assert len(read_snapshots(one)) == len(read_snapshots(ten)) == 1
    assert ten.run_hook("SessionStart", source="compact").brief
    assert [row["brief_id"] for row in one.list_compactions()] == [None]
    one.run_hook("SessionEnd")
    assert ten.read_row()["ended_at"] is None
