"""Comparing two states of a session."""

from __future__ import annotations

from typing import Any

from holdfast.reports.diff import diff_states
from holdfast.state.fold import new_state
from holdfast.state.types import State


def state_with(**parts: Any) -> State:
    return {**new_state(), **parts}  # type: ignore[typeddict-item]


def plan_item(text: str, status: str, line: int) -> dict[str, Any]:
    return {"id": text, "text": text, "status": status, "line": line, "blocked_by": []}


def diff_rows(old: State, new: State) -> list[tuple[str, str, str, str, str]]:
    return [
        (change.kind, change.change, change.text, change.before, change.after)
        for change in diff_states(old, new)
    ]


def test_added_removed_and_changed_facts_are_listed() -> None:
    old = state_with(
        plan=[plan_item("a", "pending", 1), plan_item("b", "pending", 2)],
        files={"x.py": {"line": 3, "edits": 1}},
    )
    new = state_with(
        plan=[plan_item("a", "completed", 9)],
        files={"x.py": {"line": 8, "edits": 2}, "y.py": {"line": 7, "created": 7, "edits": 1}},
        commits=[{"sha": "abc1234", "subject": "Do a", "line": 10}],
    )
    assert diff_rows(old, new) == [
        ("plan", "changed", "a", "pending", "completed"),
        ("file", "changed", "x.py", "changed, 1 edits", "changed, 2 edits"),
        ("file", "added", "y.py", "", "created, 1 edits"),
        ("commit", "added", "abc1234 Do a", "", ""),
        ("plan", "gone", "b", "pending", ""),
    ]


def test_a_retracted_rule_and_a_check_that_passes_again_are_changes() -> None:
    rule = {"text": "Never push.", "kind": "prohibition", "line": 1, "superseded": 0}
    check = {"command": "make test", "kind": "test", "ok": False, "line": 2, "runs": 1,
             "error": [], "where": ""}  # fmt: skip
    old = state_with(rules=[rule], checks=[check])
    new = state_with(rules=[{**rule, "superseded": 5}], checks=[{**check, "ok": True}])
    assert diff_rows(old, new) == [
        ("prohibition", "changed", "Never push.", "holds", "taken back"),
        ("check", "changed", "make test", "fails", "passes"),
    ]


def test_a_state_does_not_differ_from_itself() -> None:
    state = state_with(plan=[plan_item("a", "pending", 1)])
    assert diff_states(state, state) == []
