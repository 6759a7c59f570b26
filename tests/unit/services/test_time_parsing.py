"""Ages such as `2h` and dates are parsed into timestamps."""

from __future__ import annotations

import pytest

from holdfast.errors import InvalidInput
from holdfast.services.time_parsing import parse_time

NOW = 1_794_744_000.0


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("30min", 1800), ("5m", 300), ("2h", 7200), (" 3D ", 259_200), ("1w", 604_800)],
)
def test_an_age_is_parsed(text: str, seconds: int) -> None:
    assert parse_time(text, NOW) == NOW - seconds


def test_a_date_is_parsed() -> None:
    assert parse_time("2026-11-15T12:00:00Z", NOW) == NOW
    assert parse_time("2026-11-16T00:00+12:00", NOW) == NOW
    assert abs(parse_time("2026-11-15", NOW) - NOW) < 2 * 86400


@pytest.mark.parametrize("text", ["", "yesterday", "2h ago", "-3d", "h", "2026-13-01", "9" * 400])
def test_other_text_raises_an_error(text: str) -> None:
    with pytest.raises(InvalidInput, match="is not a time"):
        parse_time(text, NOW)
