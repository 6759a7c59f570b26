"""Recall against budget as one page without scripts or other files."""

from __future__ import annotations

from html import escape
from math import log
from typing import Any

from holdfast.eval.arms import BOTH, BRIEF, SUMMARY

WIDTH, HEIGHT = 760, 420
LEFT, RIGHT, TOP, BOTTOM = 56, 210, 24, 44
OURS = (BRIEF, BOTH)
COLOURS = ("#8a8f98", "#b07aa1", "#9c755f", "#59a14f", "#e0a800", "#4e79a7", "#76b7b2", "#c26a2d",
           "#a0a86b", "#7a6f9b")  # fmt: skip
TITLES = {"pseudo": "Pseudo-cuts: the agent kept its context", "real": "Real compactions"}
STYLE = """
:root { color-scheme: light dark }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem }
svg { width: 100%; height: auto; font-size: 12px }
svg text { fill: currentColor } .grid { stroke: currentColor; opacity: .15 }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
td, th { padding: .15rem .8rem; text-align: right }
td:first-child, th:first-child { text-align: left }
"""
ABOUT = """Future-reference recall: of the files, identifiers, commands and ids that were known
before a cut and used by a tool call after it, the weighted share that a text of so many tokens
names. It measures whether names survive, not whether a model would use them well."""

Line = list[tuple[int, float]]  # budget, recall


def page(report: dict[str, Any]) -> str:
    """The whole page: one figure and one table for each kind of cut."""
    arms = list(dict.fromkeys(one["arm"] for one in report["results"]))
    cuts = " and ".join(f"{report['cuts'][arm]} {arm} cuts" for arm in arms)
    about = f"{report['sessions']} sessions of {report['repositories']} repositories, {cuts}."
    figures = "".join(_figure(report, arm) for arm in arms)
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        f"<title>Recall against budget</title><style>{STYLE}</style>"
        f"<h1>Recall against budget</h1><p>{escape(about)} {escape(ABOUT)}</p>{figures}</html>\n"
    )


def lines(report: dict[str, Any], arm: str) -> dict[str, Line]:
    """Each method's recall by budget; the summary has a size of its own and is left out."""
    found: dict[str, Line] = {}
    for one in report["results"]:
        if one["arm"] == arm and one["budget"] and "frr" in one["figures"]:
            found.setdefault(one["method"], []).append(
                (one["budget"], one["figures"]["frr"]["mean"])
            )
    return {method: sorted(line) for method, line in found.items() if len(line) > 1}


def _figure(report: dict[str, Any], arm: str) -> str:
    drawn = lines(report, arm)
    if not drawn:
        return ""
    budgets = sorted({budget for line in drawn.values() for budget, _ in line})
    summary = next(
        (one["figures"]["frr"]["mean"] for one in report["results"]
         if (one["arm"], one["method"]) == (arm, SUMMARY)), None
    )  # fmt: skip
    title = TITLES.get(arm, arm)
    return (
        f"<h2>{escape(title)}</h2>"
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}">'
        f"{_axes(budgets)}{_level(summary)}{_drawn(drawn, budgets)}</svg>{_table(drawn, budgets)}"
    )


def _x(budget: int, budgets: list[int]) -> float:
    low, high = log(budgets[0]), log(budgets[-1])
    share = (log(budget) - low) / (high - low) if high > low else 0.5
    return LEFT + share * (WIDTH - LEFT - RIGHT)


def _y(recall: float) -> float:
    return HEIGHT - BOTTOM - recall * (HEIGHT - TOP - BOTTOM)


def _axes(budgets: list[int]) -> str:
    across = "".join(
        f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{_y(level / 100):.1f}" '
        f'y2="{_y(level / 100):.1f}"/><text x="{LEFT - 8}" y="{_y(level / 100) + 4:.1f}" '
        f'text-anchor="end">{level} %</text>'
        for level in range(0, 101, 20)
    )
    y = HEIGHT - 22
    below = "".join(
        f'<text x="{_x(budget, budgets):.1f}" y="{y}" text-anchor="middle">{budget}</text>'
        for budget in budgets
    )
    middle = (LEFT + WIDTH - RIGHT) / 2
    return f'{across}{below}<text x="{middle}" y="{HEIGHT - 4}" text-anchor="middle">tokens</text>'


def _level(summary: float | None) -> str:
    if summary is None:
        return ""
    y = _y(summary)
    return (
        f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="currentColor" '
        f'stroke-dasharray="5 4"/><text x="{LEFT + 4}" y="{y - 5:.1f}">host summary alone</text>'
    )


def _drawn(drawn: dict[str, Line], budgets: list[int]) -> str:
    """Ours last, so that it lies on top; labels are moved apart where lines end together."""
    colours = dict(zip((name for name in drawn if name not in OURS), COLOURS * 3, strict=False))
    at, parts = float("inf"), []
    labels = {}
    for name in sorted(drawn, key=lambda name: drawn[name][-1][1]):
        at = min(_y(drawn[name][-1][1]), at - 14)
        labels[name] = at
    for name in sorted(drawn, key=lambda name: name in OURS):
        colour, width = colours.get(name, "#d62728"), 3 if name in OURS else 1.5
        points = " ".join(f"{_x(b, budgets):.1f},{_y(value):.1f}" for b, value in drawn[name])
        end = _x(drawn[name][-1][0], budgets)
        parts.append(
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="{width}"/>'
            f'<text x="{end + 8:.1f}" y="{labels[name] + 4:.1f}" style="fill:{colour}">'
            f"{escape(name)}</text>"
        )
    return "".join(parts)


def _table(drawn: dict[str, Line], budgets: list[int]) -> str:
    head = "".join(f"<th>{budget}</th>" for budget in budgets)
    rows = ""
    for name, line in drawn.items():
        values = dict(line)
        cells = "".join(
            f"<td>{100 * values[budget]:.1f}</td>" if budget in values else "<td></td>"
            for budget in budgets
        )
        rows += f"<tr><td>{escape(name)}</td>{cells}</tr>"
    return f"<table><tr><th>recall, %</th>{head}</tr>{rows}</table>"
