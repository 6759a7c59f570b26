"""Moments as people write them (`2h`, `3d`, `2026-11-15`, `2026-11-15T10:00`), and as hosts do."""

from __future__ import annotations

import re
from datetime import datetime

from holdfast.errors import BadUsage

_AGO = re.compile(r"(\d{1,6})\s*(s|min|m|h|d|w)")
_SECONDS = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400, "w": 604800}


def moment(text: str, now: float) -> float:
    """The time meant, in seconds since 1970; without a zone it is this machine's."""
    ago = _AGO.fullmatch(text.strip().lower())
    if ago:
        return now - int(ago[1]) * _SECONDS[ago[2]]
    try:
        return datetime.fromisoformat(text.strip()).timestamp()
    except (ValueError, OverflowError):
        raise BadUsage(
            f"{text!r} is no time", hint="write 30min, 2h, 3d, 1w, or a date such as 2026-11-15"
        ) from None


def seconds(at: str, otherwise: float) -> float:
    """A host's time stamp in seconds since 1970."""
    try:
        return datetime.fromisoformat(at).timestamp()
    except (ValueError, OverflowError):
        return otherwise
