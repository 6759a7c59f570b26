"""Old snapshots are packed on every database, and read as if they were not."""

from __future__ import annotations

import pytest

from holdfast.errors import StoreUnavailable
from holdfast.state.fold import new_state
from holdfast.state.types import State
from holdfast.store import codec
from holdfast.store.copy import SessionCopier
from holdfast.store.protocols import SnapshotRow, Store
from holdfast.store.snapshot_compression import CompressionResult, SnapshotCompressor
from tests.contract.databases import SQLiteFile

LATER = 1000.0
SIZES = [60, 65, 70, 75, 90, 80, 85]


def grown(size: int) -> State:
    """The state of a session after so many requests: each holds all the earlier ones."""
    state = new_state()
    words = "look at the retry in src/payments and say whether attempt"
    state["requests"] = [
        {"text": f"{words} {n * 7919 % 1009}", "line": n, "at": ""} for n in range(size)
    ]
    state["lines"] = size
    return state


@pytest.fixture
def snapshots(store: Store) -> list[str]:
    """Six compactions with a snapshot each, the fifth of which is the richest, and one after."""
    store.save_session(
        session="s1", host="claude-code", project="/p", transcript="", cursor=None,
        state=new_state(), revision=0, now=1.0,
    )  # fmt: skip
    made = []
    for number, size in enumerate(SIZES[:-1]):
        made.append(store.add_snapshot("s1", "auto", grown(size), float(number)))
        store.open_compaction("s1", number + 1, trigger="auto", snapshot=made[-1], now=1.0)
    made.append(store.add_snapshot("s1", "stop", grown(SIZES[-1]), 50.0))
    return made


def stored(store: Store, ident: str) -> bytes:
    row = store.database.run("SELECT state FROM snapshots WHERE id = :id", {"id": ident})[0][0]
    return bytes(row["state"])


def whole(store: Store) -> list[SnapshotRow]:
    return store.snapshots("s1")


def test_every_way_to_read_gives_what_was_saved(store: Store, snapshots: list[str]) -> None:
    before, richest = whole(store), store.richest_snapshot("s1")
    sizes = sum(len(stored(store, ident)) for ident in snapshots)
    done = SnapshotCompressor(store.database, LATER).compress()
    assert done.snapshots == len(snapshots)
    assert whole(store) == before
    assert store.richest_snapshot("s1") == richest
    assert store.snapshots_before(None, None, 10) == [
        {**row, "folder": "/p"} for row in sorted(before, key=lambda row: -row["created_at"])
    ]
    assert [store.snapshot(ident)["state"]["lines"] for ident in snapshots] == SIZES
    now = sum(len(stored(store, ident)) for ident in snapshots)
    assert sizes - now == done.saved
    assert now < sizes * 0.7


def test_what_hooks_restore_from_depends_on_no_other(store: Store, snapshots: list[str]) -> None:
    SnapshotCompressor(store.database, LATER).compress()
    bases = {ident: codec.base_id(stored(store, ident)) for ident in snapshots}
    *earlier, richest, last, newest = snapshots
    assert bases[richest] == bases[newest] == ""
    assert {bases[ident] for ident in (*earlier, last)} == {richest}


def test_none_depends_on_one_that_depends_on_another(store: Store, snapshots: list[str]) -> None:
    for before in (2.5, 4.5, LATER):
        SnapshotCompressor(store.database, before).compress()
    store.add_snapshot("s1", "auto", grown(95), 90.0)
    store.open_compaction("s1", 7, trigger="auto", snapshot=snapshots[-1], now=1.0)
    store.open_compaction("s1", 8, trigger="auto", snapshot=None, now=1.0)
    SnapshotCompressor(store.database, LATER).compress()
    bases = {codec.base_id(stored(store, ident)) for ident in snapshots} - {""}
    assert len(bases) > 1, "what was packed at different times leans on different ones"
    assert {codec.base_id(stored(store, ident)) for ident in bases} == {""}
    assert [store.snapshot(ident)["state"]["lines"] for ident in snapshots] == SIZES


def test_to_measure_changes_nothing_and_tells_the_truth(store: Store, snapshots: list[str]) -> None:
    before = [stored(store, ident) for ident in snapshots]
    told = SnapshotCompressor(store.database, LATER).measure(set())
    assert [stored(store, ident) for ident in snapshots] == before
    assert SnapshotCompressor(store.database, LATER).compress() == told
    assert SnapshotCompressor(store.database, LATER).compress() == CompressionResult()


def test_what_is_young_is_left_as_it_is(store: Store, snapshots: list[str]) -> None:
    assert SnapshotCompressor(store.database, 3.5).compress().snapshots == 4
    assert not codec.is_tightly_compressed(stored(store, snapshots[4]))


def test_a_session_without_compactions_is_packed_one_by_one(store: Store) -> None:
    store.save_session(
        session="s1", host="claude-code", project="/p", transcript="", cursor=None,
        state=new_state(), revision=0, now=1.0,
    )  # fmt: skip
    made = [store.add_snapshot("s1", "auto", grown(60 + n), float(n)) for n in range(3)]
    assert SnapshotCompressor(store.database, LATER).compress().snapshots == 3
    assert [codec.base_id(stored(store, ident)) for ident in made] == ["", "", ""]


def test_pruning_does_not_take_away_what_others_are_read_beside(
    store: Store, snapshots: list[str]
) -> None:
    for number in range(5):
        store.add_snapshot("s1", "threshold", grown(61 + number), 60.0 + number)
    SnapshotCompressor(store.database, LATER).compress()
    store.prune("s1", snapshots=1, compactions=1)
    assert store.snapshot(snapshots[1])["state"] == grown(65)


def test_a_lost_base_is_told_and_harms_no_restore(store: Store, snapshots: list[str]) -> None:
    SnapshotCompressor(store.database, LATER).compress()
    # No way to delete leads here: the database itself keeps what a compaction points to.
    store.database.run("UPDATE compactions SET snapshot = NULL WHERE ordinal = 5")
    store.database.run("DELETE FROM snapshots WHERE id = :id", {"id": snapshots[4]})
    with pytest.raises(StoreUnavailable, match=snapshots[4]):
        store.snapshot(snapshots[1])
    best = store.richest_snapshot("s1")
    assert best is not None
    assert best["state"] == grown(85)


def test_packed_snapshots_are_copied_so_that_each_can_be_read_alone(
    store: Store, snapshots: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    SnapshotCompressor(store.database, LATER).compress()
    there = SQLiteFile(tmp_path_factory.mktemp("there")).open()
    try:
        SessionCopier(store.database, there.database).copy("s1")
        assert there.snapshots("s1") == store.snapshots("s1")
        assert [codec.base_id(stored(there, ident)) for ident in snapshots] == [""] * 7
    finally:
        there.close()
