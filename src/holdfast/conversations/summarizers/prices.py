"""Assumed prices in dollars per million tokens; unknown models count as the most expensive."""

from __future__ import annotations

from holdfast.conversations.summarizers import Price

MOST_EXPENSIVE = (15.0, 75.0)
# By the beginning of a model's name; the longest match counts. Prices change, and nothing here
# looks them up: a ceiling that must be exact needs `price=`.
ASSUMED_PRICES = {
    "claude-haiku": (1.0, 5.0),
    "claude-sonnet": (3.0, 15.0),
    "claude-opus": (5.0, 25.0),
    "claude-opus-4-0": MOST_EXPENSIVE,
    "claude-opus-4-1": MOST_EXPENSIVE,
    "gpt-4o-mini": (0.15, 0.6),
    "gpt-4o": (2.5, 10.0),
    "gpt-4.1": (2.0, 8.0),
    "gpt-5-mini": (0.25, 2.0),
    "gpt-5": (1.25, 10.0),
}


def find_price(model: str, most_output: int, given: tuple[float, float] | None = None) -> Price:
    """Return the price given, else the assumed price of a model."""
    known = [name for name in ASSUMED_PRICES if model.startswith(name)]
    dollars = given or (ASSUMED_PRICES[max(known, key=len)] if known else MOST_EXPENSIVE)
    return Price(model=model, input=dollars[0], output=dollars[1], most_output=most_output)
