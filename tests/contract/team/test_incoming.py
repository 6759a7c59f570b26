"""What others of a team say arrives on this machine, where hooks find it; once."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from holdfast.actions.incoming import AT_ONCE, receive
from holdfast.actions.messages import Asking, send, waiting
from holdfast.ledger import flags, mailbox, messages, projects
from holdfast.ledger.ledger import Ledger
from holdfast.ledger.mailbox import Reader
from holdfast.ledger.opening import local_ledger
from holdfast.ledger.tables import MESSAGES, SUBSCRIPTIONS, Table
from holdfast.store.postgres import PostgresStore

from .machine import TEAM, Machine

READER = Reader("s1", "main", "p1")


def say(ledger: Ledger, now: float, ident: str = "m1", **fields: Any) -> None:
    told = {"from_agent_id": "boss", "to_agent_id": "s1", **fields}
    messages.send(ledger, now, ident=ident, payload={"text": ident}, **told)


def told(ledger: Ledger, now: float, reader: Reader = READER) -> list[str]:
    return [row["id"] for row in mailbox.take(ledger, reader, now, lambda found: found)[0]]


def test_a_message_goes_from_one_machine_to_the_other_and_raises_its_flag(
    machines: tuple[Machine, Machine],
) -> None:
    one, two = machines
    say(one.ledger, 100.0)
    one.sync()
    assert not flags.standing(two.ledger.database.path, ["s1"], 100.0)
    assert two.sync().received == 1
    assert flags.standing(two.ledger.database.path, ["s1"], 100.0)
    assert two.sync().received == 0
    assert told(two.ledger, two.now) == ["m1"]


def test_what_was_read_there_is_not_told_here(
    machines: tuple[Machine, Machine], team: PostgresStore
) -> None:
    one, two = machines
    say(one.ledger, 100.0)
    one.sync()
    two.sync()
    assert told(Ledger(team.database), 110.0) == ["m1"]
    two.sync()
    assert told(two.ledger, two.now) == []


def test_what_was_read_here_is_not_told_there(
    machines: tuple[Machine, Machine], team: PostgresStore
) -> None:
    one, two = machines
    say(one.ledger, 100.0)
    one.sync()
    two.sync()
    assert told(two.ledger, two.now) == ["m1"]
    two.sync()
    assert told(Ledger(team.database), 110.0) == []
    one.sync()
    assert told(one.ledger, one.now) == []


def test_messages_of_projects_that_are_not_here_stay_away(
    machines: tuple[Machine, Machine],
) -> None:
    one, two = machines
    mine = projects.project(one.ledger, "/srv/app", 1.0)["id"]
    say(one.ledger, 100.0, "of the project", to_agent_id="", project=mine)
    say(one.ledger, 100.0, "of none", to_agent_id="")
    one.sync()
    two.sync()
    assert [row["id"] for row in two.ledger.rows(MESSAGES)] == ["of none"]
    projects.project(two.ledger, "/srv/app", 1.0)
    two.sync()
    assert told(two.ledger, two.now, Reader("s1", "main", mine)) == ["of none", "of the project"]


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


def heard(machine: Machine) -> tuple[int, Counting]:
    """How many messages came, and what the team was asked for."""
    team = Counting(machine.team.database)
    machine.now += 1
    return receive(machine.ledger, Ledger(team), TEAM, machine.now), team


def say_many(team: PostgresStore, first: int, last: int) -> None:
    ledger = Ledger(team.database)
    with ledger.together():
        for number in range(first, last):
            say(ledger, 100.0 + number / 1000, f"m{number}")


def test_listening_costs_no_more_the_more_messages_wait(
    machines: tuple[Machine, Machine], team: PostgresStore
) -> None:
    _, two = machines
    say_many(team, 0, 1200)
    came, first = heard(two)
    assert (came, first.most) == (1200, AT_ONCE), "not all of them at once"
    came, nothing = heard(two)
    assert came == 0
    say_many(team, 1200, 1203)
    came, three = heard(two)
    assert came == 3
    assert three.rows - nothing.rows == 2 * 3, "a change and a message for each"
    assert len(two.ledger.rows(MESSAGES)) == 1203


def test_messages_that_come_while_the_team_is_listened_to_come_the_next_time(
    machines: tuple[Machine, Machine], team: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, two = machines
    say_many(team, 0, 3)
    page = Ledger.rows

    def meanwhile(ledger: Ledger, table: Table, **given: Any) -> Any:
        found = page(ledger, table, **given)
        if table is MESSAGES and ledger.database is not two.ledger.database:
            monkeypatch.setattr(Ledger, "rows", page)
            # Older than what was just read, as if its machine's clock were slow.
            say(Ledger(team.database), 50.0, "late")
        return found

    monkeypatch.setattr(Ledger, "rows", meanwhile)
    assert two.sync().received == 3
    assert two.sync().received == 1
    assert told(two.ledger, two.now)[0] == "late"


@pytest.fixture
def behind(machine: Machine) -> Machine:
    """It has heard two messages; two more have come since."""
    say_many(machine.team, 0, 2)
    assert machine.sync().received == 2
    say_many(machine.team, 2, 4)
    return machine


def test_a_machine_that_was_away_longer_than_changes_are_kept_misses_nothing(
    behind: Machine,
) -> None:
    ledger = Ledger(behind.team.database)
    ledger.forget(ledger.last_change())
    ledger.database.run("DELETE FROM changes")
    assert behind.sync().received == 2
    came, asked = heard(behind)
    assert (came, asked.most) == (0, 1), "it goes on from there, though there is no change"


def test_a_team_made_anew_is_heard_from_its_beginning(behind: Machine) -> None:
    known = behind.ledger.reading(f"heard from {TEAM}")
    behind.ledger.keep_reading(f"heard from {TEAM}", {**known, "place": [2**60, 1]})
    assert behind.sync().received == 2


def test_topics_chosen_or_given_up_elsewhere_hold_here(
    machines: tuple[Machine, Machine], team: PostgresStore
) -> None:
    one, two = machines
    messages.subscribe(Ledger(team.database), "s1", "api", 1.0)
    messages.subscribe(two.ledger, "s2", "ui", 1.0)
    two.sync()
    assert {row["topic"] for row in two.ledger.rows(SUBSCRIPTIONS)} == {"api", "ui"}
    one.sync()
    messages.unsubscribe(one.ledger, "s1", "api", one.now)
    one.sync()
    two.sync()
    assert {row["topic"] for row in two.ledger.rows(SUBSCRIPTIONS)} == {"ui"}


def test_an_agent_is_reached_by_its_id_in_a_project_that_its_machine_does_not_know(
    machines: tuple[Machine, Machine],
) -> None:
    one, two = machines
    say(one.ledger, 100.0, project="p9", session="s9")
    say(one.ledger, 100.0, "m2", project="p9", to_agent_id="")
    one.sync()
    assert two.sync().received == 1
    assert told(two.ledger, two.now) == ["m1"]


def test_of_which_project_a_topic_is_is_learned_from_the_team_and_never_forgotten(
    machines: tuple[Machine, Machine], team: PostgresStore
) -> None:
    """As an upgrade leaves it where nobody knows the agent."""
    _, two = machines
    row = messages.subscribe(Ledger(team.database), "s1", "api", 1.0, "p1")
    two.ledger.take_over(SUBSCRIPTIONS, {**row, "project": ""})
    two.sync()
    assert [one["project"] for one in two.ledger.rows(SUBSCRIPTIONS)] == ["p1"]
    Ledger(team.database).write(SUBSCRIPTIONS, {**row, "project": "", "updated_at": 9.0})
    (kept,) = Ledger(team.database).rows(SUBSCRIPTIONS)
    assert kept["project"] == "p1"


def test_topics_that_a_new_team_never_heard_of_stay(machine: Machine) -> None:
    messages.subscribe(machine.ledger, "s1", "api", 1.0)
    machine.ledger.database.run("DELETE FROM changes")
    machine.sync()
    assert [row["topic"] for row in machine.ledger.rows(SUBSCRIPTIONS)] == ["api"]


def test_who_asks_the_team_is_not_told_what_a_hook_told_already(
    tmp_path: Path, postgres_place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_DATABASE", postgres_place)
    path = str(tmp_path / "ledger.db")
    boss, reader = Asking("s2", "/srv/app", "boss"), Asking("s1", "/srv/app")
    for text in ("first", "second"):
        send(path, boss, to="s1", topic="", text=text)
        mine = local_ledger(path)
        with closing(mine.database):
            now = time.time()
            # A hook of this machine reads its own ledger, where the message is already.
            if text == "first":
                assert len(told(mine, now, Reader("s1", "main"))) == 1
    assert [row["payload"]["text"] for row in waiting(path, reader)] == ["second"]
    assert waiting(path, reader) == []
    mine = local_ledger(path)
    with closing(mine.database):
        assert told(mine, time.time(), Reader("s1", "main")) == []


def test_a_team_that_moved_into_another_cluster_is_heard(
    machines: tuple[Machine, Machine], team: PostgresStore
) -> None:
    one, two = machines
    for machine in machines:
        machine.session(f"s-{machine.folder.name}", "add login")
        machine.sync()
    # What was taken away there had numbers that this cluster has yet to come to.
    Ledger(team.database).keep_reading("changes that were taken away", {"tx": 1 << 40, "seq": 9})
    for machine in machines:
        machine.sync()
    messages.send(one.ledger, one.now, ident="m1", from_agent_id="a", to_agent_id="b")
    one.sync()
    assert two.sync().received == 1
