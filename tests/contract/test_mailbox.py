"""Who is told which message, and how often, on every database."""

from __future__ import annotations

from typing import Any

from holdfast.ledger import messages
from holdfast.ledger.messages import Recipient
from holdfast.ledger.repository import Ledger, Row
from holdfast.ledger.schema import READS

SESSION = Recipient("s1", "main", "p1")
OTHER = Recipient("s2", "main", "p1")
ELSEWHERE = Recipient("s9", "main", "p9")
EXPLORER = Recipient("a1", "Explore", "p1")


def say(ledger: Ledger, ident: str, to: str = "", **fields: Any) -> None:
    told = {"from_agent_id": "boss", "project": "p1", **fields}
    messages.send(ledger, 100.0, ident=ident, to_agent_id=to, **told)


def everything(found: list[Row]) -> list[Row]:
    return found


def told(ledger: Ledger, reader: Recipient, most: int = 100) -> list[str]:
    rows, _ = messages.take_messages(ledger, reader, 200.0, lambda found: found[:most])
    return [row["id"] for row in rows]


def test_a_message_to_an_agent_reaches_it_once_and_nobody_else(ledger: Ledger) -> None:
    say(ledger, "m1", "s1")
    assert told(ledger, OTHER) == []
    assert told(ledger, SESSION) == ["m1"]
    assert told(ledger, SESSION) == []


def test_an_agents_own_id_counts_in_whatever_project(ledger: Ledger) -> None:
    say(ledger, "m1", "s9")
    assert told(ledger, ELSEWHERE) == ["m1"]


def test_a_message_to_a_kind_reaches_the_first_of_that_kind_in_the_project(ledger: Ledger) -> None:
    say(ledger, "m1", "Explore")
    assert told(ledger, Recipient("a9", "Explore", "p9")) == []
    assert told(ledger, EXPLORER) == ["m1"]
    assert told(ledger, Recipient("a2", "Explore", "p1")) == []


def test_a_broadcast_reaches_every_agent_of_its_project_once(ledger: Ledger) -> None:
    say(ledger, "m1")
    for reader in (SESSION, OTHER, EXPLORER):
        assert told(ledger, reader) == ["m1"]
        assert told(ledger, reader) == []
    assert told(ledger, ELSEWHERE) == []


def test_without_a_project_it_reaches_those_of_any(ledger: Ledger) -> None:
    say(ledger, "m1", project="")
    say(ledger, "m2", "main", project="")
    assert told(ledger, ELSEWHERE) == ["m1", "m2"]


def test_an_agent_without_a_kind_is_not_everybody(ledger: Ledger) -> None:
    messages.subscribe(ledger, "a1", "api", 1.0)
    say(ledger, "m1", topic="lunch")
    assert told(ledger, Recipient("a1", "", "p1")) == []


def test_whoever_chose_topics_hears_of_no_others(ledger: Ledger) -> None:
    messages.subscribe(ledger, "s1", "api", 1.0)
    messages.subscribe(ledger, "Explore", "ui", 1.0)
    say(ledger, "m1", topic="api")
    say(ledger, "m2", topic="ui")
    assert told(ledger, SESSION) == ["m1"]
    assert told(ledger, EXPLORER) == ["m2"]
    assert told(ledger, OTHER) == ["m1", "m2"]


def test_what_a_kind_chose_counts_in_its_project(ledger: Ledger) -> None:
    messages.subscribe(ledger, "main", "api", 1.0, "p1")
    for project in ("p1", "p9"):
        say(ledger, f"m {project}", topic="lunch", project=project)
    assert told(ledger, SESSION) == []
    assert told(ledger, ELSEWHERE) == ["m p9"]


def test_the_important_and_then_the_oldest_come_first(ledger: Ledger) -> None:
    for ident, priority in (("m1", 1), ("m2", 9), ("m3", 9)):
        say(ledger, ident, priority=priority)
    assert told(ledger, SESSION, most=2) == ["m2", "m3"]
    assert told(ledger, SESSION) == ["m1"]


def test_what_was_not_chosen_waits_and_is_counted(ledger: Ledger) -> None:
    for number in range(3):
        say(ledger, f"m{number}")
    rows, left = messages.take_messages(ledger, SESSION, 200.0, lambda found: found[:1])
    assert (len(rows), left) == (1, 2)


def test_however_much_waits_little_is_read_and_all_is_counted(ledger: Ledger) -> None:
    for number in range(messages.MAX_MESSAGES + 7):
        say(ledger, f"m{number}")
    read: list[int] = []

    def chosen(found: list[Row]) -> list[Row]:
        read.append(len(found))
        return found[:1]

    assert messages.take_messages(ledger, SESSION, 200.0, chosen)[1] == messages.MAX_MESSAGES + 6
    assert messages.take_messages(ledger, SESSION, 200.0, everything)[1] == 6
    assert messages.take_messages(ledger, SESSION, 200.0, everything)[1] == 0
    assert read == [messages.MAX_MESSAGES]
    assert told(ledger, SESSION) == []


def test_nobody_is_told_what_it_said_itself_or_what_has_expired(ledger: Ledger) -> None:
    say(ledger, "m1", from_agent_id="s1")
    say(ledger, "m2", seconds=50.0)
    assert told(ledger, SESSION) == []
    assert told(ledger, OTHER) == ["m1"]


def test_what_was_read_by_the_servers_way_is_not_told_again(ledger: Ledger) -> None:
    say(ledger, "m1", "s1")
    messages.mark_read(ledger, messages.list_inbox(ledger, "s1", 150.0, 10), "s1", 150.0)
    assert told(ledger, SESSION) == []
    again, _ = messages.take_messages(ledger, SESSION, 200.0, everything, again=True)
    assert [row["id"] for row in again] == ["m1"]


def test_the_receipt_names_who_read_it_also_for_a_kind(ledger: Ledger) -> None:
    say(ledger, "m1", "Explore")
    rows, _ = messages.take_messages(ledger, EXPLORER, 200.0, everything)
    assert messages.find_readers(ledger, rows) == {"m1": ["Explore", "a1"]}


def taken(ledger: Ledger) -> list[str]:
    """What nobody has to look at again to find what waits."""
    found = ledger.database.run("SELECT id FROM messages WHERE taken = 1 ORDER BY id")[0]
    return [row["id"] for row in found]


def test_what_was_read_need_not_be_gone_through_again(ledger: Ledger) -> None:
    for ident, to in (("mine", "s1"), ("kind", "main"), ("all", ""), ("other", "s2")):
        say(ledger, ident, to)
    assert sorted(told(ledger, SESSION)) == ["all", "kind", "mine"]
    assert taken(ledger) == ["kind", "mine"], "a broadcast waits for others yet"
    assert sorted(told(ledger, OTHER)) == ["all", "other"]


def test_a_receipt_counts_whichever_way_it_comes(ledger: Ledger) -> None:
    say(ledger, "m1", "s1")
    say(ledger, "m2", "s1")
    receipt = {"agent_id": "s1", "updated_at": 150.0}
    ledger.write_unpublished(READS, {"id": "r1", "message": "m1", **receipt})
    ledger.write(READS, {"id": "r2", "message": "m2", **receipt})
    assert taken(ledger) == ["m1", "m2"]
    assert told(ledger, SESSION) == []


def test_a_message_that_is_sent_on_to_another_waits_again(ledger: Ledger) -> None:
    say(ledger, "m1", "s1")
    assert told(ledger, SESSION) == ["m1"]
    say(ledger, "m1", "s1")
    assert told(ledger, SESSION) == []
    say(ledger, "m1", "s2")
    assert told(ledger, OTHER) == ["m1"]
