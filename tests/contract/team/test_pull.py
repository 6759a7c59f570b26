"""Messages of other machines arrive in this ledger once, where hooks find them."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from holdfast.ledger import messages, projects, unread_flags
from holdfast.ledger.connect import open_local_ledger
from holdfast.ledger.messages import Recipient
from holdfast.ledger.repository import Ledger
from holdfast.ledger.schema import MESSAGES, SUBSCRIPTIONS, Table
from holdfast.services.messages import MessageAgent, post_message, read_messages
from holdfast.services.team.pull import BATCH_ROWS, pull_messages
from holdfast.store.postgres import PostgresStore

from .machine import TEAM, Machine

READER = Recipient("s1", "main", "p1")


def say(ledger: Ledger, now: float, ident: str = "m1", **fields: Any) -> None:
    message = {"from_agent_id": "boss", "to_agent_id": "s1", **fields}
    messages.send(ledger, now, ident=ident, payload={"text": ident}, **message)


def deliver(ledger: Ledger, now: float, reader: Recipient = READER) -> list[str]:
    return [
        row["id"] for row in messages.take_messages(ledger, reader, now, lambda found: found)[0]
    ]


def test_a_message_goes_from_one_machine_to_the_other_and_raises_its_flag(
    machines: tuple[Machine, Machine],
) -> None:
    one, two = machines
    say(one.ledger, 100.0)
    one.sync()
    assert not unread_flags.read_flags(two.ledger.database.path, ["s1"], 100.0)
    assert two.sync().received == 1
    assert unread_flags.read_flags(two.ledger.database.path, ["s1"], 100.0)
    assert two.sync().received == 0
    assert deliver(two.ledger, two.now) == ["m1"]


def test_a_message_read_on_another_machine_is_not_delivered_here(
    machines: tuple[Machine, Machine], team: PostgresStore
) -> None:
    one, two = machines
    say(one.ledger, 100.0)
    one.sync()
    two.sync()
    assert deliver(Ledger(team.database), 110.0) == ["m1"]
    two.sync()
    assert deliver(two.ledger, two.now) == []


def test_a_message_read_here_is_not_delivered_on_another_machine(
    machines: tuple[Machine, Machine], team: PostgresStore
) -> None:
    one, two = machines
    say(one.ledger, 100.0)
    one.sync()
    two.sync()
    assert deliver(two.ledger, two.now) == ["m1"]
    two.sync()
    assert deliver(Ledger(team.database), 110.0) == []
    one.sync()
    assert deliver(one.ledger, one.now) == []


def test_messages_of_other_projects_are_not_pulled(
    machines: tuple[Machine, Machine],
) -> None:
    one, two = machines
    mine = projects.ensure_project(one.ledger, "/srv/app", 1.0)["id"]
    say(one.ledger, 100.0, "of the project", to_agent_id="", project=mine)
    say(one.ledger, 100.0, "of none", to_agent_id="")
    one.sync()
    two.sync()
    assert [row["id"] for row in two.ledger.find(MESSAGES)] == ["of none"]
    projects.ensure_project(two.ledger, "/srv/app", 1.0)
    two.sync()
    assert deliver(two.ledger, two.now, Recipient("s1", "main", mine)) == [
        "of none",
        "of the project",
    ]


class Counting:
    """A team's database that counts the rows it hands out."""

    def __init__(self, database: Any) -> None:
        self._database = database
        self.rows = self.most = 0

    def run(self, *given: Any) -> Any:
        found = self._database.run(*given)
        self.rows += len(found[0])
        self.most = max(self.most, len(found[0]))
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)


def count_pull(machine: Machine) -> tuple[int, Counting]:
    """The number of new messages, and the queries that the team got."""
    team = Counting(machine.team.database)
    machine.now += 1
    return pull_messages(machine.ledger, Ledger(team), TEAM, machine.now), team


def say_many(team: PostgresStore, first: int, last: int) -> None:
    ledger = Ledger(team.database)
    with ledger.transaction():
        for number in range(first, last):
            say(ledger, 100.0 + number / 1000, f"m{number}")


def test_the_cost_of_a_pull_does_not_depend_on_the_number_of_messages(
    machines: tuple[Machine, Machine], team: PostgresStore
) -> None:
    _, two = machines
    say_many(team, 0, 1200)
    came, first = count_pull(two)
    assert (came, first.most) == (1200, BATCH_ROWS), "not all of them at once"
    came, nothing = count_pull(two)
    assert came == 0
    say_many(team, 1200, 1203)
    came, three = count_pull(two)
    assert came == 3
    assert three.rows - nothing.rows == 2 * 3, "a change and a message for each"
    assert len(two.ledger.find(MESSAGES)) == 1203


