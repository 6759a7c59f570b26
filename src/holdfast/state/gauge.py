"""The figures of the context gauge: zone, turns left, alarm. Pure.

The status line, `holdfast status` and the web page show the same figures.
"""

from __future__ import annotations

from holdfast.state.thresholds import zone_index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

# The names of the zones, from the lowest.
ZONES = ("green", "yellow", "orange", "red", "critical")
# Receipts of the last brief that the user must hear of.
ALARMS = {
    "never": "the last brief did not arrive",
    "cut": "the last brief was cut",
    "none": "the last compaction got no brief",
}
# The size in tokens at which the user lets Claude Code compact.
LIMIT_VARIABLE = "CLAUDE_CODE_AUTO_COMPACT_WINDOW"


def zone_name(percent: float, borders: Sequence[int]) -> str:
    """Return the name of the zone that a fill in percent lies in."""
    return ZONES[min(zone_index(percent, borders), len(ZONES) - 1)]


def compaction_limit(environ: Mapping[str, str], last_auto_tokens: Any, window: Any) -> int | None:
    """Return the size at which the host will compact by itself, or None if it is unknown.

    The user's own setting counts first, then the size at the last automatic compaction, then the
    window.
    """
    configured = environ.get(LIMIT_VARIABLE, "")
    limit = int(configured) if configured.isdecimal() else last_auto_tokens or window
    return limit if isinstance(limit, int) else None


def turns_left(tokens: int, growth: Any, limit: int | None) -> int | None:
    """Return how many turns of the usual size fit below the limit; None if that is not known."""
    if not isinstance(growth, int) or growth < 1 or limit is None:
        return None
    return max(0, (limit - tokens) // growth)
