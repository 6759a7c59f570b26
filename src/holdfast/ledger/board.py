"""Requests with their tasks and subtasks, of each only as many as a page can show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast.ledger.dependencies import SETTLED_STATUSES
from holdfast.ledger.schema import REQUESTS, SUBTASKS, TASKS, WAVES
from holdfast.ledger.waves import make_wave_id

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from holdfast.ledger.repository import Ledger, Row
    from holdfast.ledger.schema import Table

# Databases limit the number of values in one statement.
BATCH_SIZE = 500
# A settled child is shown only if there is room; then the newest first.
_SHOWN_FIRST = f"CASE WHEN status IN {SETTLED_STATUSES} THEN 1 ELSE 0 END, created_at DESC, id DESC"
_SHOWN_CHILDREN = (
    "id IN (SELECT id FROM (SELECT id, row_number() OVER "
    f"(PARTITION BY {{column}} ORDER BY {_SHOWN_FIRST}) AS place "
    "FROM {table} WHERE {column} IN ({parents})) AS ranked WHERE place <= :most)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardTask:
    """A task with some of its subtasks, open ones before settled ones, oldest first."""

    row: Row
    subtasks: list[Row]
    counts: dict[str, int]
    """How many of all its subtasks have each status."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardRequest:
    """A request with some of its tasks, chosen and sorted like subtasks."""

    row: Row
    tasks: list[BoardTask]
    counts: dict[str, int]
    """How many of all its tasks have each status."""


def load_requests(
    ledger: Ledger,
    limit: int,
    *,
    before: tuple[float, str] | None = None,
    max_tasks: int,
    max_subtasks: int,
    **equal: Any,
) -> list[BoardRequest]:
    """Return the newest requests whose columns have these values, newest first."""
    rows = ledger.find(REQUESTS, limit=limit, before=before, **equal)
    children = _find_shown(ledger, TASKS, "request", rows, max_tasks)
    tasks = add_subtasks(
        ledger, [row for group in children.values() for row in group], max_subtasks
    )
    by_request: dict[str, list[BoardTask]] = {}
    for task in tasks:
        by_request.setdefault(task.row["request"], []).append(task)
    counts = count_by_status(ledger, TASKS, "request", [row["id"] for row in rows])
    return [
        BoardRequest(row=row, tasks=by_request.get(row["id"], []), counts=counts.get(row["id"], {}))
        for row in rows
    ]


def add_subtasks(ledger: Ledger, tasks: list[Row], max_subtasks: int) -> list[BoardTask]:
    """Return these tasks with their subtasks."""
    children = _find_shown(ledger, SUBTASKS, "task", tasks, max_subtasks)
    counts = count_by_status(ledger, SUBTASKS, "task", [row["id"] for row in tasks])
    return [
        BoardTask(row=row, subtasks=children.get(row["id"], []), counts=counts.get(row["id"], {}))
        for row in tasks
    ]


def _find_shown(
    ledger: Ledger, table: Table, column: str, parents: list[Row], most: int
) -> dict[str, list[Row]]:
    """Return up to `most` children of each of these rows by the parent's id, oldest first."""
    children: dict[str, list[Row]] = {}
    for values in _make_batches(row["id"] for row in parents):
        places = ", ".join(f":{name}" for name in values)
        where = _SHOWN_CHILDREN.format(table=table.name, column=column, parents=places)
        found = ledger.find(table, newest_first=False, where=where, values={**values, "most": most})
        for row in found:
            children.setdefault(row[column], []).append(row)
    return children


def count_by_status(
    ledger: Ledger, table: Table, column: str, parents: Collection[str]
) -> dict[str, dict[str, int]]:
    """Return how many children of each parent have each status."""
    counts: dict[str, dict[str, int]] = {}
    for values in _make_batches(parents):
        places = ", ".join(f":{name}" for name in values)
        rows = ledger.database.run(
            f"SELECT {column} AS parent, status, count(*) AS n FROM {table.name} "
            f"WHERE {column} IN ({places}) AND {ledger.build_scope_condition(table)} "
            f"GROUP BY {column}, status",
            {**values, **ledger.scope_values},
        )[0]
        for row in rows:
            counts.setdefault(row["parent"], {})[row["status"]] = row["n"]
    return counts


def find_blockers(ledger: Ledger, subtasks: Iterable[Row]) -> dict[str, Row]:
    """Return the subtasks that blocked ones wait for and that are not settled, by id."""
    needed = {
        ident for row in subtasks if row["status"] == "blocked" for ident in row["blocked_by"]
    }
    return {
        row["id"]: row
        for batch in _make_batches(sorted(needed))
        for row in ledger.find_in(SUBTASKS, "id", list(batch.values()))
        if row["status"] not in SETTLED_STATUSES
    }


def find_waves(ledger: Ledger, tasks: Iterable[Row]) -> dict[tuple[str, int], Row]:
    """Return the waves of these tasks by session and number."""
    idents = {make_wave_id(row["session"], row["wave_number"]) for row in tasks}
    return {
        (row["session"], row["wave_number"]): row
        for batch in _make_batches(sorted(idents))
        for row in ledger.find_in(WAVES, "id", list(batch.values()))
    }


def _make_batches(values: Iterable[str]) -> Iterator[dict[str, str]]:
    """Yield the values in batches, each by the name of its placeholder."""
    listed = list(values)
    for start in range(0, len(listed), BATCH_SIZE):
        batch = listed[start : start + BATCH_SIZE]
        yield {f"v{number}": value for number, value in enumerate(batch)}
