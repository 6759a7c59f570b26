"""When the event loop leaves to threads what it otherwise does itself."""

from __future__ import annotations

import time

# What keeps the loop from everybody else for so long is slow; once in a while that may be.
SLOW = 0.02
SECONDS = 2.0


class Pause:
    """Begins when something fails, or is slow twice in a row, and ends after some seconds."""

    def __init__(self) -> None:
        self._was_slow = False
        self._until = 0.0

    @property
    def is_on(self) -> bool:
        return time.monotonic() < self._until

    def begin(self) -> None:
        self._until = time.monotonic() + SECONDS

    def judge(self, took: float) -> None:
        """`took` is how many seconds the loop could do nothing else."""
        is_slow = took > SLOW
        if is_slow and self._was_slow:
            self.begin()
        self._was_slow = is_slow
