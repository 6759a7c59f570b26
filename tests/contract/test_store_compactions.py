"""The contract of a store for compactions and handoffs."""

from __future__ import annotations

import pytest

from holdfast.errors import HoldfastError, NotFound
from holdfast.store.protocols import Store
from tests.contract.store_samples import (
    LONE_SURROGATES,
    add_handoff,
    make_state,
    save_session,
    send_brief,
)


def test_a_new_compaction_has_no_summary_no_brief_and_a_pending_receipt(store: Store) -> None:
    save_session(store)
    snapshot = store.add_snapshot("s1", "auto", make_state("go"), 1.0)
    store.open_compaction("s1", 1, trigger="auto", snapshot=snapshot, now=2.0)
    assert store.compactions("s1") == [store.compaction("s1", 1)]
    assert store.compaction("s1", 1) == {
        "session": "s1",
        "ordinal": 1,
        "trigger_name": "auto",
        "opened_at": 2.0,
        "snapshot": snapshot,
        "summary": None,
        "brief_id": None,
        "brief": None,
        "brief_at": None,
        "brief_line": None,
        "delivered_by": None,
        "receipt": "pending",
        "receipt_line": None,
    }


def test_opening_a_compaction_again_keeps_its_fields(store: Store) -> None:
    save_session(store)
    snapshot = store.add_snapshot("s1", "auto", make_state("go"), 1.0)
    store.open_compaction("s1", 1, trigger="manual", snapshot=snapshot, now=2.0)
    store.note_summary("s1", 1, "what was done")
    before = store.compaction("s1", 1)
    store.open_compaction("s1", 1, trigger=None, snapshot=None, now=9.0)
    assert store.compaction("s1", 1) == before


def test_a_repeated_compaction_takes_the_newer_snapshot(store: Store) -> None:
    save_session(store)
    first = store.add_snapshot("s1", "auto", make_state("go"), 1.0)
    store.open_compaction("s1", 1, trigger="auto", snapshot=first, now=1.0)
    second = store.add_snapshot("s1", "manual", make_state("go", "on"), 2.0)
    store.open_compaction("s1", 1, trigger="manual", snapshot=second, now=2.0)
    row = store.compaction("s1", 1)
    assert row is not None
    assert (row["trigger_name"], row["snapshot"], row["opened_at"]) == ("manual", second, 1.0)
    assert store.snapshot(first)


def test_summary_brief_and_receipt_are_stored_with_their_compaction(store: Store) -> None:
    save_session(store)
    for ordinal in (2, 1):
        store.open_compaction("s1", ordinal, trigger="auto", snapshot=None, now=1.0)
    store.note_summary("s1", 1, "what was done")
    send_brief(store, "# Where", line=217)
    store.note_receipt("s1", 1, "whole", 231)
    first, second = store.compactions("s1")
    assert (first["ordinal"], second["ordinal"]) == (1, 2)
    assert first["summary"] == "what was done"
    assert (first["brief_id"], first["brief"]) == ("0badcafe", "# Where")
    assert (first["brief_at"], first["brief_line"]) == (5.0, 217)
    assert first["delivered_by"] == "SessionStart"
    assert (first["receipt"], first["receipt_line"]) == ("whole", 231)
    assert (second["summary"], second["brief_id"], second["receipt"]) == (None, None, "pending")


def test_a_brief_that_is_sent_again_has_a_pending_receipt(store: Store) -> None:
    save_session(store)
    store.open_compaction("s1", 1, trigger="auto", snapshot=None, now=1.0)
    send_brief(store, "a brief", by="SessionStart")
    store.note_receipt("s1", 1, "never", 40)
    send_brief(store, "a brief", by="UserPromptSubmit")
    row = store.compaction("s1", 1)
    assert row is not None
    assert (row["receipt"], row["receipt_line"]) == ("pending", None)
    assert row["delivered_by"] == "UserPromptSubmit"


def test_a_summary_of_an_unknown_compaction_creates_no_row(store: Store) -> None:
    save_session(store)
    store.note_summary("s1", 1, "what was done")
    store.note_receipt("s1", 1, "whole", 1)
    assert store.compactions("s1") == []


def test_last_save_and_receipt_returns_the_last_snapshot_and_the_last_briefs_receipt(
    store: Store,
) -> None:
    save_session(store)
    save_session(store, "s10")
    assert store.last_save_and_receipt("s1") == store.last_save_and_receipt("unknown") == (0.0, "")
    store.add_snapshot("s1", "auto", make_state("go"), 20.0)
    store.add_snapshot("s1", "stop", make_state("go"), 10.0)
    store.open_compaction("s1", 1, trigger="auto", snapshot=None, now=20.0)
    assert store.last_save_and_receipt("s1") == (20.0, ""), "no brief was sent"
    send_brief(store, "a brief")
    assert store.last_save_and_receipt("s1") == (20.0, "pending")
    store.note_receipt("s1", 1, "cut", 12)
    store.open_compaction("s1", 2, trigger="auto", snapshot=None, now=30.0)
    assert store.last_save_and_receipt("s1") == (20.0, "cut"), "the second compaction has no brief"
    assert (
        store.last_save_and_receipt("s10")
        == store.last_save_and_receipt(LONE_SURROGATES)
        == (0.0, "")
    )


def test_a_handoff_reads_back_as_it_was_written(store: Store, second_store: Store) -> None:
    save_session(store)
    ident = add_handoff(store, "a1", LONE_SURROGATES)
    assert second_store.handoff(ident) == {
        "id": ident,
        "session": "s1",
        "agent": "a1",
        "agent_type": "Explore",
        "task": "look",
        "line": 3,
        "status": "complete",
        "decision": "PROCEED",
        "content": {"context_summary": LONE_SURROGATES},
        "raw": LONE_SURROGATES * 2,
        "tokens_before": 9,
        "tokens_after": 4,
        "captured_at": 1.0,
    }
    assert second_store.handoffs("s1") == [second_store.handoff(ident)]
    assert second_store.handoffs("s10") == []


def test_a_second_handoff_of_an_agent_replaces_the_first(store: Store) -> None:
    save_session(store)
    first = add_handoff(store, "a1", "half", now=1.0)
    assert add_handoff(store, "a1", "all of it", now=2.0) == first
    second = add_handoff(store, "a2", "by another agent", now=3.0)
    assert [row["id"] for row in store.handoffs("s1")] == [second, first]
    assert [row["id"] for row in store.handoffs("s1", 1)] == [second]
    assert store.handoff(first)["content"] == {"context_summary": "all of it"}


def test_a_handoff_of_an_unknown_session_is_refused(store: Store) -> None:
    with pytest.raises(HoldfastError):
        add_handoff(store, "a1", "words")
    with pytest.raises(NotFound, match="handoff 00000000"):
        store.handoff("00000000")
