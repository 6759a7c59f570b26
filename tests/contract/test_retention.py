"""Retention: which old rows are deleted and which stay, on each database."""

from __future__ import annotations

from holdfast.ledger import agents, contexts, messages
from holdfast.ledger.repository import Ledger
from holdfast.ledger.schema import AGENTS, CONTEXTS, MESSAGES, READS
from holdfast.services.compaction.handoffs import MAX_HANDOFFS_SHOWN
from holdfast.services.compaction.shared_context import load_overview, merge_snapshots
from holdfast.services.team.retention import ExpiredRows, count_expired, remove_expired
from holdfast.state.fold import new_state
from holdfast.state.types import State
from holdfast.store.protocols import Store

NO_ROWS = ExpiredRows()


def make_state(size: int) -> State:
    state = new_state()
    state["requests"] = [{"text": str(n), "line": n, "at": ""} for n in range(size)]
    return state


def add_snapshots(store: Store, session: str, *sizes: int) -> list[str]:
    store.save_session(
        session=session, host="claude-code", project="/p", transcript="", cursor=None,
        state=new_state(), revision=0, now=1.0,
    )  # fmt: skip
    return [
        store.add_snapshot(session, "auto", make_state(size), float(at))
        for at, size in enumerate(sizes)
    ]


def snapshot_ids(store: Store, session: str) -> set[str]:
    return {row["id"] for row in store.snapshots(session)}


def test_the_newest_the_richest_and_the_snapshots_of_compactions_stay(
    store: Store, ledger: Ledger
) -> None:
    ids = add_snapshots(store, "s1", 1, 5, 2, 3, 1)
    store.open_compaction("s1", 1, trigger="auto", snapshot=ids[2], now=9.0)
    (only,) = add_snapshots(store, "s10", 1)
    assert count_expired(store, ledger, 100.0).snapshots == 2
    assert snapshot_ids(store, "s1") == set(ids), "counting must not delete"
    assert remove_expired(store, ledger, 100.0).snapshots == 2
    assert snapshot_ids(store, "s1") == {ids[1], ids[2], ids[4]}
    assert snapshot_ids(store, "s10") == {only}
    assert remove_expired(store, ledger, 100.0) == NO_ROWS
    best = store.richest_snapshot("s1")
    assert best is not None
    assert best["id"] == ids[1]


def test_recent_data_stays(store: Store, ledger: Ledger) -> None:
    ids = add_snapshots(store, "s1", 1, 1, 1, 1)
    assert remove_expired(store, ledger, 1.0).snapshots == 1
    assert snapshot_ids(store, "s1") == set(ids[1:])


def test_of_equally_rich_snapshots_the_newest_stays(store: Store, ledger: Ledger) -> None:
    ids = add_snapshots(store, "s1", 2, 2, 2)
    remove_expired(store, ledger, 100.0)
    assert snapshot_ids(store, "s1") == {ids[2]}


def test_expired_messages_are_deleted_with_their_receipts(store: Store, ledger: Ledger) -> None:
    for ident, seconds in (("old", 10.0), ("good", 5000.0)):
        row = messages.send(ledger, 100.0, ident=ident, from_agent_id="a", seconds=seconds)
        messages.mark_read(ledger, [row], "b", 101.0)
    assert remove_expired(store, ledger, 1000.0).messages == 1
    assert [row["id"] for row in ledger.find(MESSAGES)] == ["good"]
    assert [row["message"] for row in ledger.find(READS)] == ["good"]


def test_a_receipt_newer_than_its_message_is_deleted_with_it(store: Store, ledger: Ledger) -> None:
    row = messages.send(ledger, 100.0, ident="old", from_agent_id="a", seconds=10.0)
    messages.mark_read(ledger, [row], "b", 2000.0)
    unknown = {**row, "id": "not received yet"}
    messages.mark_read(ledger, [unknown], "b", 2000.0)
    assert count_expired(store, ledger, 1000.0).receipts == 1
    assert remove_expired(store, ledger, 1000.0).receipts == 1
    assert [row["message"] for row in ledger.find(READS)] == ["not received yet"]


def save_caller_snapshots(ledger: Ledger, session: str, *bodies: dict[str, object]) -> list[str]:
    return [
        contexts.save_snapshot(ledger, session, "", body, float(at))["id"]
        for at, body in enumerate(bodies)
    ]


