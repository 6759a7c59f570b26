"""Settings of one run of `holdfast eval`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

# Searches a transcript as an agent would: (path, words) -> the text that the agent sees.
Lookup = Callable[[str, str], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalConfig:
    budgets: tuple[int, ...] = (500, 1000, 2000)
    quick: bool = False  # only recall, precision and budgets, with fewer baselines
    lookup: Lookup | None = None
