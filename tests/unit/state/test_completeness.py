"""Counting the items of a state."""

from __future__ import annotations

from typing import Any

from holdfast.state.completeness import count_items
from holdfast.state.fold import new_state
from tests.cases import report_case


def test_every_kind_of_item_counts() -> None:
    cases = [
        ("requests", [{}]),
        ("rules", [{}]),
        ("decisions", [{}]),
        ("plan", [{}]),
        ("files", {"a.py": {}}),
        ("checks", [{}]),
        ("commits", [{}]),
        ("agents", [{}]),
    ]
    for part, items in cases:
        with report_case(part, items):
            assert count_items(new_state()) == 0
            state: Any = {**new_state(), part: items}
            assert count_items(state) == 1
