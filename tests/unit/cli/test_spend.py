"""`holdfast spend`: the costs of conversation summaries."""

from __future__ import annotations

import pytest

from holdfast.conversations.cost_limit import Ceiling, SpendLedger
from holdfast.conversations.store import ConversationStore
from holdfast.conversations.summarizers import Price, Usage
from holdfast.errors import CostLimitExceeded
from tests.terminal import Terminal

PRICE = Price(model="claude-haiku-4-5", input=1.0, output=5.0, most_output=4000)


def test_without_costs_a_message_is_printed(terminal: Terminal) -> None:
    result = terminal.run("spend")
    assert (result.code, result.out) == (0, "")
    assert "There are no costs" in result.err
    assert terminal.run("spend", "--json").json == []


def test_another_store_can_be_given_by_its_path(terminal: Terminal) -> None:
    result = terminal.run("spend", "--store", "nosuch.db")
    assert result.code == 1
    assert "There is no store at nosuch.db" in result.err
    store = ConversationStore(str(terminal.project / "agent.db"), own_folder=False)
    SpendLedger(store, Ceiling()).reserve("s9", "", PRICE, 1000)
    store.close()
    (row,) = terminal.run("spend", "--store", "agent.db", "--json").json
    assert row["session"] == "s9"


def test_with_a_team_database_only_the_costs_of_this_machine_are_shown(terminal: Terminal) -> None:
    terminal.set_env(HOLDFAST_DATABASE="postgresql://ada@127.0.0.1:1/team")
    result = terminal.run("spend")
    assert result.code == 0
    assert "the costs of this machine" in result.err
    assert terminal.run("spend", "--json").json == []


def test_a_database_url_is_refused_and_not_printed(terminal: Terminal) -> None:
    result = terminal.run("spend", "--store", "postgresql://ada:hunter2@127.0.0.1:1/team")
    assert result.code == 1
    assert "not in PostgreSQL" in result.err
    assert "hunter2" not in result.err


def test_costs_are_summed_and_an_unfinished_call_counts_its_maximum(terminal: Terminal) -> None:
    store = ConversationStore(str(terminal.store / "holdfast.db"))
    ledger = SpendLedger(store, Ceiling(per_session=0.1, per_day=None))
    for _ in range(2):
        reservation = ledger.reserve("s1", "auth", PRICE, 10_000)
        usage = Usage(model=PRICE.model, input_tokens=9000, output_tokens=200)
        ledger.settle(reservation, PRICE, usage)
    ledger.reserve("s1", "auth", PRICE, 10_000)
    with pytest.raises(
        CostLimitExceeded, match=r"\$0\.0500 were spent this session.*above \$0\.10"
    ):
        ledger.reserve("s1", "auth", PRICE, 50_000)
    ledger.reserve("s2", "", PRICE, 50_000)
    store.close()
    first, second = terminal.run("spend", "--json").json
    assert (first["session"], first["calls"], first["input_tokens"]) == ("s1", 3, 18_000)
    assert first["dollars"] == pytest.approx(0.05)
    assert second["session"] == "s2"
    result = terminal.run("spend")
    assert "s1/auth" in result.out
    assert "$0.0500" in result.out
    assert "$0.1200 in total" in result.err
