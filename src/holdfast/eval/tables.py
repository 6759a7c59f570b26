"""The report as rows of text: recall by method and budget, then the other figures of a brief."""

from __future__ import annotations

from typing import Any

from holdfast.eval.arms import BOTH, BRIEF, COMBINED, SUMMARY
from holdfast.eval.cuts import PSEUDO, REAL

Row = tuple[str, ...]
MISSING = "–"
# A figure of fewer sessions says of how many.
FEW = 15
STATE = {
    "frr_memory": "recall of what came from memory",
    "frr_rediscovered": "recall of what was found again",
    "frr_basename": "recall, base names count",
    "frr_P": "recall of files",
    "frr_I": "recall of identifiers",
    "frr_C": "recall of commands",
    "frr_U": "recall of links and ids",
    "frp": "precision",
    "bare_list_share": "share of bare lists",
    "artifacts_complete": "files changed: all named or counted",
    "artifacts_named": "files changed: named",
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
    """Every method at every budget; the interval is of 95 %."""
    found = _by_cell(report)
    budgets = sorted({*report["budgets"], *COMBINED})
    methods = list(dict.fromkeys((arm, method) for arm, method, _ in found))
    columns = ("cuts", "method", *(f"@{budget}" for budget in budgets), "own size")
    rows = []
    for arm, method in methods:
        cells = [_shown(found.get((arm, method, budget)), "frr") for budget in budgets]
        if any(cell != MISSING for cell in cells) or (arm, method, 0) in found:
            own = found.get((arm, method, 0))
            size = f"{own['tokens']['mean']:.0f}: {_shown(own, 'frr')}" if own else ""
            rows.append((arm, method, *cells, size))
    return columns, rows


def state_table(report: dict[str, Any]) -> tuple[Row, list[Row]]:
    """The other figures, of our brief at each budget and of the host's summary beside it."""
    found = _by_cell(report)
    wanted = [
        *((PSEUDO, BRIEF, budget) for budget in report["budgets"]),
        *((REAL, BRIEF, budget) for budget in report["budgets"]),
        (REAL, SUMMARY, 0),
        (REAL, BOTH, 1000),
    ]
    shown = [cell for cell in wanted if cell in found]
    columns = (
        "%",
        *(f"{arm} {method}{f' @{size}' if size else ''}" for arm, method, size in shown),
    )
    worst = ("recall, the worst tenth of sessions", *(_worst(found[cell]) for cell in shown))
    rows = [
        worst,
        *((title, *(_shown(found[cell], name) for cell in shown)) for name, title in STATE.items()),
    ]
    return columns, [row for row in rows if any(cell != MISSING for cell in row[1:])]


def difference_table(report: dict[str, Any]) -> tuple[Row, list[Row]]:
    """What our briefs gain over each other method, in points; the primary comparison first."""
    columns = ("cuts", "ours", "against", "gain", "sessions", "wins", "worst tenth", "p", "")
    ordered = sorted(report["differences"], key=lambda one: not one["primary"])
    return columns, [_difference(one) for one in ordered]


def _difference(one: dict[str, Any]) -> Row:
    gain, p = one["frr"], one["frr"]["p"] if one["primary"] else one["p_holm"]
    span = "" if gain["low"] is None else f" [{100 * gain['low']:+.0f}, {100 * gain['high']:+.0f}]"
    missing = f" (of {gain['sessions'] + gain['missing']})" if gain["missing"] else ""
    return (
        one["arm"],
        f"{one['method']} @{one['budget']}",
        one["against"],
        f"{100 * gain['mean']:+.1f}{span}",
        f"{gain['sessions']}{missing}",
        f"{100 * gain['win_rate']:.0f} %",
        f"{100 * gain['worst_decile']:+.0f}",
        MISSING if p is None else "< 0.001" if p < 0.001 else f"{p:.3f}",
        "primary" if one["primary"] else "",
    )


def recoverability_table(result: dict[str, Any]) -> tuple[Row, list[Row]]:
    """In per cent, of everything and of each kind, with what is asked for."""
    kinds = [name for name in result["shares"][0] if name not in ("what", "aim")]
    rows = [
        (
            one["what"],
            *(f"{100 * one[kind]:.2f}" for kind in kinds),
            f"≥ {100 * one['aim']:.0f}" if one["aim"] else MISSING,
        )
        for one in result["shares"]
    ]
    return ("%", *kinds, "aim"), rows


def faults(report: dict[str, Any]) -> dict[str, int]:
    """What must never happen, counted over all of our briefs."""
    ours = [one["counts"] for one in report["results"] if one["method"] in (BRIEF, BOTH)]
    names = ("overshoots", "over_cap", "not_repeatable", "not_shorter")
    alone = [one["counts"] for one in report["results"] if one["method"] == BRIEF]
    return {
        **{name: sum(counts.get(name, 0) for counts in ours) for name in names},
        "stale": sum(counts.get("stale_errors", 0) for counts in alone),
        "stale_plan": sum(counts.get("stale_plan", 0) for counts in alone),
        "stale_checked": sum(counts.get("stale_checked", 0) for counts in alone),
    }


def _by_cell(report: dict[str, Any]) -> dict[tuple[str, str, int], dict[str, Any]]:
    return {(one["arm"], one["method"], one["budget"]): one["figures"] for one in report["results"]}


def _worst(figures: dict[str, Any]) -> str:
    return f"{100 * figures['frr']['worst_decile']:.1f}" if "frr" in figures else MISSING


def _shown(figures: dict[str, Any] | None, name: str) -> str:
    if not figures or name not in figures:
        return MISSING
    one = figures[name]
    mean = f"{100 * one['mean']:.1f}"
    few = f" ({one['sessions']})" if one["sessions"] < FEW else ""
    if one["low"] is None or one["low"] == one["high"]:
        return mean + few
    return f"{mean} [{100 * one['low']:.0f}, {100 * one['high']:.0f}]{few}"
