"""What every store must do with snapshots."""

from __future__ import annotations

import pytest

from holdfast.errors import HoldfastError, NotFound
from holdfast.store.protocols import Store
from tests.cases import case
from tests.contract.stored import a_state, save


def test_a_snapshot_reads_back_as_it_was_written(store: Store) -> None:
    save(store)
    state = a_state("fix it", lines=7, files={"a.py": {"line": 3, "reads": 1}})
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


def test_nothing_that_happens_later_changes_a_snapshot(store: Store) -> None:
    save(store)
    state = a_state("the request")
    ident = store.add_snapshot("s1", "auto", state, 1.0)
    before = store.snapshot(ident)
    state["requests"][0]["text"] = "changed by the caller"
    store.snapshot(ident)["state"]["requests"].clear()
    save(store, revision=1, state=a_state("another", "and another"))
    again = store.add_snapshot("s1", "auto", a_state("the next"), 2.0)
    store.end_session("s1", 3.0)
    assert again != ident
    assert store.snapshot(ident) == before


def test_an_unknown_snapshot_is_named_in_the_error(store: Store) -> None:
    save(store)
    store.add_snapshot("s1", "auto", a_state("go"), 1.0)
    for name in ["", "nosuch", "deadbeef"]:
        with case(name):
            with pytest.raises(NotFound, match=f"snapshot {name}") as caught:
                store.snapshot(name)
            assert "holdfast snapshots" in caught.value.hint


def test_part_of_a_snapshot_id_finds_nothing(store: Store) -> None:
    save(store)
    ident = store.add_snapshot("s1", "auto", a_state("go"), 1.0)
    with pytest.raises(NotFound):
        store.snapshot(ident[:-1])


def test_a_newer_thin_snapshot_never_stands_in_for_a_rich_one(store: Store) -> None:
    save(store)
    store.add_snapshot("s1", "auto", a_state("one"), 1.0)
    rich = store.add_snapshot("s1", "auto", a_state("one", "two", "three"), 2.0)
    store.add_snapshot("s1", "stop", a_state(), 3.0)
    best = store.richest_snapshot("s1")
    assert best is not None
    assert best["id"] == rich


def thresholds(store: Store, count: int) -> list[str]:
    """Snapshots at thresholds, oldest first, the second of them the richest."""
    states = [a_state("one", *["more"] * 5 * (number == 1)) for number in range(count)]
    return [
        store.add_snapshot("s1", f"threshold: {number}0000 tokens", state, float(number))
        for number, state in enumerate(states)
    ]


def test_of_the_snapshots_at_thresholds_the_last_are_kept(store: Store) -> None:
    save(store)
    save(store, "s2")
    other = store.add_snapshot("s2", "threshold: 50000 tokens", a_state("theirs"), 0.0)
    made = thresholds(store, 6)
    store.prune("s1", snapshots=2, compactions=9)
    assert [one["id"] for one in store.snapshots("s1")] == [made[5], made[4], made[1]]
    assert [one["id"] for one in store.snapshots("s2")] == [other]


def test_what_a_compaction_points_to_and_what_is_no_threshold_is_never_pruned(
    store: Store,
) -> None:
    save(store)
    by_hand = store.add_snapshot("s1", "manual", a_state("by hand"), 0.5)
    made = thresholds(store, 4)
    store.open_compaction("s1", 1, trigger="auto", snapshot=made[0], now=9.0)
    store.prune("s1", snapshots=1, compactions=9)
    kept = {one["id"] for one in store.snapshots("s1")}
    assert kept == {by_hand, made[0], made[1], made[3]}


def test_of_older_compactions_the_texts_go_and_the_record_stays(store: Store) -> None:
    save(store)
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


def test_of_two_equally_rich_snapshots_the_newer_is_the_richest(store: Store) -> None:
    save(store)
    newer = store.add_snapshot("s1", "auto", a_state("new"), 2.0)
    store.add_snapshot("s1", "auto", a_state("old"), 1.0)
    best = store.richest_snapshot("s1")
    assert best is not None
    assert best["id"] == newer


def test_snapshots_are_listed_newest_first(store: Store) -> None:
    save(store)
    made = [store.add_snapshot("s1", "auto", a_state("go"), float(n)) for n in range(4)]
    assert [row["id"] for row in store.snapshots("s1")] == made[::-1]
    assert [row["id"] for row in store.snapshots("s1", 2)] == [made[3], made[2]]


def test_snapshots_of_one_session_or_of_all_come_page_by_page(store: Store) -> None:
    made = []
    for number, session in enumerate(["s1", "s10", "s1", "s1"]):
        save(store, session)
        made.append(store.add_snapshot(session, "auto", a_state("go"), float(number // 2)))
    seen: list[str] = []
    before = None
    while page := store.snapshots_before(None, before, 3):
        seen += [row["id"] for row in page]
        before = (page[-1]["created_at"], page[-1]["id"])
    assert sorted(seen) == sorted(made)
    assert set(seen[:2]) == set(made[2:])
    assert {row["session"] for row in store.snapshots_before("s10", None, 9)} == {"s10"}
    assert store.snapshots_before("s", None, 9) == []


def test_a_snapshot_of_a_session_that_is_not_there_is_refused(store: Store) -> None:
    with pytest.raises(HoldfastError):
        store.add_snapshot("nobody", "auto", a_state("go"), 1.0)
    assert store.snapshots("nobody") == []
