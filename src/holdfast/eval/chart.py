"""Recall against budget as one page without scripts or other files, or as a drawing."""

from __future__ import annotations

from html import escape
from typing import Any

from holdfast.eval.arms import BOTH, BRIEF, SUMMARY
from holdfast.eval.plot import Level, Plot, Point

OURS = (BOTH, BRIEF)
TITLES = {"pseudo": "Pseudo-cuts: the agent kept its context", "real": "Real compactions"}
DRAWING = """
svg text { font: 13px/1 system-ui, sans-serif; fill: var(--ink) }
svg .tick, svg .other text { fill: var(--soft) } svg.narrow text { font-size: 11px }
svg .on { paint-order: stroke; stroke: var(--paper); stroke-width: 5px; stroke-linejoin: round }
svg .grid { stroke: var(--grid); fill: none } svg .leader { stroke: var(--grid); fill: none }
svg .level { stroke: var(--ink); stroke-dasharray: 6 4; fill: none }
svg .other polyline { fill: none; stroke: var(--line); stroke-width: 1.25 }
svg .other .mark { fill: var(--paper); stroke: var(--soft); stroke-width: 1.25 }
svg .ours polyline { fill: none; stroke: var(--ours); stroke-width: 3.5 }
svg .ours .mark { fill: var(--ours); stroke: var(--paper); stroke-width: 1.5 }
svg .ours .band { fill: var(--ours); opacity: .16 }
svg .ours .bar { stroke: var(--ours); fill: none; stroke-width: 1.5; opacity: .8 }
svg .ours text { font-weight: 650 }
"""
LIGHT = (
    "--paper: #fff; --ink: #1c2126; --soft: #545d66; --line: #8a949e; --grid: #d8dde2; "
    "--ours: #0b57b0"
)
DARK = (
    "--paper: #14181c; --ink: #edf1f4; --soft: #aab4bd; --line: #75808a; --grid: #343c44; "
    "--ours: #6cb2ff"
)
STYLE = f"""
:root {{ color-scheme: light dark; {LIGHT} }}
@media (prefers-color-scheme: dark) {{ :root {{ {DARK} }} }}
body {{ font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 60rem; margin: 2rem auto; padding: 0 1rem }}
h1 {{ font-size: 1.6rem; line-height: 1.2 }} h2 {{ font-size: 1.2rem; margin-top: 2.5rem }}
p, figcaption {{ max-width: 44rem }} figure {{ margin: 1rem 0 }}
figcaption, .more {{ color: var(--soft); font-size: .92rem }}
svg {{ display: block; max-width: 100%; height: auto }} svg.narrow {{ display: none }}
@media (max-width: 44rem) {{ svg.wide {{ display: none }} svg.narrow {{ display: block }} }}
.scroll {{ overflow-x: auto }} .scroll:focus-visible {{ outline: 2px solid var(--ours) }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .92rem }}
caption {{ text-align: left; color: var(--soft); padding-bottom: .3rem }}
td, th {{ padding: .25rem .7rem; text-align: right; white-space: nowrap;
  border-top: 1px solid var(--grid) }}
thead th {{ border-top: 0 }} th[scope=row], thead th:first-child {{ text-align: left }}
th:first-child {{ padding-left: 0 }} th[scope=row] {{ font-weight: 400 }}
tr.ours > * {{ font-weight: 650 }}
td small {{ color: var(--soft); font-weight: 400 }}
{DRAWING}"""
ABOUT = """Future-reference recall: of the files, identifiers, commands and ids that were known
before a cut and used by a tool call after it, the weighted share that a text of so many tokens
names. It measures whether names survive, not whether a model would use them well."""

Lines = dict[str, list[Point]]


def page(report: dict[str, Any]) -> str:
    """The whole page: one figure and one table for each kind of cut."""
    arms = list(dict.fromkeys(one["arm"] for one in report["results"]))
    cuts = " and ".join(f"{report['cuts'][arm]} {arm} cuts" for arm in arms)
    about = f"{report['sessions']} sessions of {report['repositories']} repositories, {cuts}."
    figures = "".join(_figure(report, arm) for arm in arms)
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Recall against budget</title><style>{STYLE}</style><main>"
        f"<h1>Recall against budget</h1><p>{escape(about)} {escape(ABOUT)}</p>{figures}"
        "</main></html>\n"
    )