def test_old_caller_snapshots_are_deleted_and_a_restore_stays_the_same(
    store: Store, ledger: Ledger
) -> None:
    ids = save_caller_snapshots(
        ledger, "s1", {"context_summary": "started"},
        {"context_summary": "rich " * 50, "files": ["a"]},
        {"context_summary": "poor"}, {"context_summary": "", "note": "only here"},
        {"context_summary": "newer"}, {"context_summary": ""},
    )  # fmt: skip
    (only,) = save_caller_snapshots(ledger, "s10", {"context_summary": "x"})
    contexts.save_context(ledger, 1.0, agent_id="s1", agent_type="dev", session="s1")
    before = merge_snapshots(ledger, load_overview(ledger, "s1").snapshots)
    counts = count_expired(store, ledger, 100.0)
    assert counts.contexts == 2
    assert counts.bytes > 0
    removed = remove_expired(store, ledger, 100.0)
    assert removed.contexts == 2
    remaining = {
        row["id"] for row in ledger.find(CONTEXTS, agent_type=contexts.SNAPSHOT_AGENT_TYPE)
    }
    assert remaining == {ids[1], ids[3], ids[4], ids[5], only}
    assert merge_snapshots(ledger, load_overview(ledger, "s1").snapshots) == before
    assert ledger.count(CONTEXTS) == 6, "contexts of agents are not snapshots"
    assert remove_expired(store, ledger, 100.0).contexts == 0


def test_recent_caller_snapshots_stay(store: Store, ledger: Ledger) -> None:
    ids = save_caller_snapshots(
        ledger, "s1", *({"context_summary": str(number)} for number in range(4))
    )
    assert remove_expired(store, ledger, 1.0).contexts == 1
    remaining = {row["id"] for row in ledger.find(CONTEXTS)}
    assert remaining == set(ids[1:])


def test_agents_not_seen_for_long_are_deleted(store: Store, ledger: Ledger) -> None:
    agents.record_agent(ledger, 10.0, agent_id="old", session="s1")
    agents.record_agent(ledger, 2000.0, agent_id="recent", session="s1")
    assert remove_expired(store, ledger, 1000.0).agents == 1
    assert [row["agent_id"] for row in ledger.find(AGENTS)] == ["recent"]


def test_changes_stay_until_they_were_sent_to_every_team(store: Store, ledger: Ledger) -> None:
    for number in range(5):
        messages.send(ledger, float(number), ident=f"m{number}", from_agent_id="a", seconds=9e4)
    changes = ledger.list_changes()
    ledger.save_sent_position("one", changes[3]["seq"], 50.0)
    ledger.save_sent_position("two", changes[1]["seq"], 50.0)
    assert remove_expired(store, ledger, 1000.0).changes == 2
    assert ledger.list_changes() == changes[2:]
    ledger.save_sent_position("two", changes[4]["seq"], 60.0)
    ledger.save_sent_position("one", changes[4]["seq"], 60.0)
    remove_expired(store, ledger, 1000.0)
    assert ledger.list_changes() == changes[4:], "numbering continues"


def add_handoff(store: Store, session: str, number: int) -> str:
    return store.add_handoff(
        session, agent=f"a{number}", agent_type="Explore", task="look", line=number,
        status="completed", decision="", content={}, raw="words", tokens_before=1, tokens_after=1,
        now=float(number),
    )  # fmt: skip


def test_handoffs_that_a_brief_could_show_stay(store: Store, ledger: Ledger) -> None:
    add_snapshots(store, "s1")
    add_snapshots(store, "s2")
    ids = [add_handoff(store, "s1", number) for number in range(MAX_HANDOFFS_SHOWN + 5)]
    other = add_handoff(store, "s2", 1)
    assert count_expired(store, ledger, 3.0).handoffs == 3, "recent handoffs stay"
    assert remove_expired(store, ledger, 1000.0).handoffs == 5
    remaining = store.handoffs("s1", 1000)
    assert [row["id"] for row in remaining] == ids[:4:-1]
    assert store.handoff(other)["raw"] == "words"


def test_a_dry_run_counts_the_bytes_to_be_freed(store: Store, ledger: Ledger) -> None:
    add_snapshots(store, "s1", 1, 90, 2)
    messages.send(ledger, 1.0, ident="m", from_agent_id="a", payload={"text": "x" * 500})
    counts = count_expired(store, ledger, 9000.0)
    assert counts.bytes > 500
    assert remove_expired(store, ledger, 9000.0) == counts
    assert remove_expired(store, ledger, 9000.0) == NO_ROWS
