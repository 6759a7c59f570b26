"""A time is written as people write it."""

from __future__ import annotations

import pytest

from holdfast.actions.moment import moment
from holdfast.errors import BadUsage

NOW = 1_794_744_000.0


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("30min", 1800), ("5m", 300), ("2h", 7200), (" 3D ", 259_200), ("1w", 604_800)],
)
def test_so_long_ago(text: str, seconds: int) -> None:
    assert moment(text, NOW) == NOW - seconds


def test_a_date() -> None:
    assert moment("2026-11-15T12:00:00Z", NOW) == NOW
    assert moment("2026-11-16T00:00+12:00", NOW) == NOW
    assert abs(moment("2026-11-15", NOW) - NOW) < 2 * 86400


@pytest.mark.parametrize("text", ["", "yesterday", "2h ago", "-3d", "h", "2026-13-01", "9" * 400])
def test_anything_else_is_told(text: str) -> None:
    with pytest.raises(BadUsage, match="is no time"):
        moment(text, NOW)
