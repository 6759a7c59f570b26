"""Clearing up by hand: told first, done only when it is asked for."""

from __future__ import annotations

import time
from contextlib import closing

import pytest

from holdfast.ledger import messages
from holdfast.ledger.opening import local_ledger
from holdfast.ledger.tables import MESSAGES
from tests.unit.surfaces.conftest import Terminal


@pytest.fixture
def cluttered(terminal: Terminal) -> Terminal:
    ledger = local_ledger(str(terminal.store / "ledger.db"))
    with closing(ledger.database):
        messages.send(ledger, time.time() - 90 * 86_400, ident="old", from_agent_id="a")
    return terminal


def left(terminal: Terminal) -> int:
    ledger = local_ledger(str(terminal.store / "ledger.db"))
    with closing(ledger.database):
        return ledger.count(MESSAGES)


def test_without_yes_nothing_goes(cluttered: Terminal) -> None:
    ran = cluttered.run("gc")
    assert ran.code == 1
    assert "1 messages" in ran.err
    assert "--yes" in ran.err
    dry = cluttered.run("gc", "--dry-run", "--yes", "--json")
    assert (dry.code, dry.json["messages"], dry.json["done"]) == (0, 1, False)
    assert left(cluttered) == 1


def test_with_yes_it_is_gone(cluttered: Terminal) -> None:
    assert cluttered.run("gc", "--yes").code == 0
    assert left(cluttered) == 0
    assert "nothing to take away" in cluttered.run("gc").err


def test_what_is_younger_than_asked_for_stays(cluttered: Terminal) -> None:
    assert cluttered.run("gc", "--yes", "--days", "100", "--json").json["messages"] == 0
    assert left(cluttered) == 1


@pytest.mark.parametrize("argv", [("--days", "0"), ("--team",)])
def test_what_makes_no_sense_is_explained(terminal: Terminal, argv: tuple[str, ...]) -> None:
    ran = terminal.run("gc", *argv)
    assert ran.code == 1
    assert ran.err.startswith("error: ")


def test_a_team_s_store_is_cleared_on_demand(terminal: Terminal, postgres_url: str) -> None:
    terminal.set(HOLDFAST_DATABASE=postgres_url)
    assert terminal.run("gc", "--team", "--dry-run", "--json").json["snapshots"] == 0
