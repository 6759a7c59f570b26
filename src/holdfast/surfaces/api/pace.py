"""How often each caller may ask: so much at once, and then so much a second."""

from __future__ import annotations

A_SECOND = 200.0
# So many seconds' worth may come at once.
BURST = 2.0
AT_ONCE = BURST * A_SECOND
MOST_KNOWN = 10_000


class Pace:
    """A bucket for each caller, which fills with time."""

    def __init__(self, at_once: float = AT_ONCE, a_second: float = A_SECOND) -> None:
        self._at_once = at_once
        self._a_second = a_second
        self._known: dict[str, tuple[float, float]] = {}

    def allows(self, caller: str, now: float) -> bool:
        left, then = self._known.get(caller, (self._at_once, now))
        left = min(self._at_once, left + max(0.0, now - then) * self._a_second)
        if len(self._known) >= MOST_KNOWN:
            # Whoever has not asked for long has a full bucket anyway.
            self._known = {}
        self._known[caller] = (left - 1 if left >= 1 else left, now)
        return left >= 1
