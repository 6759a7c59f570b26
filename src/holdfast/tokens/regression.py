"""Trimmed least squares in plain Python: fit, leave out the outliers, fit again.

A transcript has steps whose tokens nothing in it explains: reminders that the host adds, thinking
that is kept or dropped, images. They all lie on one side, so an ordinary fit would follow them.
"""

from __future__ import annotations

from collections.abc import Sequence

FIT_ROUNDS = 6
# The share of the rows with the smallest errors, which the next round is fitted to.
KEPT_SHARE = 0.9

Row = Sequence[float]


def fit_trimmed(rows: Sequence[Row], targets: Sequence[float]) -> list[float]:
    """Fit coefficients that predict the targets from the rows; a column of zeros gets 0."""
    kept = list(range(len(rows)))
    coefficients: list[float] = []
    for _ in range(FIT_ROUNDS):
        coefficients = least_squares([rows[row] for row in kept], [targets[row] for row in kept])
        by_error = sorted(
            range(len(rows)),
            key=lambda row: (_relative_error(coefficients, rows[row], targets[row]), row),
        )
        kept = sorted(by_error[: max(len(coefficients), int(KEPT_SHARE * len(rows)))])
    return coefficients


def predict(coefficients: Row, row: Row) -> float:
    """Return the predicted target of a row."""
    return sum(factor * value for factor, value in zip(coefficients, row, strict=True))


def _relative_error(coefficients: Row, row: Row, target: float) -> float:
    """Return the error relative to the target: long results vary by more tokens than short ones."""
    return abs(predict(coefficients, row) - target) / (target + 100)


def least_squares(rows: Sequence[Row], targets: Sequence[float]) -> list[float]:
    """Solve the normal equations, each row weighted by the inverse of its target.

    Coefficients are not negative: the lowest negative one is fixed at 0 and the rest solved again.
    """
    width = len(rows[0]) if rows else 0
    columns = [column for column in range(width) if any(row[column] for row in rows)]
    while columns:
        coefficients = _solve_columns(rows, targets, columns)
        lowest = min(columns, key=lambda column: coefficients[column])
        if coefficients[lowest] >= 0:
            return coefficients
        columns.remove(lowest)
    return [0.0] * width


def _solve_columns(
    rows: Sequence[Row], targets: Sequence[float], columns: list[int]
) -> list[float]:
    """Return the coefficients; those of other columns are 0."""
    size = len(columns)
    matrix = [[0.0] * (size + 1) for _ in range(size)]
    for row, target in zip(rows, targets, strict=True):
        weight = 1 / (target + 100) ** 2
        values = [*(row[column] for column in columns), target]
        for line, value in zip(matrix, values, strict=False):
            if scaled := weight * value:
                for index, other in enumerate(values):
                    line[index] += scaled * other
    for index in range(size):
        # A slightly larger diagonal: two columns that are always proportional share their part.
        matrix[index][index] *= 1 + 1e-9
    solution = _eliminate(matrix)
    coefficients = [0.0] * len(rows[0])
    for index, column in enumerate(columns):
        coefficients[column] = solution[index]
    return coefficients


def _eliminate(matrix: list[list[float]]) -> list[float]:
    """Gaussian elimination with partial pivoting."""
    size = len(matrix)
    for column in range(size):
        pivot = max(range(column, size), key=lambda row: abs(matrix[row][column]))
        matrix[column], matrix[pivot] = matrix[pivot], matrix[column]
        for row in range(size):
            if row != column and matrix[row][column]:
                factor = matrix[row][column] / matrix[column][column]
                matrix[row] = [
                    value - factor * pivot_value
                    for value, pivot_value in zip(matrix[row], matrix[column], strict=True)
                ]
    return [matrix[row][size] / matrix[row][row] for row in range(size)]
