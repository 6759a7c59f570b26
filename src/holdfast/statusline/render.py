"""Renders the gauge: figures in, one line out, no wider than the terminal."""

from __future__ import annotations

from holdfast.state.gauge import ALARMS
from holdfast.state.thresholds import zone_index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

BAR_WIDTH = 10
# ANSI colour codes by zone: green, yellow, orange, red, critical.
COLOURS = ("32", "33", "38;5;208", "31", "1;31")
ALARM_COLOUR = "31"


class Figures:
    """What the line shows; None or 0 where it is not known."""

    __slots__ = ("compactions", "percent", "receipt", "saved_ago", "tokens", "turns")

    def __init__(
        self,
        *,
        percent: float | None = None,
        tokens: int | None = None,
        saved_ago: float | None = None,
        compactions: int = 0,
        turns: int | None = None,
        receipt: str = "",
    ) -> None:
        self.percent = percent
        """How much of the context window is used."""
        self.tokens = tokens
        self.saved_ago = saved_ago
        """Seconds since the last snapshot."""
        self.compactions = compactions
        self.turns = turns
        """How many turns are left before the host compacts."""
        self.receipt = receipt
        """Whether the last brief arrived; see ALARMS."""


def render_gauge(figures: Figures, zones: Sequence[int], *, colour: bool, width: int = 0) -> str:
    """Return the longest line that fits into `width` (0: no limit).

    The alarm and the percentage are always shown.
    """
    colour_code = COLOURS[min(zone_index(figures.percent or 0, zones), len(COLOURS) - 1)]
    alarm = f"! {ALARMS[figures.receipt]}" if figures.receipt in ALARMS else ""
    parts = _parts(figures)
    for bar_width in (BAR_WIDTH, BAR_WIDTH // 2, 0):
        # Later parts matter less and are left out first.
        for kept in range(len(parts), -1, -1):
            shown = [*parts[:kept], *filter(None, [alarm])]
            line = " · ".join([_bar(figures, bar_width), *shown])
            if not width or len(line) <= width:
                return (
                    _add_colours(line, figures, bar_width, colour_code, alarm) if colour else line
                )
    return _add_colours(line, figures, 0, colour_code, alarm) if colour else line


def _parts(figures: Figures) -> list[str]:
    """Return the texts after the bar, the most important first."""
    parts = []
    if figures.tokens is not None and figures.percent is not None:
        parts.append(f"{round(figures.tokens / 1000)}k")
    if figures.turns is not None:
        parts.append(f"~{figures.turns} turn{'' if figures.turns == 1 else 's'} left")
    if figures.saved_ago is not None:
        parts.append(f"saved {format_age(figures.saved_ago)} ago")
    if figures.compactions:
        parts.append(f"compacted {figures.compactions}×")
    return parts


def _filled_cells(figures: Figures, width: int) -> int:
    return min(width, max(0, round((figures.percent or 0) * width / 100)))


def _bar(figures: Figures, width: int) -> str:
    filled = _filled_cells(figures, width)
    percent = "–" if figures.percent is None else f"{figures.percent:.0f} %"
    return f"{'█' * filled}{'░' * (width - filled)} {percent}".lstrip()


def _add_colours(line: str, figures: Figures, bar_width: int, colour_code: str, alarm: str) -> str:
    """Colour the filled part of the bar, or the percentage if there is no bar, and the alarm."""
    end = _filled_cells(figures, bar_width)
    if not end and not bar_width:
        end = line.find("%") + 1
    coloured, rest = line[:end], line[end:]
    if alarm:
        rest = rest.replace(alarm, _in_colour(ALARM_COLOUR, alarm))
    return _in_colour(colour_code, coloured) + rest


def _in_colour(code: str, text: str) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if text else ""


def format_age(seconds: float) -> str:
    """Return a time span in its largest unit, such as `5 min`."""
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return f"{max(0, int(seconds))} s"
