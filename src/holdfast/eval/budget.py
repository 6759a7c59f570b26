"""Token budgets. All texts that are compared are counted by the same estimator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from holdfast.tokens.estimate import Estimator

Item = TypeVar("Item")
ESTIMATORS = ("ours", "flat3")
# The flat estimator, with which earlier figures were made: every character counts the same.
FLAT_CHARS_PER_TOKEN = 3.0
# No estimator counts fewer tokens, so a longer text cannot fit.
MAX_CHARS_PER_TOKEN = 4


class TokenBudget:
    """A number of tokens, counted by our estimate for a model or by the flat one."""

    def __init__(self, tokens: int, estimator: str = "ours", model: str = "") -> None:
        self.tokens = tokens
        self.estimator = estimator
        self.model = model
        self._ours = Estimator.for_model(model)

    def with_tokens(self, tokens: float) -> TokenBudget:
        """Return a budget of another size, counted in the same way."""
        return TokenBudget(int(tokens), self.estimator, self.model)

    def count(self, text: str) -> float:
        """Count as a brief does: at least the flat count."""
        flat = len(text) / FLAT_CHARS_PER_TOKEN
        return flat if self.estimator == "flat3" else max(flat, self._ours.estimate(text))

    def fits(self, text: str) -> bool:
        return self.count(text) <= self.tokens

    def fill(self, items: Sequence[Item], render: Callable[[Sequence[Item]], str]) -> str:
        """Render as many of the leading items as fit."""
        return self._longest(len(items), lambda count: render(items[:count]))

    def take_end(self, text: str) -> str:
        """Return the longest end of a text that fits."""
        return self._longest(self._max_chars(text), lambda length: text[len(text) - length :])

    def take_start(self, text: str) -> str:
        """Return the longest beginning of a text that fits."""
        return self._longest(self._max_chars(text), lambda length: text[:length])

    def _max_chars(self, text: str) -> int:
        return min(len(text), MAX_CHARS_PER_TOKEN * self.tokens)

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