def image(report: dict[str, Any]) -> str:
    """The drawing of the first kind of cut alone, with its colours."""
    arm = report["results"][0]["arm"] if report["results"] else ""
    style = f"<style>svg {{ {LIGHT}; background: var(--paper) }} {DRAWING}</style>"
    drawing = _plot(report, arm, lines(report, arm), narrow=False)
    return drawing.replace(' aria-hidden="true"', "", 1).replace(">", f">{style}", 1) + "\n"


def lines(report: dict[str, Any], arm: str) -> Lines:
    """Each method's recall by budget; the summary has a size of its own and is left out."""
    found: Lines = {}
    for one in report["results"]:
        recall = one["figures"].get("frr")
        if one["arm"] == arm and one["budget"] and recall:
            point = Point(one["budget"], recall["mean"], recall["low"], recall["high"])
            found.setdefault(one["method"], []).append(point)
    ordered = {
        method: sorted(line, key=lambda point: point.budget)
        for method, line in found.items()
        if len(line) > 1
    }
    return dict(sorted(ordered.items(), key=lambda one: -one[1][-1].mean))


def _figure(report: dict[str, Any], arm: str) -> str:
    drawn = lines(report, arm)
    if not drawn:
        return ""
    title = TITLES.get(arm, arm)
    drawings = "".join(_plot(report, arm, drawn, narrow=narrow) for narrow in (False, True))
    return (
        f"<h2>{escape(title)}</h2><figure>{drawings}<figcaption>{_caption(drawn)}</figcaption>"
        f"</figure>{_table(drawn, title)}"
    )


def _plot(report: dict[str, Any], arm: str, drawn: Lines, *, narrow: bool) -> str:
    if not drawn:
        return '<svg xmlns="http://www.w3.org/2000/svg" aria-hidden="true"></svg>'
    level = _summary(report, arm)
    if narrow:
        return Plot(drawn, OURS, level, width=368, height=430, names=192).svg("narrow")
    return Plot(drawn, OURS, level, width=900, height=480, names=230).svg("wide")


def _summary(report: dict[str, Any], arm: str) -> Level | None:
    for one in report["results"]:
        if (one["arm"], one["method"]) == (arm, SUMMARY) and "frr" in one["figures"]:
            mean = one["figures"]["frr"]["mean"]
            return Level(f"{100 * mean:.0f} host summary alone", mean)
    return None


def _caption(drawn: Lines) -> str:
    ours = next((name for name in OURS if name in drawn), None)
    told = "Numbers are per cent at the largest budget; shading and bars are 95 % intervals."
    if ours is None:
        return told
    first, last = drawn[ours][0], drawn[ours][-1]
    return (
        f"{escape(ours.capitalize())}: {100 * first.mean:.0f} % at {first.budget:,} tokens, "
        f"{100 * last.mean:.0f} % at {last.budget:,}. {told}"
    )


def _table(drawn: Lines, title: str) -> str:
    budgets = sorted({point.budget for line in drawn.values() for point in line})
    head = "".join(f'<th scope="col">{budget:,}</th>' for budget in budgets)
    rows = "".join(_row(name, line, budgets) for name, line in drawn.items())
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(title)}, figures">'
        f"<table><caption>Recall in per cent, with 95 % intervals</caption><thead><tr>"
        f'<th scope="col">tokens</th>{head}</tr></thead><tbody>{rows}</tbody></table></div>'
    )


def _row(name: str, line: list[Point], budgets: list[int]) -> str:
    values = {point.budget: point for point in line}
    cells = "".join(f"<td>{_cell(values.get(budget))}</td>" for budget in budgets)
    kind = ' class="ours"' if name in OURS else ""
    return f'<tr{kind}><th scope="row">{escape(name)}</th>{cells}</tr>'


def _cell(point: Point | None) -> str:
    if point is None:
        return ""
    if point.low is None or point.high is None or point.low == point.high:
        return f"{100 * point.mean:.1f}"
    span = f"{100 * point.low:.0f}–{100 * point.high:.0f}"
    return f"{100 * point.mean:.1f} <small>{span}</small>"
