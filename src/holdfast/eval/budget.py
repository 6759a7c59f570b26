"""Budgets: the same estimator for everything that is compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from holdfast.brief.tokens import Estimator

Item = TypeVar("Item")
ESTIMATORS = ("ours", "flat3")
# The estimator of the figures that were known before: every character counts the same.
FLAT = 3.0


class Budget:
    """So many tokens, by our content-aware estimate for a model or by the flat one."""

    def __init__(self, tokens: int, estimator: str = "ours", model: str = "") -> None:
        self.tokens = tokens
        self.estimator = estimator
        self.model = model
        self._ours = Estimator.for_model(model)

    def part(self, tokens: float) -> Budget:
        """Another number of tokens, counted in the same way."""
        return Budget(int(tokens), self.estimator, self.model)

    def count(self, text: str) -> float:
        """As a brief counts: no text has more characters to a token than the flat count allows."""
        flat = len(text) / FLAT
        return flat if self.estimator == "flat3" else max(flat, self._ours.estimate(text))

    def fits(self, text: str) -> bool:
        return self.count(text) <= self.tokens

    def most(self, items: Sequence[Item], written: Callable[[Sequence[Item]], str]) -> str:
        """As many of the leading items as fit, written out."""
        low, high = 0, len(items)
        while low < high:
            middle = (low + high + 1) // 2
            if self.fits(written(items[:middle])):
                low = middle
            else:
                high = middle - 1
        return written(items[:low]) if low else ""

    def end_of(self, text: str) -> str:
        """The longest end of this text that fits; nothing has four characters to a token."""
        longest = min(len(text), 4 * self.tokens)
        return self._longest(longest, lambda length: text[len(text) - length :])

    def start_of(self, text: str) -> str:
        return self._longest(min(len(text), 4 * self.tokens), lambda length: text[:length])

    def _longest(self, most: int, part: Callable[[int], str]) -> str:
        low, high = 0, most
        while low < high:
            middle = (low + high + 1) // 2
            if self.fits(part(middle)):
                low = middle
            else:
                high = middle - 1
        return part(low) if low else ""
