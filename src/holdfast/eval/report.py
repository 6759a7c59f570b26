"""Build the report of a run: estimates and counts."""

from __future__ import annotations

import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from statistics import median, quantiles
from time import perf_counter
from typing import Any

from holdfast.eval.config import EvalConfig
from holdfast.eval.cuts import PSEUDO, REAL
from holdfast.eval.run import Row, TranscriptScores
from holdfast.eval.statistics import Key, estimate, resampling_unit

Values = list[tuple[Key, float]]
Cells = dict[tuple[str, str, int], dict[str, Values]]  # arm, method, budget -> figure -> values
# Faults are summed, not averaged.
COUNTS = (
    "overshoots", "over_cap", "not_repeatable", "not_shorter", "stale_errors", "stale_checked",
    "stale_plan", "stale_checks", "stale_branch",
)  # fmt: skip
# The figures for which no interval is computed.
SIZES = ("tokens", "characters")
PYTHON_STARTS = 9


def build_report(scored: Sequence[TranscriptScores], config: EvalConfig) -> dict[str, Any]:
    """Return the report as it is printed with `--json`."""
    rows = [row for scores in scored for row in scores.rows]
    cells = collect_values(rows)
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
        "budgets": list(config.budgets),
        "resampled_by": resampling_unit(keys),
        "results": [_to_result(*cell, figures, in_arm[cell[0]]) for cell, figures in cells.items()],
        "latency": measure_latency(rows),
        "skipped": {scores.path: scores.skipped for scores in scored if scores.skipped},
    }


def collect_values(rows: Iterable[Row]) -> Cells:
    """Return the values of every figure, by arm, method and budget."""
    cells: Cells = defaultdict(lambda: defaultdict(list))
    for row in sorted(rows, key=lambda row: (row.repository, row.session, row.line)):
        for name, value in row.figures.items():
            cells[row.arm, row.method, row.budget][name].append(
                ((row.repository, row.session), value)
            )
    return {cell: dict(figures) for cell, figures in cells.items()}


def _to_result(
    arm: str, method: str, budget: int, figures: dict[str, Values], sessions: int
) -> dict[str, Any]:
    """Return all figures of a method; `missing` counts the arm's sessions without that figure."""
    return {
        "arm": arm,
        "method": method,
        "budget": budget,
        "figures": {
            name: {
                **(figure := asdict(estimate(values, with_interval=name not in SIZES))),
                "missing": sessions - figure["sessions"],
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


def measure_latency(rows: Iterable[Row]) -> dict[str, float]:
    """Return the time to build a brief from a loaded state, as a ratio to a bare start of Python.

    Empty if fewer than two briefs were timed.
    """
    times = [row.figures["seconds"] for row in rows if "seconds" in row.figures]
    if len(times) < 2:
        return {}
    start = measure_python_start()
    return {
        "bare_python_ms": 1000 * start,
        "p50_ratio": median(times) / start,
        "p95_ratio": quantiles(times, n=20)[-1] / start,
    }


def measure_python_start() -> float:
    """Return the median start-up time of Python, in seconds."""
    times = []
    for _ in range(PYTHON_STARTS):
        start = perf_counter()
        subprocess.run([sys.executable, "-c", "pass"], check=True)
        times.append(perf_counter() - start)
    return median(times)
