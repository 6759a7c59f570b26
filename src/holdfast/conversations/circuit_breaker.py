"""Stops calling a summarizer for a while after it failed repeatedly."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

MAX_FAILURES, OPEN_SECONDS = 3, 300.0


class CircuitBreaker:
    """Counts consecutive compactions in which every try failed. Thread-safe."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._failures = 0
        self._open_until = 0.0

    @property
    def is_open(self) -> bool:
        """Whether the summarizer must not be called now."""
        return self._clock() < self._open_until

    def record_failure(self) -> None:
        with self._lock:
            self._failures += 1
            if self._failures >= MAX_FAILURES:
                self._open_until = self._clock() + OPEN_SECONDS

    def record_success(self) -> None:
        with self._lock:
            self._failures = 0
