"""What others of a team say arrives on this machine, where hooks find it; once."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from holdfast.actions.messages import Asking, send, waiting
from holdfast.ledger import flags, mailbox, messages, projects
from holdfast.ledger.ledger import Ledger
from holdfast.ledger.mailbox import Reader
from holdfast.ledger.opening import local_ledger
from holdfast.ledger.tables import MESSAGES, SUBSCRIPTIONS
from holdfast.store.postgres import PostgresStore

from .machine import Machine

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


def test_topics_that_a_new_team_never_heard_of_stay(machine: Machine) -> None:
    messages.subscribe(machine.ledger, "s1", "api", 1.0)
    machine.ledger.database.run("DELETE FROM changes")
    machine.sync()
    assert [row["topic"] for row in machine.ledger.rows(SUBSCRIPTIONS)] == ["api"]


def test_who_asks_the_team_is_not_told_what_a_hook_told_already(
    tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_DATABASE", postgres_url)
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
