"""The event loop leaves work to threads when it is slow, or fails, and comes back to it."""

from __future__ import annotations

import pytest

from holdfast.surfaces.api import pause
from holdfast.surfaces.api.pause import SECONDS, SLOW, Pause

QUICK = SLOW / 2


class Clock:
    now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(pause, "time", made)
    return made


def test_once_in_a_while_something_may_be_slow(clock: Clock) -> None:
    tried = Pause()
    for took in (QUICK, 2 * SLOW, QUICK, 2 * SLOW, QUICK):
        tried.judge(took)
        assert not tried.is_on


def test_twice_in_a_row_is_too_much_for_some_seconds(clock: Clock) -> None:
    tried = Pause()
    tried.judge(2 * SLOW)
    tried.judge(2 * SLOW)
    assert tried.is_on
    clock.now += SECONDS - 0.1
    assert tried.is_on
    clock.now += 0.2
    assert not tried.is_on


def test_a_failure_is_reason_enough(clock: Clock) -> None:
    tried = Pause()
    tried.begin()
    assert tried.is_on
    clock.now += SECONDS + 0.1
    assert not tried.is_on
