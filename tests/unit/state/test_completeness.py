"""Counting what a state knows."""

from __future__ import annotations

from typing import Any

from holdfast.state.completeness import count_items
from holdfast.state.fold import new_state
from tests.cases import case


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
    for part, one in cases:
        with case(part, one):
            assert count_items(new_state()) == 0
            richer: Any = {**new_state(), part: one}
            assert count_items(richer) == 1
