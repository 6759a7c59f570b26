"""Draw recall against budget, as a self-contained web page or as an SVG image.

Drawn by matplotlib, which only `--chart` needs. Nothing is shown by colour alone: the line of our
brief is thick, every other method has its own marker, and a table has the figures.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from importlib.util import find_spec
from io import StringIO
from typing import Any

from holdfast.errors import HoldfastError
from holdfast.eval.methods import BOTH, BRIEF, SUMMARY

OURS = (BOTH, BRIEF)
TITLES = {"pseudo": "Pseudo-cuts: the agent kept its context", "real": "Real compactions"}
# The colours of the drawing; a page replaces each by a CSS variable, so that it follows the theme.
LIGHT = {
    "paper": "#ffffff", "ink": "#1c2126", "soft": "#545d66", "line": "#8a949e", "grid": "#d8dde2",
    "ours": "#0b57b0",
}  # fmt: skip
DARK = {
    "paper": "#14181c", "ink": "#edf1f4", "soft": "#aab4bd", "line": "#75808a", "grid": "#343c44",
    "ours": "#6cb2ff",
}  # fmt: skip
MARKERS = ("s", "^", "D", "v", "X", "P", "o", "<", "*", ">", "d", "+")
OWN_MARKERS = ("o", "s")
LABEL_PIXELS = 18


@dataclass(frozen=True, slots=True)
class ChartLayout:
    """Sizes in pixels."""

    name: str
    width: int
    height: int
    label_width: int  # right of the lines, for their names
    font_size: int
    left: int = 50
    bottom: int = 50
    top: int = 14

    @property
    def plot_width(self) -> int:
        return self.width - self.left - self.label_width

    @property
    def plot_height(self) -> int:
        return self.height - self.bottom - self.top


WIDE = ChartLayout("wide", width=920, height=500, label_width=244, font_size=13)
# For phones: drawn at their width, so that the text stays readable.
NARROW = ChartLayout("narrow", width=368, height=460, label_width=206, font_size=11, left=42)


def _to_css(colours: Mapping[str, str]) -> str:
    return "; ".join(f"--{name}: {colour}" for name, colour in colours.items())


FONT = "svg text { font-family: system-ui, sans-serif !important }"
STYLE = f"""
:root {{ color-scheme: light dark; {_to_css(LIGHT)} }}
@media (prefers-color-scheme: dark) {{ :root {{ {_to_css(DARK)} }} }}
body {{ font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 60rem; margin: 2rem auto; padding: 0 1rem }}
h1 {{ font-size: 1.6rem; line-height: 1.2 }} h2 {{ font-size: 1.2rem; margin-top: 2.5rem }}
p, figcaption {{ max-width: 44rem }} figure {{ margin: 1rem 0 }}
figcaption {{ color: var(--soft); font-size: .92rem }}
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
{FONT}"""
ABOUT = """Future-reference recall: of the files, identifiers, commands and ids that were known
before a cut and used by a tool call after it, the weighted share that a text of so many tokens
names. It measures whether names survive, not whether a model would use them well."""


class ChartLibraryMissing(HoldfastError):
    """Charts are drawn by matplotlib, which is not installed."""

    hint = "pip install 'holdfast[eval]'"


def check_chart_library() -> None:
    """Raise ChartLibraryMissing if no chart can be drawn; nothing is imported."""
    if find_spec("matplotlib") is None:
        raise ChartLibraryMissing


@dataclass(frozen=True, slots=True)
class Point:
    """The mean of a method at one budget, in per cent, with its 95 % interval if there is one."""

    budget: int
    mean: float
    low: float
    high: float

    @property
    def has_interval(self) -> bool:
        return self.low < self.high


Curves = dict[str, list[Point]]


def render_page(report: dict[str, Any]) -> str:
    """Return the whole page: one figure and one table for each kind of cut."""
    arms = list(dict.fromkeys(result["arm"] for result in report["results"]))
    cuts = " and ".join(f"{report['cuts'][arm]} {arm} cuts" for arm in arms)
    about = f"{report['sessions']} sessions of {report['repositories']} repositories, {cuts}."
    figures = "".join(_render_figure(report, arm) for arm in arms)
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Recall against budget</title><style>{STYLE}</style><main>"
        f"<h1>Recall against budget</h1><p>{escape(about)} {escape(ABOUT)}</p>{figures}"
        "</main></html>\n"
    )


def render_image(report: dict[str, Any]) -> str:
    """Return the drawing of the first kind of cut alone, in the colours of a light page."""
    arm = report["results"][0]["arm"] if report["results"] else ""
    svg = _draw(report, arm, WIDE)
    style = f"<style>{FONT} svg {{ background: {LIGHT['paper']} }}</style>"
    return svg.replace("</desc>", f"</desc>{style}", 1) + "\n"


def build_curves(report: dict[str, Any], arm: str) -> Curves:
    """Return each method's recall by budget, best first, without methods that have one size."""
    points: Curves = {}
    for result in report["results"]:
        recall = result["figures"].get("frr")
        if result["arm"] == arm and result["budget"] and recall:
            mean, low, high = (recall[name] for name in ("mean", "low", "high"))
            low, high = (mean, mean) if low is None or high is None else (low, high)
            point = Point(result["budget"], 100 * mean, 100 * low, 100 * high)
            points.setdefault(result["method"], []).append(point)
    by_method = {
        method: sorted(curve, key=lambda point: point.budget)
        for method, curve in points.items()
        if len(curve) > 1
    }
    return dict(sorted(by_method.items(), key=lambda item: -item[1][-1].mean))


