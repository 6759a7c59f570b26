"""What tokens cost, in dollars for a million; what is not known counts as the dearest."""

from __future__ import annotations

from holdfast.session.summarizers import Price

DEAREST = (15.0, 75.0)
# Assumed where the caller gives no price, by the beginning of a model's name, the longest one.
# Prices change, and nothing here looks them up: a ceiling that must be exact needs `price=`.
ASSUMED = {
    "claude-haiku": (1.0, 5.0),
    "claude-sonnet": (3.0, 15.0),
    "claude-opus": (5.0, 25.0),
    "claude-opus-4-0": DEAREST,
    "claude-opus-4-1": DEAREST,
    "gpt-4o-mini": (0.15, 0.6),
    "gpt-4o": (2.5, 10.0),
    "gpt-4.1": (2.0, 8.0),
    "gpt-5-mini": (0.25, 2.0),
    "gpt-5": (1.25, 10.0),
}


def price_of(model: str, most_output: int, given: tuple[float, float] | None = None) -> Price:
    known = [name for name in ASSUMED if model.startswith(name)]
    cost = given or (ASSUMED[max(known, key=len)] if known else DEAREST)
    return Price(model=model, input=cost[0], output=cost[1], most_output=most_output)
