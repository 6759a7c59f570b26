"""Delivery of messages: which agents get a message, and how often, on each database."""

from __future__ import annotations

from typing import Any

from holdfast.ledger import messages
from holdfast.ledger.messages import Recipient
from holdfast.ledger.repository import Ledger, Row
from holdfast.ledger.schema import READS

SESSION = Recipient("s1", "main", "p1")
OTHER_SESSION = Recipient("s2", "main", "p1")
OTHER_PROJECT = Recipient("s9", "main", "p9")
EXPLORER = Recipient("a1", "Explore", "p1")


def send(ledger: Ledger, ident: str, to: str = "", **fields: Any) -> None:
    values = {"from_agent_id": "boss", "project": "p1", **fields}
    messages.send(ledger, 100.0, ident=ident, to_agent_id=to, **values)


def choose_all(rows: list[Row]) -> list[Row]:
    return rows


def receive(ledger: Ledger, reader: Recipient, limit: int = 100) -> list[str]:
    rows, _ = messages.take_messages(ledger, reader, 200.0, lambda rows: rows[:limit])
    return [row["id"] for row in rows]


def test_a_message_to_an_agent_is_delivered_once_and_only_to_it(ledger: Ledger) -> None:
    send(ledger, "m1", "s1")
    assert receive(ledger, OTHER_SESSION) == []
    assert receive(ledger, SESSION) == ["m1"]
    assert receive(ledger, SESSION) == []


def test_a_message_to_an_agent_id_is_delivered_in_any_project(ledger: Ledger) -> None:
    send(ledger, "m1", "s9")
    assert receive(ledger, OTHER_PROJECT) == ["m1"]


def test_a_message_to_an_agent_type_is_delivered_to_the_first_such_agent_of_the_project(
    ledger: Ledger,
) -> None:
    send(ledger, "m1", "Explore")
    assert receive(ledger, Recipient("a9", "Explore", "p9")) == []
    assert receive(ledger, EXPLORER) == ["m1"]
    assert receive(ledger, Recipient("a2", "Explore", "p1")) == []


def test_a_broadcast_is_delivered_once_to_every_agent_of_its_project(ledger: Ledger) -> None:
    send(ledger, "m1")
    for reader in (SESSION, OTHER_SESSION, EXPLORER):
        assert receive(ledger, reader) == ["m1"]
        assert receive(ledger, reader) == []
    assert receive(ledger, OTHER_PROJECT) == []


def test_a_message_without_a_project_is_delivered_in_any_project(ledger: Ledger) -> None:
    send(ledger, "m1", project="")
    send(ledger, "m2", "main", project="")
    assert receive(ledger, OTHER_PROJECT) == ["m1", "m2"]


def test_an_agent_without_a_type_keeps_its_subscriptions(ledger: Ledger) -> None:
    messages.subscribe(ledger, "a1", "api", 1.0)
    send(ledger, "m1", topic="lunch")
    assert receive(ledger, Recipient("a1", "", "p1")) == []


def test_a_subscriber_gets_only_its_topics(ledger: Ledger) -> None:
    messages.subscribe(ledger, "s1", "api", 1.0)
    messages.subscribe(ledger, "Explore", "ui", 1.0)
    send(ledger, "m1", topic="api")
    send(ledger, "m2", topic="ui")
    assert receive(ledger, SESSION) == ["m1"]
    assert receive(ledger, EXPLORER) == ["m2"]
    assert receive(ledger, OTHER_SESSION) == ["m1", "m2"]


def test_a_subscription_of_an_agent_type_counts_only_in_its_project(ledger: Ledger) -> None:
    messages.subscribe(ledger, "main", "api", 1.0, "p1")
    for project in ("p1", "p9"):
        send(ledger, f"m {project}", topic="lunch", project=project)
    assert receive(ledger, SESSION) == []
    assert receive(ledger, OTHER_PROJECT) == ["m p9"]


def test_messages_are_ordered_by_priority_and_then_by_age(ledger: Ledger) -> None:
    for ident, priority in (("m1", 1), ("m2", 9), ("m3", 9)):
        send(ledger, ident, priority=priority)
    assert receive(ledger, SESSION, limit=2) == ["m2", "m3"]
    assert receive(ledger, SESSION) == ["m1"]


