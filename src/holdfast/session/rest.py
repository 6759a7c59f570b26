"""A model that has failed again and again is left in peace for a while: nobody waits for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

FAILURES, SECONDS = 3, 300.0


class Rest:
    """Counts compactions in which all tries failed; shared by all threads of a manager."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._failures = 0
        self._until = 0.0

    @property
    def is_due(self) -> bool:
        """Whether to do without the model now."""
        return self._clock() < self._until

    def failed(self) -> None:
        with self._lock:
            self._failures += 1
            if self._failures >= FAILURES:
                self._until = self._clock() + SECONDS

    def succeeded(self) -> None:
        with self._lock:
            self._failures = 0
