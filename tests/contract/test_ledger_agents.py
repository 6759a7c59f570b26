"""Messages, agents, contexts and tokens in the ledger, on each database."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.errors import NotFound
from holdfast.ledger import agents, contexts, messages, tokens
from holdfast.ledger.repository import Ledger, Row
from holdfast.ledger.schema import CONTEXTS, TOKENS
from holdfast.services.compaction.shared_context import load_overview, merge_snapshots
from tests.contract.databases import Database

# Messages


def send_message(ledger: Ledger, ident: str, to: str = "", now: float = 100.0, **more: Any) -> Row:
    return messages.send(ledger, now, ident=ident, from_agent_id="boss", to_agent_id=to, **more)


def inbox(ledger: Ledger, agent: str, now: float = 101.0, **more: Any) -> list[str]:
    return [row["id"] for row in messages.list_inbox(ledger, agent, now, 50, **more)]


def test_a_message_reaches_its_agent_and_a_broadcast_all_other_agents(ledger: Ledger) -> None:
    send_message(ledger, "to a", "a")
    send_message(ledger, "to all")
    assert inbox(ledger, "a") == ["to a", "to all"]
    assert inbox(ledger, "b") == ["to all"]
    assert inbox(ledger, "boss") == [], "an agent does not get its own messages"


def test_the_inbox_is_ordered_by_priority_and_then_by_age(ledger: Ledger) -> None:
    for ident, priority in (("low", 1), ("high", 9), ("older high", 9)):
        send_message(ledger, ident, "a", 99.0 if "older" in ident else 100.0, priority=priority)
    assert inbox(ledger, "a") == ["older high", "high", "low"]
    assert inbox(ledger, "a")[:1] == [messages.list_inbox(ledger, "a", 101.0, 1)[0]["id"]]


def test_a_message_is_read_once_by_each_agent(ledger: Ledger) -> None:
    row = send_message(ledger, "to all")
    messages.mark_read(ledger, [row], "a", 102.0)
    messages.mark_read(ledger, [row], "a", 103.0)
    assert inbox(ledger, "a") == []
    assert inbox(ledger, "a", unread=False) == inbox(ledger, "b") == ["to all"]
    assert messages.find_readers(ledger, [row]) == {"to all": ["a"]}


def test_an_expired_message_is_not_listed(ledger: Ledger) -> None:
    send_message(ledger, "short", "a", seconds=5.0)
    send_message(ledger, "long", "a", seconds=1e9)
    assert inbox(ledger, "a", 104.9) == ["long", "short"]
    assert inbox(ledger, "a", 105.0) == ["long"]
    assert [row["id"] for row in messages.list_recent(ledger, 105.0, 10)] == ["long"]
    assert inbox(ledger, "a", 100.0 + messages.MAX_TTL_SECONDS) == []


def test_a_subscriber_gets_only_broadcasts_of_its_topics(ledger: Ledger) -> None:
    messages.subscribe(ledger, "a", "api", 1.0)
    messages.subscribe(ledger, "a", "api", 2.0)
    send_message(ledger, "api", topic="api")
    send_message(ledger, "gossip", topic="gossip")
    send_message(ledger, "for a", "a", topic="gossip")
    assert sorted(inbox(ledger, "a")) == ["api", "for a"]
    assert messages.unsubscribe(ledger, "a", "api", 3.0)
    assert not messages.unsubscribe(ledger, "a", "api", 3.0)
    assert len(inbox(ledger, "a")) == 3


def test_unblock_removes_one_blocker_or_all(ledger: Ledger) -> None:
    for blocker in ("b", "c"):
        messages.block(ledger, "a", blocker, "needs the schema", 1.0)
    assert messages.unblock(ledger, "a", "b", 2.0) == 1
    assert messages.unblock(ledger, "a", None, 2.0) == 1
    assert messages.unblock(ledger, "a", None, 2.0) == 0


# Agents, contexts, tokens


def test_the_consumption_rate_predicts_when_the_context_window_is_full(ledger: Ledger) -> None:
    for minute, used in enumerate((100_000, 110_000, 120_000)):
        row = agents.record_agent(
            ledger, 60.0 * minute, agent_id="a", session="s1", used=used, capacity=200_000
        )
    assert row["rate"] == 10_000
    assert agents.describe_capacity(row, 120.0) == {
        "consumption_rate": 10_000, "usage_percent": 60.0, "remaining": 80_000, "zone": "yellow",
        "predicted_exhaustion_minutes": 8.0, "should_compact": False,
    }  # fmt: skip
    row = agents.add_usage(ledger, "a", "s1", 100, 120.01)
    assert row["rate"] < 10_100, "a call shortly after another must not raise the rate much"
    row = agents.record_agent(ledger, 300.0, agent_id="a", session="s1", used=20_000, compactions=1)
    assert (row["compactions"], row["compacted_at"]) == (1, 300.0)
    assert 3_000 < row["rate"] < 4_000, "a compaction must not count as consumption"
    assert agents.describe_capacity(row, 300.0)["zone"] == "green"


def test_the_consumption_rate_of_an_idle_agent_decreases(ledger: Ledger) -> None:
    agents.record_agent(ledger, 0.0, agent_id="a", used=100_000, capacity=200_000)
    row = agents.record_agent(ledger, 60.0, agent_id="a", used=110_000)
    rates = [
        agents.describe_capacity(row, 60.0 * minute)["consumption_rate"] for minute in (1, 4, 61)
    ]
    assert rates[0] == 10_000
    assert 3_600 < rates[1] < 3_700
    assert rates[2] < 1
    later = agents.record_agent(ledger, 60.0 * 61, agent_id="a", status="idle")
    assert agents.describe_capacity(later, 60.0 * 61)["consumption_rate"] < 1, (
        "a status change is not consumption"
    )
    assert agents.record_agent(ledger, 60.0 * 70, agent_id="a", status="idle") == later, (
        "an unchanged status must not change the row"
    )
    capacities = [agents.describe_capacity(row, 60.0 * minute) for minute in (1, 61)]
    assert [c["predicted_exhaustion_minutes"] for c in capacities] == [9.0, None]


def test_a_field_that_is_not_given_keeps_its_value(ledger: Ledger) -> None:
    agents.record_agent(ledger, 1.0, agent_id="a", session="s1", used=190_000, status="completed")
    row = agents.record_agent(ledger, 2.0, agent_id="a", session="s1")
    assert (row["status"], row["used"]) == ("completed", 190_000)
    row = agents.add_usage(ledger, "a", "", 10, 3.0)
    assert (row["session"], row["used"], row["status"]) == ("s1", 190_010, "completed")
    assert agents.add_usage(ledger, "new", "", 10, 3.0)["status"] == "running"


def test_usage_keeps_the_fields_of_an_agent_and_does_not_restart_it(
    ledger: Ledger,
) -> None:
    agents.add_usage(ledger, "a", "s1", 100, 1.0)
    agents.record_agent(
        ledger, 2.0, agent_id="a", session="s1", project="p1", parent="s1", status="completed"
    )
    row = agents.add_usage(ledger, "a", "s1", 1 << 62, 3.0)
    assert (row["project"], row["parent"], row["status"]) == ("p1", "s1", "completed")
    assert row["used"] == 1 << 53


def test_agents_with_the_same_id_in_two_sessions_are_separate(ledger: Ledger) -> None:
    agents.record_agent(ledger, 1.0, agent_id="dev", session="s1", used=10)
    agents.add_usage(ledger, "dev", "s10", 500, 2.0)
    agents.add_usage(ledger, "dev", "s10", 500, 3.0)
    first, second = (agents.find_latest(ledger, "dev", name) for name in ("s1", "s10"))
    assert first is not None
    assert second is not None
    assert (first["used"], second["used"]) == (10, 1000)
    assert agents.find_latest(ledger, "dev") == second
    assert agents.find_latest(ledger, "de") is None


def test_empty_fields_of_a_newer_snapshot_do_not_replace_older_values(ledger: Ledger) -> None:
    rich = {"context_summary": "login", "key_decisions": ["JWT"], "trigger": "auto"}
    contexts.save_snapshot(ledger, "s1", "p", rich, 1.0)
    contexts.save_snapshot(ledger, "s1", "p", {"trigger": "proactive", "key_decisions": []}, 2.0)
    contexts.save_snapshot(ledger, "s10", "p", {"context_summary": "of another session"}, 3.0)
    newest_first = load_overview(ledger, "s1").snapshots
    assert merge_snapshots(ledger, newest_first) == {**rich, "trigger": "proactive"}


def test_false_and_zero_replace_older_values(ledger: Ledger) -> None:
    before = {"deployed": True, "tests_failing": 3, "note": "careful"}
    contexts.save_snapshot(ledger, "s1", "p", before, 1.0)
    after = {"deployed": False, "tests_failing": 0, "note": ""}
    contexts.save_snapshot(ledger, "s1", "p", after, 2.0)
    newest_first = load_overview(ledger, "s1").snapshots
    merged = {"deployed": False, "tests_failing": 0, "note": "careful"}
    assert merge_snapshots(ledger, newest_first) == merged


def test_the_same_snapshot_sent_twice_is_stored_once(ledger: Ledger) -> None:
    first = contexts.save_snapshot(ledger, "s1", "p", {"a": 1}, 1.0)
    repeated = contexts.save_snapshot(ledger, "s1", "p", {"a": 1}, 2.0)
    assert repeated == {**first, "updated_at": 2.0}
    assert contexts.save_snapshot(ledger, "s1", "p", {"a": 2}, 3.0)["id"] != first["id"]
    assert [row["updated_at"] for row in ledger.find(CONTEXTS)] == [3.0, 2.0]


def test_a_snapshot_that_is_saved_again_becomes_the_newest(
    ledger: Ledger,
) -> None:
    for now, word in ((1.0, "a"), (2.0, "b"), (3.0, "a")):
        contexts.save_snapshot(ledger, "s1", "p", {"context_summary": word}, now)
    assert [row["progress_summary"] for row in ledger.find(CONTEXTS)] == ["a", "b"]


def test_saving_a_context_again_replaces_it(ledger: Ledger) -> None:
    for now, progress in ((1.0, "10 %"), (2.0, "60 %")):
        row = contexts.save_context(
            ledger, now, agent_id="a", agent_type="dev", session="s1",
            role_context={"progress": progress},
        )  # fmt: skip
    assert row["role_context"] == {"progress": "60 %"}


def test_a_token_is_valid_until_it_expires_or_is_revoked(
    ledger: Ledger, database: Database
) -> None:
    row, token = tokens.create_token(ledger, 1.0, name="ci", scope="write", seconds=100.0)
    assert tokens.find_valid_token(ledger, token, 50.0) == row
    assert tokens.find_valid_token(ledger, token, 101.0) is None
    assert tokens.find_valid_token(ledger, token + "x", 50.0) is None
    assert tokens.find_valid_token(ledger, "", 50.0) is None
    assert token.encode() not in database.read_raw_bytes(), "only the hash is stored"
    assert [tokens.has_scope(row, scope) for scope in tokens.SCOPES] == [True, True, False]
    tokens.revoke_token(ledger, row["id"], 60.0)
    assert tokens.find_valid_token(ledger, token, 61.0) is None
    assert [row["revoked_at"] for row in tokens.list_tokens(ledger)] == [60.0]
    with pytest.raises(NotFound):
        tokens.revoke_token(ledger, "unknown", 1.0)
    assert ledger.count(TOKENS) == 1
