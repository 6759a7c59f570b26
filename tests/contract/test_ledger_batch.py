"""Rows of many callers in one transaction, and what is saved again among them."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.errors import StoreUnavailable
from holdfast.ledger import contexts
from holdfast.ledger.actions import action, add_action
from holdfast.ledger.batch import Fresh, add_all
from holdfast.ledger.ledger import Ledger
from holdfast.ledger.tables import ACTIONS, CONTEXTS


def fresh(ident: str, **more: Any) -> Fresh:
    row = action(2.0, ident=ident, tool_name="Read", session="s1", **more)
    return Fresh(ACTIONS, ACTIONS.encoded(row), lambda ledger: ledger.write(ACTIONS, row))


def test_rows_of_many_callers_are_added_together_and_told_in_order(ledger: Ledger) -> None:
    saved, text = contexts.snapshot("s1", "p", {"b": "é", "a": [1]}, 3.0)
    snapshot = Fresh(CONTEXTS, CONTEXTS.encoded(saved, role_context=text), lambda ledger: {})
    rows = [fresh("b", given="é\0\ud800"), fresh("a"), snapshot, fresh("c")]
    assert add_all(ledger, rows)
    assert {row["id"] for row in ledger.rows(ACTIONS)} == {"a", "b", "c"}
    assert ledger.rows(CONTEXTS) == [saved]
    assert [one["record"] for one in ledger.changes()] == ["b", "a", saved["id"], "c"]
    found = ledger.need(ACTIONS, "b")
    assert found == ACTIONS.decoded(rows[0].stored)
    assert found["input"] == "é\0\ud800"


def test_if_one_of_many_rows_is_known_it_stays_and_all_can_be_written_alone(ledger: Ledger) -> None:
    add_action(ledger, 3.0, tool_name="Write", ident="b")
    rows = [fresh("a"), fresh("b"), fresh("c"), fresh("c")]
    assert not add_all(ledger, rows)
    assert not ledger.database.in_transaction
    assert ledger.need(ACTIONS, "b")["tool_name"] == "Write"
    for row in rows:
        row.alone(ledger)
    found = {row["id"]: row["tool_name"] for row in ledger.rows(ACTIONS)}
    assert found == {"a": "Read", "b": "Write", "c": "Read"}
    told = [one["record"] for one in ledger.changes()]
    assert sorted(told) == ["a", "b", "c"], "and each is told once"


def saved_again(at: float) -> Fresh:
    row, text = contexts.snapshot("s1", "p", {"a": 1}, at)
    stored = CONTEXTS.encoded(row, role_context=text)
    return Fresh(CONTEXTS, stored, lambda ledger: {}, is_named_by_content=True)


def test_what_is_saved_again_is_as_new_as_the_last_time_and_costs_nobody_a_second_try(
    ledger: Ledger,
) -> None:
    assert add_all(ledger, [saved_again(3.0)])
    assert add_all(ledger, [fresh("a"), saved_again(4.0), saved_again(5.0), fresh("b")])
    (row,) = ledger.rows(CONTEXTS)
    assert (row["created_at"], row["updated_at"], row["role_context"]) == (3.0, 5.0, {"a": 1})
    told = [(one["record"], one["at"]) for one in ledger.changes() if one["record"] == row["id"]]
    assert told == [(row["id"], 3.0), (row["id"], 5.0)], "once for those who came together"
    assert not add_all(ledger, [saved_again(2.0)]), "one that comes late changes nothing"
    assert ledger.rows(CONTEXTS) == [row]


def test_of_rows_of_which_one_is_bad_none_is_added(ledger: Ledger) -> None:
    bad = {**fresh("b").stored, "tool_name": None}
    with pytest.raises(StoreUnavailable):
        add_all(ledger, [fresh("a"), fresh("b")._replace(stored=bad)])
    assert ledger.rows(ACTIONS) == ledger.changes() == []
