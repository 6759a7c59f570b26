"""Render the report as tables: a tuple of column titles, and rows of text."""

from __future__ import annotations

from typing import Any

from holdfast.eval.cuts import PSEUDO, REAL
from holdfast.eval.methods import BOTH, BRIEF, SUMMARY, SUMMARY_BUDGETS

Row = tuple[str, ...]
MISSING = "–"
# A figure of fewer sessions than this is shown with the number of sessions.
MIN_SESSIONS_UNMARKED = 15
FIGURE_TITLES = {
    "frr_memory": "recall of what came from memory",
    "frr_rediscovered": "recall of what was found again",
    "frr_basename": "recall, base names count",
    "frr_P": "recall of files",
    "frr_I": "recall of identifiers",
    "frr_C": "recall of commands",
    "frr_U": "recall of links and ids",
    "frp": "precision",
    "bare_list_share": "share of bare lists",
    "instructions": "user's sentences verbatim",
    "constraints": "constraints verbatim",
    "prohibitions": "prohibitions verbatim",
    "last_error": "last unresolved error verbatim",
    "open_todos": "open plan items kept",
    "lines_with_ref": "lines with a reference",
    "refs_hold": "references that hold",
    "refs_hold_with_calls": "… the call of a result counting",
    "retained": "needed: in the brief",
    "by_reference": "needed: behind a reference",
    "by_search": "needed: found by one search",
    "lost": "needed: lost",
    "survival_1": "needed, from 1 compaction ago",
    "survival_2": "needed, from 2 compactions ago",
}


def recall_table(report: dict[str, Any]) -> tuple[Row, list[Row]]:
    """Return the recall of every method at every budget, with 95 % intervals."""
    figures = _by_cell(report)
    budgets = sorted({*report["budgets"], *SUMMARY_BUDGETS})
    methods = list(dict.fromkeys((arm, method) for arm, method, _ in figures))
    columns = ("cuts", "method", *(f"@{budget}" for budget in budgets), "own size")
    rows = []
    for arm, method in methods:
        cells = [_render_estimate(figures.get((arm, method, budget)), "frr") for budget in budgets]
        if any(cell != MISSING for cell in cells) or (arm, method, 0) in figures:
            own = figures.get((arm, method, 0))
            size = f"{own['tokens']['mean']:.0f}: {_render_estimate(own, 'frr')}" if own else ""
            rows.append((arm, method, *cells, size))
    return columns, rows


def state_table(report: dict[str, Any]) -> tuple[Row, list[Row]]:
    """Return all other figures, of our brief at each budget and of the host's summary."""
    figures = _by_cell(report)
    wanted = [
        *((PSEUDO, BRIEF, budget) for budget in report["budgets"]),
        *((REAL, BRIEF, budget) for budget in report["budgets"]),
        (REAL, SUMMARY, 0),
        (REAL, BOTH, 1000),
    ]
    cells = [cell for cell in wanted if cell in figures]
    columns = (
        "%",
        *(f"{arm} {method}{f' @{size}' if size else ''}" for arm, method, size in cells),
    )
    worst = (
        "recall, the worst tenth of sessions",
        *(_render_worst_decile(figures[cell]) for cell in cells),
    )
    rows = [
        worst,
        *(
            (title, *(_render_estimate(figures[cell], name) for cell in cells))
            for name, title in FIGURE_TITLES.items()
        ),
    ]
    return columns, [row for row in rows if any(cell != MISSING for cell in row[1:])]


def recoverability_table(result: dict[str, Any]) -> tuple[Row, list[Row]]:
    """Return the shares in per cent, overall and by kind, with the target."""
    kinds = [name for name in result["shares"][0] if name not in ("what", "aim")]
    rows = [
        (
            share["what"],
            *(f"{100 * share[kind]:.2f}" for kind in kinds),
            f"≥ {100 * share['aim']:.0f}" if share["aim"] else MISSING,
        )
        for share in result["shares"]
    ]
    return ("%", *kinds, "aim"), rows


def count_faults(report: dict[str, Any]) -> dict[str, int]:
    """Return the number of faults in all of our briefs, by kind."""
    results = report["results"]
    ours = [result["counts"] for result in results if result["method"] in (BRIEF, BOTH)]
    names = ("overshoots", "over_cap", "not_repeatable", "not_shorter")
    alone = [result["counts"] for result in results if result["method"] == BRIEF]
    return {
        **{name: sum(counts.get(name, 0) for counts in ours) for name in names},
        "stale": sum(counts.get("stale_errors", 0) for counts in alone),
        "stale_plan": sum(counts.get("stale_plan", 0) for counts in alone),
        "stale_checked": sum(counts.get("stale_checked", 0) for counts in alone),
    }


def _by_cell(report: dict[str, Any]) -> dict[tuple[str, str, int], dict[str, Any]]:
    return {
        (result["arm"], result["method"], result["budget"]): result["figures"]
        for result in report["results"]
    }


def _render_worst_decile(figures: dict[str, Any]) -> str:
    return f"{100 * figures['frr']['worst_decile']:.1f}" if "frr" in figures else MISSING


def _render_estimate(figures: dict[str, Any] | None, name: str) -> str:
    if not figures or name not in figures:
        return MISSING
    figure = figures[name]
    mean, low, high = figure["mean"], figure["low"], figure["high"]
    count = f" ({figure['sessions']})" if figure["sessions"] < MIN_SESSIONS_UNMARKED else ""
    if low is None or low == high:
        return f"{100 * mean:.1f}{count}"
    return f"{100 * mean:.1f} [{100 * low:.0f}, {100 * high:.0f}]{count}"
