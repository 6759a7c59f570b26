"""How often each caller may ask: so much at once, and then so much a second.

Workers of one server (`workers.py`) share the count: it lies in memory that belongs to all of them.
"""

from __future__ import annotations

import mmap

A_SECOND = 200.0
# So many seconds' worth may come at once.
BURST = 2.0
AT_ONCE = BURST * A_SECOND
MOST_KNOWN = 1 << 13
# Where a caller's bucket may lie, from the place that its name gives.
PLACES = 8
WHO, LEFT, THEN, WORDS, BYTES = 0, 1, 2, 3, 8


class Pace:
    """A bucket for each caller, which fills with time.

    There is no lock, which somebody could die with: of two requests of one caller in the same
    microsecond one may go uncounted.
    """

    def __init__(self, at_once: float = AT_ONCE, a_second: float = A_SECOND) -> None:
        self._at_once = at_once
        self._a_second = a_second
        memory = memoryview(mmap.mmap(-1, MOST_KNOWN * WORDS * BYTES))
        self._names, self._amounts = memory.cast("q"), memory.cast("d")

    def allows(self, caller: str, now: float) -> bool:
        # The same in all workers: they have been one process.
        name = hash(caller) or 1
        at = self._place(name)
        left = self._at_once
        if self._names[at + WHO] == name:
            since = max(0.0, now - self._amounts[at + THEN])
            left = min(left, self._amounts[at + LEFT] + since * self._a_second)
        self._names[at + WHO] = name
        self._amounts[at + LEFT] = left - 1 if left >= 1 else left
        self._amounts[at + THEN] = now
        return left >= 1

    def _place(self, name: int) -> int:
        """Its own, or that of whoever has not asked for the longest: their bucket is full again."""
        places = [(name + step) % MOST_KNOWN * WORDS for step in range(PLACES)]
        for at in places:
            if self._names[at + WHO] == name:
                return at
        return min(places, key=lambda at: self._amounts[at + THEN])
