"""Parse times as people write them (`2h`, `3d`, `2026-11-15T10:00`), and as hosts do."""

from __future__ import annotations

import re
from datetime import datetime

from holdfast.errors import InvalidInput

_AGO = re.compile(r"(\d{1,6})\s*(s|min|m|h|d|w)")
_SECONDS = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400, "w": 604800}


def parse_time(text: str, now: float) -> float:
    """Return a time in seconds since 1970; without a zone it is local. Raises InvalidInput."""
    ago = _AGO.fullmatch(text.strip().lower())
    if ago:
        return now - int(ago[1]) * _SECONDS[ago[2]]
    try:
        return datetime.fromisoformat(text.strip()).timestamp()
    except (ValueError, OverflowError):
        raise InvalidInput(
            f"{text!r} is not a time", hint="write 30min, 2h, 3d, 1w, or a date such as 2026-11-15"
        ) from None


def parse_timestamp(at: str, default: float) -> float:
    """Return a host's timestamp in seconds since 1970, or the default if it is not a time."""
    try:
        return datetime.fromisoformat(at).timestamp()
    except (ValueError, OverflowError):
        return default
