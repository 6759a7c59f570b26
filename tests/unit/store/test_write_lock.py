"""Threads of one process take turns at the file; a failure does not keep the others out."""

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


def test_threads_write_one_after_the_other_and_nothing_is_lost(tmp_path: Path) -> None:
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
def test_the_lock_is_free_after_every_end(tmp_path: Path, end: str) -> None:
    lock = Lock()
    with closing(
        open_local_ledger(str(tmp_path / "ledger.db"), write_lock=lock).database
    ) as database:
        database.begin()
        assert lock.locked()
        getattr(database, end)()
        assert not lock.locked()


def test_a_transaction_that_cannot_begin_leaves_the_lock_free(tmp_path: Path) -> None:
    lock = Lock()
    path = str(tmp_path / "ledger.db")
    with (
        closing(open_local_ledger(path).database) as other,
        closing(open_local_ledger(path, write_lock=lock, busy_seconds=0.01).database) as mine,
    ):
        other.begin()
        with pytest.raises(StoreUnavailable):
            mine.begin()
        assert not lock.locked()
        other.rollback()
        mine.begin()
        mine.rollback()
