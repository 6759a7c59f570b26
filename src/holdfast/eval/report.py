"""The figures of a run, ready to print or to be read by a program."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from holdfast.eval.arms import BOTH, BRIEF, SUMMARY
from holdfast.eval.cuts import PSEUDO, REAL
from holdfast.eval.run import Plan, Row, Scored
from holdfast.eval.statistics import Key, estimate, paired, unit

Cell = tuple[str, str, int]  # arm, method, budget


def collected(rows: Iterable[Row]) -> dict[Cell, dict[str, list[tuple[Key, float]]]]:
    """The values of every figure of every method, by arm and budget."""
    found: dict[Cell, dict[str, list[tuple[Key, float]]]] = defaultdict(lambda: defaultdict(list))
    for row in sorted(rows, key=lambda row: (row.repository, row.session, row.line)):
        for name, value in row.figures.items():
            cell = found[row.arm, row.method, row.budget]
            cell[name].append(((row.repository, row.session), value))
    return {cell: dict(values) for cell, values in found.items()}


def report(scored: Sequence[Scored], plan: Plan) -> dict[str, Any]:
    rows = [row for each in scored for row in each.rows]
    cells = collected(rows)
    keys = {(row.repository, row.session) for row in rows}
    return {
        "sessions": len(keys),
        "repositories": len({repository for repository, _ in keys}),
        "cuts": {arm: len({(row.session, row.line) for row in rows if row.arm == arm})
                 for arm in (PSEUDO, REAL)},
        "estimator": plan.estimator,
        "resampled_by": unit(keys),
        "results": [
            {"arm": arm, "method": method, "budget": budget,
             "figures": {name: asdict(estimate(values)) for name, values in figures.items()}}
            for (arm, method, budget), figures in cells.items()
        ],
        "differences": [*_differences(cells, plan)],
        "skipped": {each.path: each.skipped for each in scored if each.skipped},
    }  # fmt: skip


def _differences(
    cells: dict[Cell, dict[str, list[tuple[Key, float]]]], plan: Plan
) -> Iterable[dict[str, Any]]:
    """Our brief against each other method of the same budget, and against the summary."""
    for (arm, method, budget), figures in cells.items():
        ours = BOTH if method == SUMMARY else BRIEF
        budgets = [tokens for one, name, tokens in cells if (one, name) == (arm, ours)]
        for tokens in budgets if method == SUMMARY else [budget]:
            mine = cells.get((arm, ours, tokens))
            if mine is None or method in (BRIEF, BOTH):
                continue
            yield {"arm": arm, "method": ours, "budget": tokens, "against": method,
                   "frr": asdict(paired(mine["frr"], figures["frr"]))}  # fmt: skip
