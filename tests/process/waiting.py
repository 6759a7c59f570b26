"""Bounded waits for a condition that another process brings about."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

# Long, because test machines are busy.
TIMEOUT_SECONDS = 60
POLL_SECONDS = 0.05

Result = TypeVar("Result")


def wait_until(
    condition: Callable[[], Result], failure: str, *, timeout_seconds: float = TIMEOUT_SECONDS
) -> Result:
    """Call `condition` until its result is true, and return that; fail after the timeout."""
    deadline = time.monotonic() + timeout_seconds
    while not (result := condition()):
        assert time.monotonic() < deadline, failure
        time.sleep(POLL_SECONDS)
    return result
