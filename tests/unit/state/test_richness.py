"""How much a state knows."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.state.fold import new_state
from holdfast.state.richness import richness


@pytest.mark.parametrize(
    ("part", "one"),
    [
        ("requests", [{}]), ("rules", [{}]), ("decisions", [{}]), ("plan", [{}]),
        ("files", {"a.py": {}}), ("checks", [{}]), ("commits", [{}]), ("agents", [{}]),
    ],
)  # fmt: skip
def test_everything_worth_restoring_makes_a_state_richer(part: str, one: object) -> None:
    assert richness(new_state()) == 0
    richer: Any = {**new_state(), part: one}
    assert richness(richer) == 1