def _draw(report: dict[str, Any], arm: str, layout: ChartLayout) -> str:
    """Draw one kind of cut as an SVG element; raises ChartLibraryMissing without matplotlib."""
    drawn, summary = build_curves(report, arm), _summary_recall(report, arm)
    check_chart_library()
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(
        {
            "svg.fonttype": "none",
            "svg.hashsalt": "holdfast",
            "font.size": layout.font_size,
            "text.parse_math": False,
        }
    ):
        # An SVG of matplotlib has 72 units to the inch; here one unit is one pixel.
        figure = Figure(figsize=(layout.width / 72, layout.height / 72), dpi=72, frameon=False)
        axes = figure.add_axes(
            (
                layout.left / layout.width,
                layout.bottom / layout.height,
                layout.plot_width / layout.width,
                layout.plot_height / layout.height,
            )
        )
        budgets = sorted({point.budget for curve in drawn.values() for point in curve})
        axes.set_frame_on(False)
        axes.set_xscale("log")
        axes.set_ylim(0, 100)
        axes.set_xticks(budgets, [f"{budget:,}" for budget in budgets])
        axes.set_yticks(range(0, 101, 20), [f"{level} %" for level in range(0, 101, 20)])
        axes.minorticks_off()
        axes.grid(axis="y", color=LIGHT["grid"], linewidth=1)
        axes.tick_params(colors=LIGHT["soft"], length=0, pad=6)
        axes.set_xlabel("tokens", color=LIGHT["soft"])
        if budgets:
            axes.set_xlim(budgets[0] / 1.06, budgets[-1] * 1.06)
        if summary is not None:
            axes.axhline(summary, color=LIGHT["ink"], linewidth=1, dashes=(6, 4))
            axes.annotate(
                f"{summary:.0f} host summary", (0, summary), (4, 5),
                xycoords=("axes fraction", "data"), textcoords="offset pixels",
                color=LIGHT["ink"], gid="summary", zorder=5,
                bbox={"facecolor": LIGHT["paper"], "edgecolor": "none", "pad": 1},
            )  # fmt: skip
        _draw_curves(axes, drawn, layout)
        buffer = StringIO()
        figure.savefig(buffer, format="svg", transparent=True)
    return _to_inline_svg(buffer.getvalue(), report, arm, layout.name)


def _draw_curves(axes: Any, drawn: Curves, layout: ChartLayout) -> None:
    """Draw the lines, ours on top with intervals, and their names beside the ends."""
    ends = [curve[-1].mean / 100 for curve in drawn.values()]
    places = spread_out(ends, LABEL_PIXELS / layout.plot_height)
    mark, label = 1 + 22 / layout.plot_width, 1 + 33 / layout.plot_width
    others = [name for name in drawn if name not in OURS]
    for place, (name, curve) in zip(places, drawn.items(), strict=True):
        is_ours = name in OURS
        markers, position = (OWN_MARKERS, OURS.index(name)) if is_ours else (
            MARKERS, others.index(name))  # fmt: skip
        colour = LIGHT["ours"] if is_ours else LIGHT["line"]
        style = {
            "color": colour,
            "linewidth": 3 if is_ours else 1.2,
            "marker": markers[position % len(markers)],
            "markersize": 8 if is_ours else 6,
            "markerfacecolor": colour if is_ours else LIGHT["paper"],
            "markeredgecolor": LIGHT["paper"] if is_ours else LIGHT["soft"],
            "zorder": 4 if is_ours else 3,
        }
        key = re.sub(r"\W+", "-", name)
        group = "ours" if is_ours else "other"
        budgets, means = [point.budget for point in curve], [point.mean for point in curve]
        axes.plot(budgets, means, gid=f"{group}-{key}", clip_on=False, **style)
        if is_ours and any(point.has_interval for point in curve):
            low, high = [point.low for point in curve], [point.high for point in curve]
            band = axes.fill_between(budgets, low, high, color=colour, alpha=0.14, linewidth=0)
            band.set_gid(f"interval-{key}")
        axes.annotate(
            f"{curve[-1].mean:.0f} {name}", (budgets[-1], means[-1]), (label, place),
            textcoords="axes fraction", verticalalignment="center", annotation_clip=False,
            color=LIGHT["ink"] if is_ours else LIGHT["soft"], gid=f"name-{key}",
            fontweight="bold" if is_ours else "normal",
            arrowprops={"arrowstyle": "-", "color": LIGHT["grid"], "relpos": (0, 0.5),
                        "shrinkA": 17, "shrinkB": 6},
        )  # fmt: skip
        axes.plot([mark], [place], transform=axes.transAxes, clip_on=False, **style)


