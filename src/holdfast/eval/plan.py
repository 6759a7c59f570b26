"""What a run is to measure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

# Looks words up in a transcript as the agent would: (path, words) -> what it is shown.
Lookup = Callable[[str, str], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    budgets: tuple[int, ...] = (500, 1000, 2000)
    estimator: str = "ours"
    quick: bool = False  # recall, precision and budgets against two baselines
    lookup: Lookup | None = None
