"""Recall against budget as a drawing: lines with their names beside them, ours with its interval.

Drawn for one width in real pixels, so that text stays readable on a phone as well. Nothing is told
by colour alone: ours is thick, every other method has its own mark on its line and by its name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import log

# A mark around the origin for each method, in the order in which they are told.
MARKS = (
    "M-3.5-3.5h7v7h-7z", "M0-4.5 4.3 3.5H-4.3z", "M0-4.8 4.8 0 0 4.8-4.8 0z",
    "M0 4.5 4.3-3.5H-4.3z", "M-4-4 4 4M4-4-4 4", "M0-5V5M-5 0H5",
    "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0z",
    "M-5-2H5M-5 2H5", "M-2-5V5M2-5V5", "M-4 4V-4L4 4V-4z", "M-4-4h8l-4 8z",
)  # fmt: skip
OWN_MARKS = ("M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0z", "M-4.5-4.5h9v9h-9z")
TOP, BOTTOM, LEFT = 16, 46, 52
LABEL = 17
LEVELS = range(0, 101, 20)


@dataclass(frozen=True, slots=True)
class Point:
    """The mean of a method at one budget, with its interval if there is one."""

    budget: int
    mean: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Level:
    """Something with a size of its own: a line across."""

    name: str
    mean: float


class Plot:
    """One drawing. `ours` are the methods that are drawn on top, with their intervals."""

    def __init__(
        self,
        drawn: Mapping[str, Sequence[Point]],
        ours: Sequence[str],
        level: Level | None,
        *,
        width: int,
        height: int,
        names: int,
    ) -> None:
        """`names` is the room that is kept for names, right of the lines."""
        self._drawn = drawn
        self._ours = [name for name in ours if name in drawn]
        self._others = [name for name in drawn if name not in ours]
        self._level = level
        self._width, self._height = width, height
        self._right = width - names
        self._budgets = sorted({point.budget for line in drawn.values() for point in line})

    def svg(self, kind: str) -> str:
        parts = [*self._axes(), *self._lines(), *self._across(), *self._names()]
        return (
            f'<svg class="{kind}" viewBox="0 0 {self._width} {self._height}" '
            f'width="{self._width}" height="{self._height}" aria-hidden="true" '
            f'xmlns="http://www.w3.org/2000/svg">{"".join(parts)}</svg>'
        )

    def _x(self, budget: int) -> float:
        low, high = log(self._budgets[0]), log(self._budgets[-1])
        share = (log(budget) - low) / (high - low) if high > low else 0.5
        return LEFT + 10 + share * (self._right - LEFT - 24)

    def _y(self, recall: float) -> float:
        return self._height - BOTTOM - recall * (self._height - TOP - BOTTOM)

    def _axes(self) -> Iterator[str]:
        for level in LEVELS:
            y = self._y(level / 100)
            yield f'<path class="grid" d="M{LEFT} {y:.1f}H{self._right}"/>'
            yield (
                f'<text class="tick" x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">'
                f"{level} %</text>"
            )
        low = self._height - BOTTOM
        for budget in self._budgets:
            x = self._x(budget)
            yield f'<path class="grid" d="M{x:.1f} {low}v5"/>'
            yield (
                f'<text class="tick" x="{x:.1f}" y="{low + 19}" text-anchor="middle">'
                f"{budget:,}</text>"
            )
        yield (
            f'<text class="tick" x="{(LEFT + self._right) / 2:.1f}" y="{self._height - 8}" '
            'text-anchor="middle">tokens</text>'
        )

    def _across(self) -> Iterator[str]:
        if self._level is not None:
            y = self._y(self._level.mean)
            yield f'<path class="level" d="M{LEFT} {y:.1f}H{self._right}"/>'
            name = escape(self._level.name)
            yield f'<text class="on" x="{LEFT + 5}" y="{y - 6:.1f}">{name}</text>'

    def _lines(self) -> Iterator[str]:
        for name in self._others:
            yield f'<g class="other">{self._path(name)}{self._marks(name)}</g>'
        for name in self._ours:
            yield f'<g class="ours">{self._band(name)}{self._path(name)}{self._marks(name)}</g>'

    def _path(self, name: str) -> str:
        through = " ".join(
            f"{self._x(point.budget):.1f},{self._y(point.mean):.1f}" for point in self._drawn[name]
        )
        return f'<polyline points="{through}"/>'

    def _mark(self, name: str) -> str:
        if name in self._ours:
            return OWN_MARKS[self._ours.index(name) % len(OWN_MARKS)]
        return MARKS[self._others.index(name) % len(MARKS)]

    def _marks(self, name: str) -> str:
        return "".join(
            f'<path class="mark" d="{self._mark(name)}" '
            f'transform="translate({self._x(point.budget):.1f} {self._y(point.mean):.1f})"/>'
            for point in self._drawn[name]
        )

    def _band(self, name: str) -> str:
        """The intervals: shaded between the budgets, with a bar at each."""
        known = [(p, p.low, p.high) for p in self._drawn[name] if p.low is not None]
        spans = [
            (self._x(point.budget), self._y(low or 0.0), self._y(high or 0.0))
            for point, low, high in known
        ]
        if not spans:
            return ""
        upper = " ".join(f"{x:.1f},{high:.1f}" for x, _, high in spans)
        lower = " ".join(f"{x:.1f},{low:.1f}" for x, low, _ in reversed(spans))
        bars = "".join(
            f"M{x - 5:.1f} {low:.1f}h10m-5 0V{high:.1f}m-5 0h10" for x, low, high in spans
        )
        return f'<polygon class="band" points="{upper} {lower}"/><path class="bar" d="{bars}"/>'

    def _names(self) -> Iterator[str]:
        """Beside the ends of the lines, moved apart, each with its mark and its last value."""
        ends = {name: self._y(line[-1].mean) for name, line in self._drawn.items()}
        for name, y in apart(ends, LABEL, TOP, self._height - BOTTOM).items():
            x, last = self._right + 6, self._drawn[name][-1]
            kind = "ours" if name in self._ours else "other"
            yield (
                f'<g class="{kind}"><path class="leader" '
                f'd="M{self._x(last.budget) + 7:.1f} {ends[name]:.1f}L{x} {y:.1f}"/>'
                f'<path class="mark" d="{self._mark(name)}" '
                f'transform="translate({x + 8} {y:.1f})"/>'
                f'<text x="{x + 18}" y="{y + 4:.1f}">{100 * last.mean:.0f} '
                f"{escape(name)}</text></g>"
            )


def apart(wanted: Mapping[str, float], space: float, top: float, bottom: float) -> dict[str, float]:
    """Places near the wanted ones, `space` apart, from top to bottom if there is room."""
    order = sorted(wanted, key=lambda name: (wanted[name], name))
    placed: list[float] = []
    for name in order:
        placed.append(max(wanted[name], placed[-1] + space if placed else top))
    limit = max(bottom, top + space * (len(order) - 1))
    for at in reversed(range(len(placed))):
        placed[at] = min(placed[at], limit)
        limit = placed[at] - space
    return dict(zip(order, placed, strict=True))
