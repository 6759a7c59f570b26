"""kill -9 at any moment, and many hooks at one time: nothing that was saved is ever lost."""

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

from .scene import Fired, Scene, files

KILLS = 50
# Which moments are hit is chance; that they are spread over the whole life of a hook is not.
CHANCE = random.Random(2206)


def snapshots(scene: Scene) -> dict[str, SnapshotRow]:
    with scene.store() as store:
        return {row["id"]: row for row in store.snapshots(scene.session, 1000)}


def check(database: Path) -> list[str]:
    with closing(sqlite3.connect(database)) as store:
        found = [row[0] for row in store.execute("PRAGMA integrity_check")]
        orphans = store.execute("PRAGMA foreign_key_check").fetchall()
    return [*found, *map(str, orphans)]


def life_time(*scenes: Scene) -> float:
    """How long a PreCompact hook lives here and now, in seconds."""
    spent = []
    for scene in scenes:
        started = time.perf_counter()
        assert scene.fire("PreCompact").code == 0
        spent.append(time.perf_counter() - started)
    return sorted(spent)[len(spent) // 2]


def moments(life: float) -> list[float]:
    """One moment in each fiftieth of a life and a bit, in no order."""
    found = [life * 1.15 * (n + CHANCE.random()) / KILLS for n in range(KILLS)]
    CHANCE.shuffle(found)
    return found


def kill_after(process: subprocess.Popen[bytes], seconds: float) -> int:
    with process:
        time.sleep(seconds)
        process.kill()
    return process.returncode


def kill_in_mid_write(process: subprocess.Popen[bytes], log: Path, size: int) -> int:
    """Kill it when the write-ahead log has grown beyond that size; what size it had in the end."""
    with process:
        while process.poll() is None and length(log) <= size:
            pass
        process.kill()
    return length(log)


def length(file: Path) -> int:
    try:
        return os.stat(file).st_size
    except FileNotFoundError:
        return 0


def test_a_hook_killed_at_any_moment_loses_nothing(scene: Scene) -> None:
    lines = scene.demo.before
    scene.write(lines[: len(lines) // 2])
    life = life_time(*[scene] * 5)
    before = snapshots(scene)
    codes = []
    for n, moment in enumerate(moments(life)):
        # Something new each time, so that every hook has something to write.
        rest = lines[len(lines) // 2 :]
        scene.write(rest[n * len(rest) // KILLS : (n + 1) * len(rest) // KILLS])
        codes.append(kill_after(scene.start("PreCompact"), moment))
        assert check(scene.database) == ["ok"], f"killed after {moment:.4f} s of {life:.4f}"
        after = snapshots(scene)
        assert {name: after.get(name) for name in before} == before
        assert set(codes) <= {0, -9}
        before = after
    assert codes.count(-9) >= KILLS // 5, "hardly a hook was killed, so nothing was tried"
    assert scene.fire("Stop").is_silent
    assert scene.row()["state"] == scene.folded()
    assert scene.fire("PreCompact").code == 0
    assert len(snapshots(scene)) == len(before) + 1
    assert scene.log() == []


def test_a_hook_killed_while_it_commits_leaves_the_store_as_it_was(scene: Scene) -> None:
    """A commit takes a moment that chance rarely meets, so here the kill waits for it."""
    scene.write(scene.demo.before)
    life_time(*[scene] * 2)
    log = scene.home / "holdfast.db-wal"
    torn = 0
    for n in range(30):
        before = snapshots(scene)
        scene.write(scene.demo.before[:3])
        left = kill_in_mid_write(scene.start("PreCompact"), log, 32 + n % 8 * 4120)
        assert check(scene.database) == ["ok"], f"killed with {left} bytes in the log"
        after = snapshots(scene)
        assert {name: after.get(name) for name in before} == before
        torn += left > 32 and after == before
        if torn == 3:
            break
    scene.fire("Stop")
    assert scene.row()["state"] == scene.folded()
    assert scene.log() == []


def test_a_killed_hook_saved_all_or_nothing(scene: Scene) -> None:
    """Snapshot, compaction and the mark for the doctor are one transaction."""
    scene.write(scene.demo.before)
    life = life_time(*[scene] * 5)
    for moment in moments(life)[: KILLS // 2]:
        kill_after(scene.start("PreCompact"), moment)
        with scene.store() as store:
            newest = store.snapshots("s1", 1000)
            (compaction,) = store.compactions("s1")
            (seen,) = store.hook_runs()
        assert len(newest) == seen["times"]
        assert compaction["snapshot"] in {row["id"] for row in newest}


def test_a_hook_killed_while_it_makes_the_store_leaves_room_for_the_next(scene: Scene) -> None:
    others = [Scene(root=scene.root / f"home{n}") for n in range(23)]
    for other in others:
        other.write(other.demo.before)
    life = life_time(*others[:3])
    for other, moment in zip(others[3:], moments(life), strict=False):
        kill_after(other.start("PreCompact"), moment)
        assert other.fire("PreCompact").out
        assert check(other.database) == ["ok"]
        assert other.log() == []


# Many at once


def assert_all_went_well(fired: list[Fired]) -> None:
    assert [(one.code, one.err) for one in fired] == [(0, "")] * len(fired)


TOGETHER = [
    "Stop", "PreCompact", "UserPromptSubmit", "Stop",
    "PreCompact", "UserPromptSubmit", "PreCompact", "Stop",
]  # fmt: skip


@pytest.mark.parametrize("known", [False, True], ids=["a new session", "a known session"])
def test_eight_hooks_at_once_save_what_one_would(scene: Scene, known: bool) -> None:
    half = len(scene.demo.before) // 2
    scene.write(scene.demo.before[:half])
    if known:
        scene.fire("Stop")
    scene.write(scene.demo.before[half:])
    assert_all_went_well(scene.at_once(*TOGETHER))
    assert scene.row()["state"] == scene.folded()
    saved = snapshots(scene).values()
    assert [row["state"] == scene.folded() for row in saved] == [True] * 3, "no snapshot is lost"
    with scene.store() as store:
        assert sum(row["times"] for row in store.hook_runs()) == 8 + known
    # A process that indexes names may still have the store open.
    assert [name for name in files(scene.home) if not name.endswith(("-wal", "-shm"))] == [
        "holdfast.db"
    ]
    assert scene.log() == []


def test_hooks_that_overtake_each_other_while_the_log_grows_lose_no_line(scene: Scene) -> None:
    done = threading.Event()

    def grow() -> None:
        for line in scene.demo.before:
            scene.write([line])
            time.sleep(0.003)
        done.set()

    writer = threading.Thread(target=grow)
    writer.start()
    rounds = 0
    while not done.is_set():
        assert_all_went_well(scene.at_once("Stop", "UserPromptSubmit", "PreCompact"))
        rounds += 1
    writer.join()
    assert rounds > 1
    scene.fire("Stop")
    assert scene.row()["state"] == scene.folded()
    assert len(snapshots(scene)) == rounds
    assert scene.log() == []


def test_sessions_whose_names_are_alike_stay_apart(scene: Scene) -> None:
    one, ten = scene, Scene(root=scene.root, session="s10")
    one.write(one.demo.before)
    ten.write(ten.demo.before[:60])
    running = [side.start(event) for event in TOGETHER[:4] for side in (one, ten)]
    for process in running:
        process.communicate(timeout=30)
    assert [process.returncode for process in running] == [0] * 8
    assert one.row()["state"] == one.folded() != ten.folded()
    assert ten.row()["state"] == ten.folded()
    assert len(snapshots(one)) == len(snapshots(ten)) == 1
    assert ten.fire("SessionStart", source="compact").brief
    assert [row["brief_id"] for row in one.compactions()] == [None]
    one.fire("SessionEnd")
    assert ten.row()["ended_at"] is None
