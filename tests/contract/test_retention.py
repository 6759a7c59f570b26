"""What may go and what must stay, on every database."""

from __future__ import annotations

from holdfast.actions.handoffs import MOST_SHOWN
from holdfast.actions.retention import Leftovers, clear, leftovers
from holdfast.ledger import agents, contexts, known, messages
from holdfast.ledger.ledger import Ledger
from holdfast.ledger.tables import AGENTS, CONTEXTS, MESSAGES, READS
from holdfast.state.fold import new_state
from holdfast.state.model import State
from holdfast.store.base import Store

NOTHING = Leftovers()


def rich(size: int) -> State:
    state = new_state()
    state["requests"] = [{"text": str(n), "line": n, "at": ""} for n in range(size)]
    return state


def snapshots(store: Store, session: str, *sizes: int) -> list[str]:
    store.save_session(
        session=session, host="claude-code", project="/p", transcript="", cursor=None,
        state=new_state(), revision=0, now=1.0,
    )  # fmt: skip
    return [
        store.add_snapshot(session, "auto", rich(size), float(at)) for at, size in enumerate(sizes)
    ]


def kept(store: Store, session: str) -> set[str]:
    return {row["id"] for row in store.snapshots(session)}


def test_the_newest_the_richest_and_those_of_compactions_stay(store: Store, ledger: Ledger) -> None:
    made = snapshots(store, "s1", 1, 5, 2, 3, 1)
    store.open_compaction("s1", 1, trigger="auto", snapshot=made[2], now=9.0)
    (only,) = snapshots(store, "s10", 1)
    assert leftovers(store, ledger, 100.0).snapshots == 2
    assert kept(store, "s1") == set(made), "to count is not to take away"
    assert clear(store, ledger, 100.0).snapshots == 2
    assert kept(store, "s1") == {made[1], made[2], made[4]}
    assert kept(store, "s10") == {only}
    assert clear(store, ledger, 100.0) == NOTHING
    best = store.richest_snapshot("s1")
    assert best is not None
    assert best["id"] == made[1]


def test_what_is_young_stays(store: Store, ledger: Ledger) -> None:
    made = snapshots(store, "s1", 1, 1, 1, 1)
    assert clear(store, ledger, 1.0).snapshots == 1
    assert kept(store, "s1") == set(made[1:])


def test_of_equally_rich_snapshots_the_newest_stays(store: Store, ledger: Ledger) -> None:
    made = snapshots(store, "s1", 2, 2, 2)
    clear(store, ledger, 100.0)
    assert kept(store, "s1") == {made[2]}


def test_expired_messages_go_with_their_receipts(store: Store, ledger: Ledger) -> None:
    for ident, seconds in (("old", 10.0), ("good", 5000.0)):
        row = messages.send(ledger, 100.0, ident=ident, from_agent_id="a", seconds=seconds)
        messages.mark_read(ledger, [row], "b", 101.0)
    assert clear(store, ledger, 1000.0).messages == 1
    assert [row["id"] for row in ledger.rows(MESSAGES)] == ["good"]
    assert [row["message"] for row in ledger.rows(READS)] == ["good"]


def test_a_receipt_that_is_younger_than_its_message_goes_with_it(
    store: Store, ledger: Ledger
) -> None:
    row = messages.send(ledger, 100.0, ident="old", from_agent_id="a", seconds=10.0)
    messages.mark_read(ledger, [row], "b", 2000.0)
    early = {**row, "id": "yet to come"}
    messages.mark_read(ledger, [early], "b", 2000.0)
    assert leftovers(store, ledger, 1000.0).receipts == 1
    assert clear(store, ledger, 1000.0).receipts == 1
    assert [one["message"] for one in ledger.rows(READS)] == ["yet to come"]


def saved(ledger: Ledger, session: str, *bodies: dict[str, object]) -> list[str]:
    return [
        contexts.save_snapshot(ledger, session, "", body, float(at))["id"]
        for at, body in enumerate(bodies)
    ]


