"""The figures of a run, put together for people's tables and for programs."""

from __future__ import annotations

import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from statistics import median, quantiles
from time import perf_counter
from typing import Any

from holdfast.eval.arms import BOTH, BRIEF, SUMMARY
from holdfast.eval.cuts import PSEUDO, REAL
from holdfast.eval.plan import Plan
from holdfast.eval.run import Row, Scored
from holdfast.eval.statistics import Key, estimate, holm, paired, unit

Values = list[tuple[Key, float]]
Cells = dict[tuple[str, str, int], dict[str, Values]]  # arm, method, budget -> figure -> values
# Faults are counted, not averaged.
COUNTS = (
    "overshoots", "over_cap", "not_repeatable", "not_shorter", "stale_errors", "stale_checked",
    "stale_plan", "stale_files", "stale_checks", "stale_branch",
)  # fmt: skip
# Sizes need no interval.
SIZES = ("tokens", "characters")
STARTS = 9
# The one comparison that was named beforehand; all others are adjusted for being many.
PRIMARY = {"arm": PSEUDO, "method": BRIEF, "budget": 1000, "against": "name dump"}


def report(scored: Sequence[Scored], plan: Plan) -> dict[str, Any]:
    rows = [row for each in scored for row in each.rows]
    cells = collected(rows)
    keys = {(row.repository, row.session) for row in rows}
    in_arm = {
        arm: len({(row.repository, row.session) for row in rows if row.arm == arm})
        for arm in (PSEUDO, REAL)
    }
    return {
        "sessions": len(keys),
        "repositories": len({repository for repository, _ in keys}),
        "cuts": {
            arm: len({(row.session, row.line) for row in rows if row.arm == arm})
            for arm in (PSEUDO, REAL)
        },
        "budgets": list(plan.budgets),
        "estimator": plan.estimator,
        "resampled_by": unit(keys),
        "primary": PRIMARY,
        "results": [_result(*cell, figures, in_arm[cell[0]]) for cell, figures in cells.items()],
        "differences": adjusted(list(_differences(cells))),
        "latency": latency(rows),
        "skipped": {each.path: each.skipped for each in scored if each.skipped},
    }


def collected(rows: Iterable[Row]) -> Cells:
    """The values of every figure of every method, by arm and budget."""
    found: Cells = defaultdict(lambda: defaultdict(list))
    for row in sorted(rows, key=lambda row: (row.repository, row.session, row.line)):
        for name, value in row.figures.items():
            found[row.arm, row.method, row.budget][name].append(
                ((row.repository, row.session), value)
            )
    return {cell: dict(figures) for cell, figures in found.items()}


def _result(
    arm: str, method: str, budget: int, figures: dict[str, Values], sessions: int
) -> dict[str, Any]:
    """All figures of a method; `missing` are the arm's sessions that have nothing of the kind."""
    return {
        "arm": arm,
        "method": method,
        "budget": budget,
        "figures": {
            name: {
                **(one := asdict(estimate(values, with_interval=name not in SIZES))),
                "missing": sessions - one["sessions"],
            }
            for name, values in figures.items()
            if name not in COUNTS and name != "seconds"
        },
        "counts": {
            name: int(sum(value for _, value in figures[name]))
            for name in COUNTS
            if name in figures
        },
    }


def _differences(cells: Cells) -> Iterator[dict[str, Any]]:
    """Our brief against each other method of the same budget; all of ours against the summary."""
    for (arm, method, budget), figures in cells.items():
        for ours, tokens in _ours_beside(cells, arm, method, budget):
            if "frr" in figures:
                gain = paired(cells[arm, ours, tokens]["frr"], figures["frr"])
                yield {
                    "arm": arm,
                    "method": ours,
                    "budget": tokens,
                    "against": method,
                    "frr": asdict(gain),
                }


def adjusted(differences: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """With p by Holm for all but the primary comparison."""
    for one in differences:
        one["primary"] = PRIMARY.items() <= one.items()
        one["p_holm"] = None
    others = [one for one in differences if not one["primary"] and one["frr"]["p"] is not None]
    chances = holm([one["frr"]["p"] for one in others])
    for one, chance in zip(others, chances, strict=True):
        one["p_holm"] = chance
    return differences


def _ours_beside(cells: Cells, arm: str, method: str, budget: int) -> Iterator[tuple[str, int]]:
    for other_arm, ours, tokens in cells:
        if other_arm != arm or ours not in (BRIEF, BOTH) or method in (BRIEF, BOTH):
            continue
        if method == SUMMARY or (
            tokens == budget and (ours == BOTH) == method.startswith("summary")
        ):
            yield ours, tokens


def latency(rows: Iterable[Row]) -> dict[str, float]:
    """Building a brief of a warm state, as a ratio to starting Python with nothing to do."""
    times = [row.figures["seconds"] for row in rows if "seconds" in row.figures]
    if len(times) < 2:
        return {}
    start = bare_start()
    return {
        "bare_python_ms": 1000 * start,
        "p50_ratio": median(times) / start,
        "p95_ratio": quantiles(times, n=20)[-1] / start,
    }


def bare_start() -> float:
    """The middle one of a few starts, in seconds."""
    times = []
    for _ in range(STARTS):
        begun = perf_counter()
        subprocess.run([sys.executable, "-c", "pass"], check=True)
        times.append(perf_counter() - begun)
    return median(times)
