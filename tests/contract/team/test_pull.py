"""Messages of other machines are pulled into the local ledger once."""

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


def send(ledger: Ledger, now: float, ident: str = "m1", **fields: Any) -> None:
    message = {"from_agent_id": "boss", "to_agent_id": "s1", **fields}
    messages.send(ledger, now, ident=ident, payload={"text": ident}, **message)


def receive(ledger: Ledger, now: float, reader: Recipient = READER) -> list[str]:
    return [row["id"] for row in messages.take_messages(ledger, reader, now, lambda rows: rows)[0]]


def test_a_message_is_pulled_to_the_other_machine_and_sets_the_unread_flag(
    machines: tuple[Machine, Machine],
) -> None:
    first, second = machines
    send(first.ledger, 100.0)
    first.sync()
    assert not unread_flags.read_flags(second.ledger.database.path, ["s1"], 100.0)
    assert second.sync().received == 1
    assert unread_flags.read_flags(second.ledger.database.path, ["s1"], 100.0)
    assert second.sync().received == 0
    assert receive(second.ledger, second.now) == ["m1"]


def test_a_message_read_on_another_machine_is_not_delivered_here(
    machines: tuple[Machine, Machine], team: PostgresStore
) -> None:
    first, second = machines
    send(first.ledger, 100.0)
    first.sync()
    second.sync()
    assert receive(Ledger(team.database), 110.0) == ["m1"]
    second.sync()
    assert receive(second.ledger, second.now) == []


def test_a_message_read_here_is_not_delivered_on_another_machine(
    machines: tuple[Machine, Machine], team: PostgresStore
) -> None:
    first, second = machines
    send(first.ledger, 100.0)
    first.sync()
    second.sync()
    assert receive(second.ledger, second.now) == ["m1"]
    second.sync()
    assert receive(Ledger(team.database), 110.0) == []
    first.sync()
    assert receive(first.ledger, first.now) == []


def test_messages_of_other_projects_are_not_pulled(
    machines: tuple[Machine, Machine],
) -> None:
    first, second = machines
    project = projects.ensure_project(first.ledger, "/srv/app", 1.0)["id"]
    send(first.ledger, 100.0, "in the project", to_agent_id="", project=project)
    send(first.ledger, 100.0, "without a project", to_agent_id="")
    first.sync()
    second.sync()
    assert [row["id"] for row in second.ledger.find(MESSAGES)] == ["without a project"]
    projects.ensure_project(second.ledger, "/srv/app", 1.0)
    second.sync()
    assert receive(second.ledger, second.now, Recipient("s1", "main", project)) == [
        "in the project",
        "without a project",
    ]


class RowCounter:
    """A team database that counts the rows that it returns."""

    def __init__(self, database: Any) -> None:
        self._database = database
        self.rows = self.max_batch = 0

    def run(self, *arguments: Any) -> Any:
        result = self._database.run(*arguments)
        self.rows += len(result[0])
        self.max_batch = max(self.max_batch, len(result[0]))
        return result

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)


def count_pull(machine: Machine) -> tuple[int, RowCounter]:
    """Pull; return the number of new messages and the counter of rows."""
    team = RowCounter(machine.team.database)
    machine.now += 1
    return pull_messages(machine.ledger, Ledger(team), TEAM, machine.now), team


def send_many(team: PostgresStore, first: int, last: int) -> None:
    ledger = Ledger(team.database)
    with ledger.transaction():
        for number in range(first, last):
            send(ledger, 100.0 + number / 1000, f"m{number}")


def test_the_cost_of_a_pull_does_not_depend_on_the_number_of_messages(
    machines: tuple[Machine, Machine], team: PostgresStore
) -> None:
    _, second = machines
    send_many(team, 0, 1200)
    received, first_pull = count_pull(second)
    assert (received, first_pull.max_batch) == (1200, BATCH_ROWS), "pulls must be in batches"
    received, empty_pull = count_pull(second)
    assert received == 0
    send_many(team, 1200, 1203)
    received, small_pull = count_pull(second)
    assert received == 3
    assert small_pull.rows - empty_pull.rows == 2 * 3, "a change and a message for each"
    assert len(second.ledger.find(MESSAGES)) == 1203