def spread_out(wanted: list[float], gap: float) -> list[float]:
    """Return places between 0 and 1 near the wanted ones, at least `gap` apart if there is room.

    `wanted` goes from the highest to the lowest.
    """
    places: list[float] = []
    for place in wanted:
        places.append(min(place, places[-1] - gap) if places else min(place, 1.0))
    lowest = min(0.0, 1.0 - gap * (len(places) - 1))
    for index in reversed(range(len(places))):
        places[index] = max(places[index], lowest)
        lowest = places[index] + gap
    return places


def _to_inline_svg(text: str, report: dict[str, Any], arm: str, layout: str) -> str:
    """Return the drawing as an element for a page: a name, a description, ids of its own."""
    body = text[text.index("<svg") :].rstrip()
    body = re.sub(r"\s*<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    key = f"{arm}-{layout}"
    body = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{key}-", body)
    body = re.sub(r'(width|height)="([\d.]+)pt"', r'\1="\2"', body, count=2)
    head = f'<svg class="{layout}" role="img" aria-labelledby="{key}-title {key}-desc"'
    title = f"Recall against budget. {TITLES.get(arm, arm)}"
    names = (
        f'<title id="{key}-title">{escape(title)}</title>'
        f'<desc id="{key}-desc">{escape(_describe(report, arm))}</desc>'
    )
    end = body.index(">") + 1
    return f"{head}{body[4:end]}{names}{body[end:]}"


def _describe(report: dict[str, Any], arm: str) -> str:
    ends = [f"{name} {curve[-1].mean:.0f}" for name, curve in build_curves(report, arm).items()]
    summary = _summary_recall(report, arm)
    alone = "" if summary is None else f" The host's summary alone: {summary:.0f}."
    return f"Recall in per cent at the largest budget: {', '.join(ends)}.{alone}"


def _render_figure(report: dict[str, Any], arm: str) -> str:
    drawn, title = build_curves(report, arm), TITLES.get(arm, arm)
    if not drawn:
        return ""
    drawings = "".join(_draw(report, arm, layout) for layout in (WIDE, NARROW))
    for name, colour in LIGHT.items():
        drawings = drawings.replace(colour, f"var(--{name})")
    return (
        f"<h2>{escape(title)}</h2><figure>{drawings}<figcaption>{_caption(drawn)}</figcaption>"
        f"</figure>{_render_table(drawn, title)}"
    )


def _summary_recall(report: dict[str, Any], arm: str) -> float | None:
    """Return the recall of the host's summary in per cent; None if there is no summary."""
    for result in report["results"]:
        if (result["arm"], result["method"]) == (arm, SUMMARY) and "frr" in result["figures"]:
            return 100 * float(result["figures"]["frr"]["mean"])
    return None


def _caption(drawn: Curves) -> str:
    note = "Numbers are per cent at the largest budget; the shaded band is the 95 % interval."
    ours = next((name for name in OURS if name in drawn), None)
    if ours is None:
        return note
    first, last = drawn[ours][0], drawn[ours][-1]
    return (
        f"{escape(ours.capitalize())}: {first.mean:.0f} % at {first.budget:,} tokens, "
        f"{last.mean:.0f} % at {last.budget:,}. {note}"
    )


def _render_table(drawn: Curves, title: str) -> str:
    budgets = sorted({point.budget for curve in drawn.values() for point in curve})
    head = "".join(f'<th scope="col">{budget:,}</th>' for budget in budgets)
    rows = "".join(_render_row(name, curve, budgets) for name, curve in drawn.items())
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(title)}, figures">'
        f"<table><caption>Recall in per cent, with 95 % intervals</caption><thead><tr>"
        f'<th scope="col">tokens</th>{head}</tr></thead><tbody>{rows}</tbody></table></div>'
    )


def _render_row(name: str, curve: list[Point], budgets: list[int]) -> str:
    points = {point.budget: point for point in curve}
    cells = "".join(f"<td>{_render_cell(points.get(budget))}</td>" for budget in budgets)
    kind = ' class="ours"' if name in OURS else ""
    return f'<tr{kind}><th scope="row">{escape(name)}</th>{cells}</tr>'


def _render_cell(point: Point | None) -> str:
    if point is None:
        return ""
    interval = f" <small>{point.low:.0f}–{point.high:.0f}</small>" if point.has_interval else ""
    return f"{point.mean:.1f}{interval}"