def test_messages_that_were_not_chosen_stay_unread_and_are_counted(ledger: Ledger) -> None:
    for number in range(3):
        send(ledger, f"m{number}")
    rows, remaining = messages.take_messages(ledger, SESSION, 200.0, lambda rows: rows[:1])
    assert (len(rows), remaining) == (1, 2)


def test_a_limited_number_of_messages_is_read_and_all_are_counted(ledger: Ledger) -> None:
    for number in range(messages.MAX_MESSAGES + 7):
        send(ledger, f"m{number}")
    row_counts: list[int] = []

    def choose_first(rows: list[Row]) -> list[Row]:
        row_counts.append(len(rows))
        return rows[:1]

    assert (
        messages.take_messages(ledger, SESSION, 200.0, choose_first)[1] == messages.MAX_MESSAGES + 6
    )
    assert messages.take_messages(ledger, SESSION, 200.0, choose_all)[1] == 6
    assert messages.take_messages(ledger, SESSION, 200.0, choose_all)[1] == 0
    assert row_counts == [messages.MAX_MESSAGES]
    assert receive(ledger, SESSION) == []


def test_own_and_expired_messages_are_not_delivered(ledger: Ledger) -> None:
    send(ledger, "m1", from_agent_id="s1")
    send(ledger, "m2", seconds=50.0)
    assert receive(ledger, SESSION) == []
    assert receive(ledger, OTHER_SESSION) == ["m1"]


def test_a_message_that_was_read_in_the_inbox_is_not_delivered_again(ledger: Ledger) -> None:
    send(ledger, "m1", "s1")
    messages.mark_read(ledger, messages.list_inbox(ledger, "s1", 150.0, 10), "s1", 150.0)
    assert receive(ledger, SESSION) == []
    rows, _ = messages.take_messages(ledger, SESSION, 200.0, choose_all, again=True)
    assert [row["id"] for row in rows] == ["m1"]


def test_the_receipt_of_a_message_to_a_type_names_the_type_and_the_agent(ledger: Ledger) -> None:
    send(ledger, "m1", "Explore")
    rows, _ = messages.take_messages(ledger, EXPLORER, 200.0, choose_all)
    assert messages.find_readers(ledger, rows) == {"m1": ["Explore", "a1"]}


def read_taken_flags(ledger: Ledger) -> list[str]:
    """Return the ids of messages that queries for unread messages can skip."""
    rows = ledger.database.run("SELECT id FROM messages WHERE taken = 1 ORDER BY id")[0]
    return [row["id"] for row in rows]


def test_read_messages_are_flagged_so_that_queries_skip_them(ledger: Ledger) -> None:
    for ident, to in (("mine", "s1"), ("kind", "main"), ("all", ""), ("other", "s2")):
        send(ledger, ident, to)
    assert sorted(receive(ledger, SESSION)) == ["all", "kind", "mine"]
    assert read_taken_flags(ledger) == ["kind", "mine"], "other agents have not read the broadcast"
    assert sorted(receive(ledger, OTHER_SESSION)) == ["all", "other"]


def test_synced_and_local_receipts_both_count(ledger: Ledger) -> None:
    send(ledger, "m1", "s1")
    send(ledger, "m2", "s1")
    receipt = {"agent_id": "s1", "updated_at": 150.0}
    ledger.write_unpublished(READS, {"id": "r1", "message": "m1", **receipt})
    ledger.write(READS, {"id": "r2", "message": "m2", **receipt})
    assert read_taken_flags(ledger) == ["m1", "m2"]
    assert receive(ledger, SESSION) == []


def test_a_message_that_is_sent_to_another_agent_is_unread_again(ledger: Ledger) -> None:
    send(ledger, "m1", "s1")
    assert receive(ledger, SESSION) == ["m1"]
    send(ledger, "m1", "s1")
    assert receive(ledger, SESSION) == []
    send(ledger, "m1", "s2")
    assert receive(ledger, OTHER_SESSION) == ["m1"]