def test_messages_sent_during_a_pull_arrive_with_the_next_one(
    machines: tuple[Machine, Machine], team: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, second = machines
    send_many(team, 0, 3)
    original_find = Ledger.find

    def find_and_send(ledger: Ledger, table: Table, **options: Any) -> Any:
        rows = original_find(ledger, table, **options)
        if table is MESSAGES and ledger.database is not second.ledger.database:
            monkeypatch.setattr(Ledger, "find", original_find)
            # Older than the rows that were just read, as from a machine with a slow clock.
            send(Ledger(team.database), 50.0, "late")
        return rows

    monkeypatch.setattr(Ledger, "find", find_and_send)
    assert second.sync().received == 3
    assert second.sync().received == 1
    assert receive(second.ledger, second.now)[0] == "late"


@pytest.fixture
def behind(machine: Machine) -> Machine:
    """A machine that has pulled two messages, after which two more were sent."""
    send_many(machine.team, 0, 2)
    assert machine.sync().received == 2
    send_many(machine.team, 2, 4)
    return machine


def test_a_machine_that_missed_pruned_changes_still_gets_all_messages(
    behind: Machine,
) -> None:
    ledger = Ledger(behind.team.database)
    ledger.record_pruned(ledger.get_last_position())
    ledger.database.run("DELETE FROM changes")
    assert behind.sync().received == 2
    received, counter = count_pull(behind)
    assert (received, counter.max_batch) == (0, 1), "the next pull must continue from there"


def test_a_recreated_team_database_is_pulled_from_the_start(behind: Machine) -> None:
    progress = behind.ledger.load_progress(f"heard from {TEAM}")
    behind.ledger.save_progress(f"heard from {TEAM}", {**progress, "place": [2**60, 1]})
    assert behind.sync().received == 2


def test_subscriptions_are_pulled_from_other_machines(
    machines: tuple[Machine, Machine], team: PostgresStore
) -> None:
    first, second = machines
    messages.subscribe(Ledger(team.database), "s1", "api", 1.0)
    messages.subscribe(second.ledger, "s2", "ui", 1.0)
    second.sync()
    assert {row["topic"] for row in second.ledger.find(SUBSCRIPTIONS)} == {"api", "ui"}
    first.sync()
    messages.unsubscribe(first.ledger, "s1", "api", first.now)
    first.sync()
    second.sync()
    assert {row["topic"] for row in second.ledger.find(SUBSCRIPTIONS)} == {"ui"}


def test_a_message_to_an_agent_id_is_pulled_in_any_project(
    machines: tuple[Machine, Machine],
) -> None:
    first, second = machines
    send(first.ledger, 100.0, project="p9", session="s9")
    send(first.ledger, 100.0, "m2", project="p9", to_agent_id="")
    first.sync()
    assert second.sync().received == 1
    assert receive(second.ledger, second.now) == ["m1"]


def test_the_project_of_a_subscription_is_pulled_from_the_team_and_kept(
    machines: tuple[Machine, Machine], team: PostgresStore
) -> None:
    """An upgrade leaves the project empty if the agent is unknown."""
    _, second = machines
    row = messages.subscribe(Ledger(team.database), "s1", "api", 1.0, "p1")
    second.ledger.write_unpublished(SUBSCRIPTIONS, {**row, "project": ""})
    second.sync()
    assert [row["project"] for row in second.ledger.find(SUBSCRIPTIONS)] == ["p1"]
    Ledger(team.database).write(SUBSCRIPTIONS, {**row, "project": "", "updated_at": 9.0})
    (stored,) = Ledger(team.database).find(SUBSCRIPTIONS)
    assert stored["project"] == "p1"


def test_subscriptions_unknown_to_a_new_team_stay(machine: Machine) -> None:
    messages.subscribe(machine.ledger, "s1", "api", 1.0)
    machine.ledger.database.run("DELETE FROM changes")
    machine.sync()
    assert [row["topic"] for row in machine.ledger.find(SUBSCRIPTIONS)] == ["api"]


def test_messages_that_a_hook_delivered_are_not_read_again_from_the_team(
    tmp_path: Path, migrated_postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_DATABASE", migrated_postgres_url)
    path = str(tmp_path / "ledger.db")
    boss, reader = MessageAgent("s2", "/srv/app", "boss"), MessageAgent("s1", "/srv/app")
    for text in ("first", "second"):
        post_message(path, boss, to="s1", topic="", text=text)
        ledger = open_local_ledger(path)
        with closing(ledger.database):
            now = time.time()
            # A hook reads the local ledger, which already has the message.
            if text == "first":
                assert len(receive(ledger, now, Recipient("s1", "main"))) == 1
    assert [row["payload"]["text"] for row in read_messages(path, reader)] == ["second"]
    assert read_messages(path, reader) == []
    ledger = open_local_ledger(path)
    with closing(ledger.database):
        assert receive(ledger, time.time(), Recipient("s1", "main")) == []


def test_a_team_database_moved_to_another_cluster_is_pulled(
    machines: tuple[Machine, Machine], team: PostgresStore
) -> None:
    first, second = machines
    for machine in machines:
        machine.add_session(f"s-{machine.folder.name}", "add login")
        machine.sync()
    # The old cluster had higher transaction numbers than this one.
    Ledger(team.database).save_progress("changes that were taken away", {"tx": 1 << 40, "seq": 9})
    for machine in machines:
        machine.sync()
    messages.send(first.ledger, first.now, ident="m1", from_agent_id="a", to_agent_id="b")
    first.sync()
    assert second.sync().received == 1
