"""Compressed snapshots are read like uncompressed ones, on each database."""

from __future__ import annotations

import pytest

from holdfast.errors import StoreUnavailable
from holdfast.state.fold import new_state
from holdfast.state.types import State
from holdfast.store import codec
from holdfast.store.copy import SessionCopier
from holdfast.store.protocols import Store
from holdfast.store.snapshot_compression import CompressionResult, SnapshotCompressor
from tests.contract.databases import SQLiteFile

CUTOFF = 1000.0
SIZES = [60, 65, 70, 75, 90, 80, 85]


def make_state(size: int) -> State:
    """The state of a session after `size` requests; a larger state contains the smaller ones."""
    state = new_state()
    text = "look at the retry in src/payments and say whether attempt"
    state["requests"] = [
        {"text": f"{text} {n * 7919 % 1009}", "line": n, "at": ""} for n in range(size)
    ]
    state["lines"] = size
    return state


@pytest.fixture
def snapshot_ids(store: Store) -> list[str]:
    """Add six compactions with snapshots, the fifth of which is the richest, and one snapshot."""
    store.save_session(
        session="s1", host="claude-code", project="/p", transcript="", cursor=None,
        state=new_state(), revision=0, now=1.0,
    )  # fmt: skip
    ids = []
    for number, size in enumerate(SIZES[:-1]):
        ids.append(store.add_snapshot("s1", "auto", make_state(size), float(number)))
        store.open_compaction("s1", number + 1, trigger="auto", snapshot=ids[-1], now=1.0)
    ids.append(store.add_snapshot("s1", "stop", make_state(SIZES[-1]), 50.0))
    return ids


def read_stored_bytes(store: Store, ident: str) -> bytes:
    row = store.database.run("SELECT state FROM snapshots WHERE id = :id", {"id": ident})[0][0]
    return bytes(row["state"])


def test_every_read_method_returns_the_same_rows_after_compression(
    store: Store, snapshot_ids: list[str]
) -> None:
    before, richest = store.snapshots("s1"), store.richest_snapshot("s1")
    bytes_before = sum(len(read_stored_bytes(store, ident)) for ident in snapshot_ids)
    result = SnapshotCompressor(store.database, CUTOFF).compress()
    assert result.snapshots == len(snapshot_ids)
    assert store.snapshots("s1") == before
    assert store.richest_snapshot("s1") == richest
    assert store.snapshots_before(None, None, 10) == [
        {**row, "folder": "/p"} for row in sorted(before, key=lambda row: -row["created_at"])
    ]
    assert [store.snapshot(ident)["state"]["lines"] for ident in snapshot_ids] == SIZES
    bytes_after = sum(len(read_stored_bytes(store, ident)) for ident in snapshot_ids)
    assert bytes_before - bytes_after == result.saved_bytes
    assert bytes_after < bytes_before * 0.7


def test_the_richest_and_the_newest_snapshot_have_no_base(
    store: Store, snapshot_ids: list[str]
) -> None:
    SnapshotCompressor(store.database, CUTOFF).compress()
    bases = {ident: codec.get_base_id(read_stored_bytes(store, ident)) for ident in snapshot_ids}
    *earlier, richest, last, newest = snapshot_ids
    assert bases[richest] == bases[newest] == ""
    assert {bases[ident] for ident in (*earlier, last)} == {richest}


def test_a_base_has_no_base_of_its_own(store: Store, snapshot_ids: list[str]) -> None:
    for before in (2.5, 4.5, CUTOFF):
        SnapshotCompressor(store.database, before).compress()
    store.add_snapshot("s1", "auto", make_state(95), 90.0)
    store.open_compaction("s1", 7, trigger="auto", snapshot=snapshot_ids[-1], now=1.0)
    store.open_compaction("s1", 8, trigger="auto", snapshot=None, now=1.0)
    SnapshotCompressor(store.database, CUTOFF).compress()
    bases = {codec.get_base_id(read_stored_bytes(store, ident)) for ident in snapshot_ids} - {""}
    assert len(bases) > 1, "runs at different times must have chosen different bases"
    assert {codec.get_base_id(read_stored_bytes(store, ident)) for ident in bases} == {""}
    assert [store.snapshot(ident)["state"]["lines"] for ident in snapshot_ids] == SIZES


def test_measure_changes_nothing_and_predicts_the_result(
    store: Store, snapshot_ids: list[str]
) -> None:
    before = [read_stored_bytes(store, ident) for ident in snapshot_ids]
    predicted = SnapshotCompressor(store.database, CUTOFF).measure(set())
    assert [read_stored_bytes(store, ident) for ident in snapshot_ids] == before
    assert SnapshotCompressor(store.database, CUTOFF).compress() == predicted
    assert SnapshotCompressor(store.database, CUTOFF).compress() == CompressionResult()


def test_recent_snapshots_are_not_compressed(store: Store, snapshot_ids: list[str]) -> None:
    assert SnapshotCompressor(store.database, 3.5).compress().snapshots == 4
    assert not codec.is_tightly_compressed(read_stored_bytes(store, snapshot_ids[4]))


def test_snapshots_without_compactions_are_compressed_without_a_base(store: Store) -> None:
    store.save_session(
        session="s1", host="claude-code", project="/p", transcript="", cursor=None,
        state=new_state(), revision=0, now=1.0,
    )  # fmt: skip
    ids = [store.add_snapshot("s1", "auto", make_state(60 + n), float(n)) for n in range(3)]
    assert SnapshotCompressor(store.database, CUTOFF).compress().snapshots == 3
    assert [codec.get_base_id(read_stored_bytes(store, ident)) for ident in ids] == ["", "", ""]


def test_pruning_keeps_the_base_of_other_snapshots(store: Store, snapshot_ids: list[str]) -> None:
    for number in range(5):
        store.add_snapshot("s1", "threshold", make_state(61 + number), 60.0 + number)
    SnapshotCompressor(store.database, CUTOFF).compress()
    store.prune("s1", snapshots=1, compactions=1)
    assert store.snapshot(snapshot_ids[1])["state"] == make_state(65)


def test_a_lost_base_raises_an_error_and_the_restore_uses_another_snapshot(
    store: Store, snapshot_ids: list[str]
) -> None:
    SnapshotCompressor(store.database, CUTOFF).compress()
    # Only SQL can delete a base: the store keeps the snapshots of compactions.
    store.database.run("UPDATE compactions SET snapshot = NULL WHERE ordinal = 5")
    store.database.run("DELETE FROM snapshots WHERE id = :id", {"id": snapshot_ids[4]})
    with pytest.raises(StoreUnavailable, match=snapshot_ids[4]):
        store.snapshot(snapshot_ids[1])
    best = store.richest_snapshot("s1")
    assert best is not None
    assert best["state"] == make_state(85)


def test_copied_snapshots_have_no_base(
    store: Store, snapshot_ids: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    SnapshotCompressor(store.database, CUTOFF).compress()
    target = SQLiteFile(tmp_path_factory.mktemp("target")).open()
    try:
        SessionCopier(store.database, target.database).copy("s1")
        assert target.snapshots("s1") == store.snapshots("s1")
        bases = [codec.get_base_id(read_stored_bytes(target, ident)) for ident in snapshot_ids]
        assert bases == [""] * 7
    finally:
        target.close()