def test_messages_sent_during_a_pull_arrive_with_the_next_one(
    machines: tuple[Machine, Machine], team: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, two = machines
    say_many(team, 0, 3)
    page = Ledger.find

    def meanwhile(ledger: Ledger, table: Table, **given: Any) -> Any:
        found = page(ledger, table, **given)
        if table is MESSAGES and ledger.database is not two.ledger.database:
            monkeypatch.setattr(Ledger, "find", page)
            # Older than what was just read, as if its machine's clock were slow.
            say(Ledger(team.database), 50.0, "late")
        return found

    monkeypatch.setattr(Ledger, "find", meanwhile)
    assert two.sync().received == 3
    assert two.sync().received == 1
    assert deliver(two.ledger, two.now)[0] == "late"


@pytest.fixture
def behind(machine: Machine) -> Machine:
    """It has pulled two messages; two more were sent since."""
    say_many(machine.team, 0, 2)
    assert machine.sync().received == 2
    say_many(machine.team, 2, 4)
    return machine


def test_a_machine_offline_for_longer_than_changes_are_kept_misses_nothing(
    behind: Machine,
) -> None:
    ledger = Ledger(behind.team.database)
    ledger.record_pruned(ledger.last_position())
    ledger.database.run("DELETE FROM changes")
    assert behind.sync().received == 2
    came, queries = count_pull(behind)
    assert (came, queries.most) == (0, 1), (
        "it continues from there, although that change is deleted"
    )


def test_a_recreated_team_database_is_pulled_from_the_start(behind: Machine) -> None:
    known = behind.ledger.load_progress(f"heard from {TEAM}")
    behind.ledger.save_progress(f"heard from {TEAM}", {**known, "place": [2**60, 1]})
    assert behind.sync().received == 2


def test_subscriptions_changed_elsewhere_apply_here(
    machines: tuple[Machine, Machine], team: PostgresStore
) -> None:
    one, two = machines
    messages.subscribe(Ledger(team.database), "s1", "api", 1.0)
    messages.subscribe(two.ledger, "s2", "ui", 1.0)
    two.sync()
    assert {row["topic"] for row in two.ledger.find(SUBSCRIPTIONS)} == {"api", "ui"}
    one.sync()
    messages.unsubscribe(one.ledger, "s1", "api", one.now)
    one.sync()
    two.sync()
    assert {row["topic"] for row in two.ledger.find(SUBSCRIPTIONS)} == {"ui"}


def test_an_id_reaches_an_agent_in_a_project_unknown_to_its_machine(
    machines: tuple[Machine, Machine],
) -> None:
    one, two = machines
    say(one.ledger, 100.0, project="p9", session="s9")
    say(one.ledger, 100.0, "m2", project="p9", to_agent_id="")
    one.sync()
    assert two.sync().received == 1
    assert deliver(two.ledger, two.now) == ["m1"]


def test_the_project_of_a_subscription_is_learned_from_the_team_and_kept(
    machines: tuple[Machine, Machine], team: PostgresStore
) -> None:
    """As an upgrade leaves it if the agent is unknown."""
    _, two = machines
    row = messages.subscribe(Ledger(team.database), "s1", "api", 1.0, "p1")
    two.ledger.write_unpublished(SUBSCRIPTIONS, {**row, "project": ""})
    two.sync()
    assert [one["project"] for one in two.ledger.find(SUBSCRIPTIONS)] == ["p1"]
    Ledger(team.database).write(SUBSCRIPTIONS, {**row, "project": "", "updated_at": 9.0})
    (kept,) = Ledger(team.database).find(SUBSCRIPTIONS)
    assert kept["project"] == "p1"


def test_subscriptions_unknown_to_a_new_team_stay(machine: Machine) -> None:
    messages.subscribe(machine.ledger, "s1", "api", 1.0)
    machine.ledger.database.run("DELETE FROM changes")
    machine.sync()
    assert [row["topic"] for row in machine.ledger.find(SUBSCRIPTIONS)] == ["api"]


def test_messages_that_a_hook_delivered_are_not_read_again_from_the_team(
    tmp_path: Path, postgres_place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_DATABASE", postgres_place)
    path = str(tmp_path / "ledger.db")
    boss, reader = MessageAgent("s2", "/srv/app", "boss"), MessageAgent("s1", "/srv/app")
    for text in ("first", "second"):
        post_message(path, boss, to="s1", topic="", text=text)
        mine = open_local_ledger(path)
        with closing(mine.database):
            now = time.time()
            # A hook of this machine reads its own ledger, where the message is already.
            if text == "first":
                assert len(deliver(mine, now, Recipient("s1", "main"))) == 1
    assert [row["payload"]["text"] for row in read_messages(path, reader)] == ["second"]
    assert read_messages(path, reader) == []
    mine = open_local_ledger(path)
    with closing(mine.database):
        assert deliver(mine, time.time(), Recipient("s1", "main")) == []


def test_a_team_database_moved_to_another_cluster_is_pulled(
    machines: tuple[Machine, Machine], team: PostgresStore
) -> None:
    one, two = machines
    for machine in machines:
        machine.session(f"s-{machine.folder.name}", "add login")
        machine.sync()
    # What was taken away there had numbers that this cluster has yet to come to.
    Ledger(team.database).save_progress("changes that were taken away", {"tx": 1 << 40, "seq": 9})
    for machine in machines:
        machine.sync()
    messages.send(one.ledger, one.now, ident="m1", from_agent_id="a", to_agent_id="b")
    one.sync()
    assert two.sync().received == 1
