"""The contract of a store for snapshots."""

from __future__ import annotations

import pytest

from holdfast.errors import HoldfastError, NotFound
from holdfast.store.protocols import Store
from tests.cases import report_case
from tests.contract.store_samples import make_state, save_session


def test_a_snapshot_reads_back_as_it_was_written(store: Store) -> None:
    save_session(store)
    state = make_state("fix it", lines=7, files={"a.py": {"line": 3, "reads": 1}})
    state["usage"]["context"] = 151_000
    ident = store.add_snapshot("s1", "auto", state, 12.5)
    assert store.snapshot(ident) == {
        "id": ident,
        "session": "s1",
        "reason": "auto",
        "created_at": 12.5,
        "line": 7,
        "richness": 2,
        "context": 151_000,
        "state": state,
    }


def test_later_changes_do_not_affect_a_snapshot(store: Store) -> None:
    save_session(store)
    state = make_state("the request")
    ident = store.add_snapshot("s1", "auto", state, 1.0)
    before = store.snapshot(ident)
    state["requests"][0]["text"] = "changed by the caller"
    store.snapshot(ident)["state"]["requests"].clear()
    save_session(store, revision=1, state=make_state("another", "and another"))
    second = store.add_snapshot("s1", "auto", make_state("the next"), 2.0)
    store.end_session("s1", 3.0)
    assert second != ident
    assert store.snapshot(ident) == before


def test_an_unknown_snapshot_is_named_in_the_error(store: Store) -> None:
    save_session(store)
    store.add_snapshot("s1", "auto", make_state("go"), 1.0)
    for name in ["", "nosuch", "deadbeef"]:
        with report_case(name):
            with pytest.raises(NotFound, match=f"snapshot {name}") as caught:
                store.snapshot(name)
            assert "holdfast snapshots" in caught.value.hint


def test_part_of_a_snapshot_id_finds_nothing(store: Store) -> None:
    save_session(store)
    ident = store.add_snapshot("s1", "auto", make_state("go"), 1.0)
    with pytest.raises(NotFound):
        store.snapshot(ident[:-1])


def test_the_richest_snapshot_is_not_replaced_by_a_newer_poorer_one(store: Store) -> None:
    save_session(store)
    store.add_snapshot("s1", "auto", make_state("one"), 1.0)
    rich = store.add_snapshot("s1", "auto", make_state("one", "two", "three"), 2.0)
    store.add_snapshot("s1", "stop", make_state(), 3.0)
    best = store.richest_snapshot("s1")
    assert best is not None
    assert best["id"] == rich


def add_threshold_snapshots(store: Store, count: int) -> list[str]:
    """Add snapshots at token thresholds, oldest first; the second is the richest."""
    states = [make_state("one", *["more"] * 5 * (number == 1)) for number in range(count)]
    return [
        store.add_snapshot("s1", f"threshold: {number}0000 tokens", state, float(number))
        for number, state in enumerate(states)
    ]


def test_pruning_keeps_the_latest_and_the_richest_threshold_snapshots(store: Store) -> None:
    save_session(store)
    save_session(store, "s2")
    other_session = store.add_snapshot("s2", "threshold: 50000 tokens", make_state("theirs"), 0.0)
    ids = add_threshold_snapshots(store, 6)
    store.prune("s1", snapshots=2, compactions=9)
    assert [row["id"] for row in store.snapshots("s1")] == [ids[5], ids[4], ids[1]]
    assert [row["id"] for row in store.snapshots("s2")] == [other_session]


def test_snapshots_of_compactions_and_manual_snapshots_are_never_pruned(
    store: Store,
) -> None:
    save_session(store)
    manual = store.add_snapshot("s1", "manual", make_state("by hand"), 0.5)
    ids = add_threshold_snapshots(store, 4)
    store.open_compaction("s1", 1, trigger="auto", snapshot=ids[0], now=9.0)
    store.prune("s1", snapshots=1, compactions=9)
    remaining = {row["id"] for row in store.snapshots("s1")}
    assert remaining == {manual, ids[0], ids[1], ids[3]}


def test_pruning_deletes_the_texts_of_old_compactions_and_keeps_their_rows(store: Store) -> None:
    save_session(store)
    for number in (1, 2, 3):
        store.open_compaction("s1", number, trigger="auto", snapshot=None, now=float(number))
        store.note_summary("s1", number, "what was done")
        store.note_brief(
            "s1", number, brief_id=f"0badcaf{number}", brief="the brief", line=number,
            delivered_by="SessionStart", now=5.0,
        )  # fmt: skip
        store.note_receipt("s1", number, "whole", number)
    store.prune("s1", snapshots=9, compactions=2)
    rows = store.compactions("s1")
    assert [(row["summary"], row["brief"]) for row in rows] == [
        (None, None),
        ("what was done", "the brief"),
        ("what was done", "the brief"),
    ]
    first = rows[0]
    assert (first["brief_id"], first["receipt"], first["trigger_name"]) == (
        *("0badcaf1", "whole", "auto"),
    )


def test_of_two_equally_rich_snapshots_the_newer_one_counts_as_richest(store: Store) -> None:
    save_session(store)
    newer = store.add_snapshot("s1", "auto", make_state("new"), 2.0)
    store.add_snapshot("s1", "auto", make_state("old"), 1.0)
    best = store.richest_snapshot("s1")
    assert best is not None
    assert best["id"] == newer


def test_snapshots_are_listed_newest_first(store: Store) -> None:
    save_session(store)
    ids = [store.add_snapshot("s1", "auto", make_state("go"), float(n)) for n in range(4)]
    assert [row["id"] for row in store.snapshots("s1")] == ids[::-1]
    assert [row["id"] for row in store.snapshots("s1", 2)] == [ids[3], ids[2]]


def test_snapshots_are_listed_in_pages_for_one_session_or_all(store: Store) -> None:
    ids = []
    for number, session in enumerate(["s1", "s10", "s1", "s1"]):
        save_session(store, session)
        ids.append(store.add_snapshot(session, "auto", make_state("go"), float(number // 2)))
    listed_ids: list[str] = []
    before = None
    while page := store.snapshots_before(None, before, 3):
        listed_ids += [row["id"] for row in page]
        before = (page[-1]["created_at"], page[-1]["id"])
    assert sorted(listed_ids) == sorted(ids)
    assert set(listed_ids[:2]) == set(ids[2:])
    assert {row["session"] for row in store.snapshots_before("s10", None, 9)} == {"s10"}
    assert store.snapshots_before("s", None, 9) == []


def test_a_snapshot_of_an_unknown_session_is_refused(store: Store) -> None:
    with pytest.raises(HoldfastError):
        store.add_snapshot("unknown", "auto", make_state("go"), 1.0)
    assert store.snapshots("unknown") == []
