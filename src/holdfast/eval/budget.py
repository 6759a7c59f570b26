"""Token budgets. All texts that are compared are counted in the same way as a brief."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from holdfast.tokens.estimate import Estimator

Item = TypeVar("Item")
# A brief counts at least one token for so many characters, so a longer text cannot fit.
FLAT_CHARS_PER_TOKEN = 3.0


class TokenBudget:
    """A number of tokens, counted by the estimate for a model."""

    def __init__(self, tokens: int, model: str = "") -> None:
        self.tokens = tokens
        self._estimator = Estimator.for_model(model)

    def count(self, text: str) -> float:
        """Count as a brief does: at least the flat count."""
        return max(len(text) / FLAT_CHARS_PER_TOKEN, self._estimator.estimate(text))

    def fits(self, text: str) -> bool:
        return self.count(text) <= self.tokens

    def fill(self, items: Sequence[Item], render: Callable[[Sequence[Item]], str]) -> str:
        """Render as many of the leading items as fit."""
        return self._longest(len(items), lambda count: render(items[:count]))

    def take_end(self, text: str) -> str:
        """Return the longest end of a text that fits."""
        limit = min(len(text), int(FLAT_CHARS_PER_TOKEN * self.tokens))
        return self._longest(limit, lambda length: text[len(text) - length :])

    def _longest(self, limit: int, render: Callable[[int], str]) -> str:
        """Return `render(n)` for the largest n up to `limit` that fits; "" if none does."""
        low, high = 0, limit
        while low < high:
            middle = (low + high + 1) // 2
            if self.fits(render(middle)):
                low = middle
            else:
                high = middle - 1
        return render(low) if low else ""
