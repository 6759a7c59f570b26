"""Threads of one process share a write lock, which every end of a transaction releases."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Lock

import pytest

from holdfast.errors import StoreUnavailable
from holdfast.ledger.actions import add_action
from holdfast.ledger.connect import open_local_ledger
from holdfast.ledger.schema import ACTIONS


def test_no_write_of_concurrent_threads_is_lost(tmp_path: Path) -> None:
    lock = Lock()
    path = str(tmp_path / "ledger.db")

    def write(thread: int) -> None:
        ledger = open_local_ledger(path, write_lock=lock)
        with closing(ledger.database):
            for number in range(20):
                add_action(ledger, 1.0, tool_name="Read", ident=f"{thread}-{number}")

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(write, range(8)))
    ledger = open_local_ledger(path)
    with closing(ledger.database):
        assert ledger.count(ACTIONS) == 160
    assert not lock.locked()


@pytest.mark.parametrize("end", ["commit", "rollback", "close"])
def test_the_lock_is_released_at_the_end_of_a_transaction(tmp_path: Path, end: str) -> None:
    lock = Lock()
    with closing(
        open_local_ledger(str(tmp_path / "ledger.db"), write_lock=lock).database
    ) as database:
        database.begin()
        assert lock.locked()
        getattr(database, end)()
        assert not lock.locked()


def test_a_transaction_that_cannot_begin_releases_the_lock(tmp_path: Path) -> None:
    lock = Lock()
    path = str(tmp_path / "ledger.db")
    with (
        closing(open_local_ledger(path).database) as other,
        closing(open_local_ledger(path, write_lock=lock, busy_seconds=0.01).database) as waiting,
    ):
        other.begin()
        with pytest.raises(StoreUnavailable):
            waiting.begin()
        assert not lock.locked()
        other.rollback()
        waiting.begin()
        waiting.rollback()