def test_old_snapshots_of_callers_are_thinned_and_a_restore_says_the_same(
    store: Store, ledger: Ledger
) -> None:
    made = saved(
        ledger, "s1", {"context_summary": "begun"},
        {"context_summary": "rich " * 50, "files": ["a"]},
        {"context_summary": "poor"}, {"context_summary": "", "note": "only here"},
        {"context_summary": "newer"}, {"context_summary": ""},
    )  # fmt: skip
    (only,) = saved(ledger, "s10", {"context_summary": "x"})
    contexts.save_context(ledger, 1.0, agent_id="s1", agent_type="dev", session="s1")
    before = known.said(ledger, known.known(ledger, "s1").snapshots)
    told = leftovers(store, ledger, 100.0)
    assert told.contexts == 2
    assert told.bytes > 0
    done = clear(store, ledger, 100.0)
    assert done.contexts == 2
    kept = {row["id"] for row in ledger.rows(CONTEXTS, agent_type=contexts.SNAPSHOT)}
    assert kept == {made[1], made[3], made[4], made[5], only}
    assert known.said(ledger, known.known(ledger, "s1").snapshots) == before
    assert ledger.count(CONTEXTS) == 6, "what agents know is no snapshot"
    assert clear(store, ledger, 100.0).contexts == 0


def test_young_snapshots_of_callers_stay(store: Store, ledger: Ledger) -> None:
    made = saved(ledger, "s1", *({"context_summary": str(number)} for number in range(4)))
    assert clear(store, ledger, 1.0).contexts == 1
    kept = {row["id"] for row in ledger.rows(CONTEXTS)}
    assert kept == set(made[1:])


def test_agents_that_nobody_has_seen_for_long_go(store: Store, ledger: Ledger) -> None:
    agents.seen(ledger, 10.0, agent_id="gone", session="s1")
    agents.seen(ledger, 2000.0, agent_id="here", session="s1")
    assert clear(store, ledger, 1000.0).agents == 1
    assert [row["agent_id"] for row in ledger.rows(AGENTS)] == ["here"]


def test_changes_stay_until_every_team_has_been_told(store: Store, ledger: Ledger) -> None:
    for number in range(5):
        messages.send(ledger, float(number), ident=f"m{number}", from_agent_id="a", seconds=9e4)
    told = ledger.changes()
    ledger.keep_sent("one", told[3]["seq"], 50.0)
    ledger.keep_sent("two", told[1]["seq"], 50.0)
    assert clear(store, ledger, 1000.0).changes == 2
    assert ledger.changes() == told[2:]
    ledger.keep_sent("two", told[4]["seq"], 60.0)
    ledger.keep_sent("one", told[4]["seq"], 60.0)
    clear(store, ledger, 1000.0)
    assert ledger.changes() == told[4:], "numbers go on from the last"


def hand_on(store: Store, session: str, number: int) -> str:
    return store.add_handoff(
        session, agent=f"a{number}", agent_type="Explore", task="look", line=number,
        status="completed", decision="", content={}, raw="words", tokens_before=1, tokens_after=1,
        now=float(number),
    )  # fmt: skip


def test_of_handoffs_those_that_a_brief_could_show_stay(store: Store, ledger: Ledger) -> None:
    snapshots(store, "s1")
    snapshots(store, "s2")
    made = [hand_on(store, "s1", number) for number in range(MOST_SHOWN + 5)]
    other = hand_on(store, "s2", 1)
    assert leftovers(store, ledger, 3.0).handoffs == 3, "what is young stays"
    assert clear(store, ledger, 1000.0).handoffs == 5
    kept = store.handoffs("s1", 1000)
    assert [row["id"] for row in kept] == made[:4:-1]
    assert store.handoff(other)["raw"] == "words"


def test_what_would_be_freed_is_told_before(store: Store, ledger: Ledger) -> None:
    snapshots(store, "s1", 1, 90, 2)
    messages.send(ledger, 1.0, ident="m", from_agent_id="a", payload={"text": "x" * 500})
    told = leftovers(store, ledger, 9000.0)
    assert told.bytes > 500
    assert clear(store, ledger, 9000.0) == told
    assert clear(store, ledger, 9000.0) == NOTHING
