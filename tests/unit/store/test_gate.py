"""Threads of one process take turns at the file; whoever fails does not keep the others out."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Lock

import pytest

from holdfast.errors import StoreUnavailable
from holdfast.ledger.actions import add_action
from holdfast.ledger.opening import local_ledger
from holdfast.ledger.tables import ACTIONS


def test_threads_write_one_after_the_other_and_nothing_is_lost(tmp_path: Path) -> None:
    gate = Lock()
    path = str(tmp_path / "ledger.db")

    def write(thread: int) -> None:
        ledger = local_ledger(path, gate=gate)
        with closing(ledger.database):
            for number in range(20):
                add_action(ledger, 1.0, tool_name="Read", ident=f"{thread}-{number}")

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(write, range(8)))
    ledger = local_ledger(path)
    with closing(ledger.database):
        assert ledger.count(ACTIONS) == 160
    assert not gate.locked()


@pytest.mark.parametrize("end", ["rollback", "close", "broken commit"])
def test_whoever_fails_leaves_the_gate_open(tmp_path: Path, end: str) -> None:
    gate = Lock()
    ledger = local_ledger(str(tmp_path / "ledger.db"), gate=gate)
    ledger.database.begin()
    assert gate.locked()
    with pytest.raises(StoreUnavailable):
        ledger.database.run("INSERT INTO nowhere VALUES (1)")
    if end == "rollback":
        ledger.database.rollback()
    elif end == "broken commit":
        # SQLite ends a transaction by itself where the disk fails.
        ledger.database.run("ROLLBACK")
        with pytest.raises(StoreUnavailable):
            ledger.database.commit()
    ledger.database.close()
    assert not gate.locked()


def test_a_file_that_another_process_holds_leaves_the_gate_open(tmp_path: Path) -> None:
    gate = Lock()
    other = local_ledger(str(tmp_path / "ledger.db"))
    mine = local_ledger(str(tmp_path / "ledger.db"), gate=gate)
    mine.database.run("PRAGMA busy_timeout = 10")
    other.database.begin()
    with pytest.raises(StoreUnavailable):
        mine.database.begin()
    assert not gate.locked()
    for ledger in (other, mine):
        ledger.database.close()
