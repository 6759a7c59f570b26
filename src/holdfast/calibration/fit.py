"""Trimmed least squares in plain Python: what is far from the rest is left out, then fitted again.

A log holds steps that nothing in it explains: reminders that the host adds, thinking that is kept
or dropped, pictures. They lie on one side, so a plain fit would follow them.
"""

from __future__ import annotations

from collections.abc import Sequence

ROUNDS = 6
KEPT = 0.9

Row = Sequence[float]


def trimmed(rows: Sequence[Row], targets: Sequence[float]) -> list[float]:
    """Coefficients that make the targets of the rows; a column that is always 0 gets 0."""
    chosen = list(range(len(rows)))
    found: list[float] = []
    for _ in range(ROUNDS):
        found = least_squares([rows[at] for at in chosen], [targets[at] for at in chosen])
        by_error = sorted(
            range(len(rows)), key=lambda at: (_distance(found, rows[at], targets[at]), at)
        )
        chosen = sorted(by_error[: max(len(found), int(KEPT * len(rows)))])
    return found


def predicted(coefficients: Row, row: Row) -> float:
    return sum(one * other for one, other in zip(coefficients, row, strict=True))


def _distance(coefficients: Row, row: Row, target: float) -> float:
    """Relative to the size of the step: long results vary by more tokens than short ones."""
    return abs(predicted(coefficients, row) - target) / (target + 100)


def least_squares(rows: Sequence[Row], targets: Sequence[float]) -> list[float]:
    """By the normal equations, each row weighted by the inverse of its size; none is negative."""
    width = len(rows[0]) if rows else 0
    active = [at for at in range(width) if any(row[at] for row in rows)]
    while active:
        found = _solved(rows, targets, active)
        worst = min(active, key=lambda at: found[at])
        if found[worst] >= 0:
            return found
        active.remove(worst)
    return [0.0] * width


def _solved(rows: Sequence[Row], targets: Sequence[float], active: list[int]) -> list[float]:
    size = len(active)
    table = [[0.0] * (size + 1) for _ in range(size)]
    for row, target in zip(rows, targets, strict=True):
        weight = 1 / (target + 100) ** 2
        given = [*(row[at] for at in active), target]
        for line, value in zip(table, given, strict=False):
            if scaled := weight * value:
                for across, other in enumerate(given):
                    line[across] += scaled * other
    for one in range(size):
        # A trace more on the diagonal: two columns that always go together share their part.
        table[one][one] *= 1 + 1e-9
    solved = _eliminated(table)
    found = [0.0] * len(rows[0])
    for one, at in enumerate(active):
        found[at] = solved[one]
    return found


def _eliminated(table: list[list[float]]) -> list[float]:
    """Gauss with row exchange."""
    size = len(table)
    for at in range(size):
        pivot = max(range(at, size), key=lambda row: abs(table[row][at]))
        table[at], table[pivot] = table[pivot], table[at]
        for row in range(size):
            if row != at and table[row][at]:
                factor = table[row][at] / table[at][at]
                table[row] = [
                    mine - factor * theirs
                    for mine, theirs in zip(table[row], table[at], strict=True)
                ]
    return [table[at][size] / table[at][at] for at in range(size)]
