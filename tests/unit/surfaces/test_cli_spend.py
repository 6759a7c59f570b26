"""`holdfast spend`: the ledger of what summaries cost."""

from __future__ import annotations

import pytest

from holdfast.errors import SpendRefused
from holdfast.session.spend import Ceiling, Ledger
from holdfast.session.summarizers import Price, Usage
from holdfast.store.conversations import Conversations
from tests.terminal import Terminal

PRICE = Price(model="claude-haiku-4-5", input=1.0, output=5.0, most_output=4000)


def test_nothing_is_told_as_nothing(terminal: Terminal) -> None:
    ran = terminal.run("spend")
    assert (ran.code, ran.out) == (0, "")
    assert "Nothing was spent" in ran.err
    assert terminal.run("spend", "--json").json == []


def test_a_store_of_its_own_is_named_by_its_file(terminal: Terminal) -> None:
    ran = terminal.run("spend", "--store", "nosuch.db")
    assert ran.code == 1
    assert "a store at nosuch.db" in ran.err
    store = Conversations(str(terminal.project / "agent.db"), own_folder=False)
    Ledger(store, Ceiling()).set_aside("s9", "", PRICE, 1000)
    store.close()
    (row,) = terminal.run("spend", "--store", "agent.db", "--json").json
    assert row["session"] == "s9"


def test_where_a_team_is_named_it_says_that_it_tells_of_this_machine(terminal: Terminal) -> None:
    terminal.set(HOLDFAST_DATABASE="postgresql://ada@127.0.0.1:1/team")
    ran = terminal.run("spend")
    assert ran.code == 0
    assert "what was spent here" in ran.err
    assert terminal.run("spend", "--json").json == []


def test_an_address_is_no_store_of_conversations_and_not_repeated(terminal: Terminal) -> None:
    ran = terminal.run("spend", "--store", "postgresql://ada:hunter2@127.0.0.1:1/team")
    assert ran.code == 1
    assert "not in PostgreSQL" in ran.err
    assert "hunter2" not in ran.err


def test_calls_are_added_up_and_one_that_never_ended_counts_in_full(terminal: Terminal) -> None:
    store = Conversations(str(terminal.store / "holdfast.db"))
    ledger = Ledger(store, Ceiling(per_session=0.1, per_day=None))
    for _ in range(2):
        spent = ledger.set_aside("s1", "auth", PRICE, 10_000)
        usage = Usage(model=PRICE.model, input_tokens=9000, output_tokens=200)
        ledger.settle(spent, PRICE, usage)
    ledger.set_aside("s1", "auth", PRICE, 10_000)
    with pytest.raises(SpendRefused, match=r"\$0\.0500 were spent this session.*above \$0\.10"):
        ledger.set_aside("s1", "auth", PRICE, 50_000)
    ledger.set_aside("s2", "", PRICE, 50_000)
    store.close()
    first, second = terminal.run("spend", "--json").json
    assert (first["session"], first["calls"], first["input_tokens"]) == ("s1", 3, 18_000)
    assert first["dollars"] == pytest.approx(0.05)
    assert second["session"] == "s2"
    ran = terminal.run("spend")
    assert "s1/auth" in ran.out
    assert "$0.0500" in ran.out
    assert "$0.1200 in all" in ran.err
