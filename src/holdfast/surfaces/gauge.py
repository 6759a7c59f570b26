"""The gauge itself: figures in, one line out, as wide as there is room for."""

from __future__ import annotations

from holdfast.state.guard import zone

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

WIDTH = 10
# Green, yellow, orange, red, critical.
COLOURS = ("32", "33", "38;5;208", "31", "1;31")
ALARMS = {"never": "the last brief did not arrive", "cut": "the last brief was cut"}


class Figures:
    """What the line is made of; None or 0 is what is not known."""

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
        self.tokens = tokens
        self.saved_ago = saved_ago
        self.compactions = compactions
        self.turns = turns
        self.receipt = receipt


def draw(told: Figures, zones: Sequence[int], *, colour: bool, width: int = 0) -> str:
    """The fullest line that fits; the alarm and the percentage are the last to go."""
    shade = COLOURS[min(zone(told.percent or 0, zones), len(COLOURS) - 1)]
    alarm = f"! {ALARMS[told.receipt]}" if told.receipt in ALARMS else ""
    parts = _parts(told)
    for bar in (WIDTH, WIDTH // 2, 0):
        # What comes later in the line matters less, and goes first.
        for kept in range(len(parts), -1, -1):
            words = [*parts[:kept], *filter(None, [alarm])]
            plain = " · ".join([_gauge(told, bar), *words])
            if not width or len(plain) <= width:
                return _painted(plain, told, bar, shade, alarm) if colour else plain
    return _painted(plain, told, 0, shade, alarm) if colour else plain


def _parts(told: Figures) -> list[str]:
    parts = []
    if told.tokens is not None and told.percent is not None:
        parts.append(f"{round(told.tokens / 1000)}k")
    if told.turns is not None:
        parts.append(f"~{told.turns} turn{'' if told.turns == 1 else 's'} left")
    if told.saved_ago is not None:
        parts.append(f"saved {ago(told.saved_ago)} ago")
    if told.compactions:
        parts.append(f"compacted {told.compactions}×")
    return parts


def _filled(told: Figures, width: int) -> int:
    return min(width, max(0, round((told.percent or 0) * width / 100)))


def _gauge(told: Figures, width: int) -> str:
    filled = _filled(told, width)
    share = "–" if told.percent is None else f"{told.percent:.0f} %"
    return f"{'█' * filled}{'░' * (width - filled)} {share}".lstrip()


def _painted(plain: str, told: Figures, width: int, shade: str, alarm: str) -> str:
    filled = _filled(told, width) or (0 if width else plain.index("%") + 1 if "%" in plain else 0)
    head, rest = plain[:filled], plain[filled:]
    if alarm:
        rest = rest.replace(alarm, _in("31", alarm))
    return _in(shade, head) + rest


def _in(code: str, text: str) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if text else ""


def ago(seconds: float) -> str:
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return f"{max(0, int(seconds))} s"
