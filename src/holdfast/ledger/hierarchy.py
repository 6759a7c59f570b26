"""A project with its requests, tasks and subtasks as one nested value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.ledger.schema import PROJECTS, REQUESTS, SUBTASKS, TASKS

if TYPE_CHECKING:
    from holdfast.ledger.repository import Ledger, Row
    from holdfast.ledger.schema import Table

DEFAULT_REQUESTS = 100
# Databases limit the number of values in one statement.
BATCH_SIZE = 500


def build_hierarchy(
    ledger: Ledger,
    project: str,
    *,
    limit: int = DEFAULT_REQUESTS,
    before: tuple[float, str] | None = None,
) -> Row:
    """Return a project with its newest requests, oldest first, their tasks and subtasks, and
    whether there are more requests. Raises NotFound if there is no such project.
    """
    root = ledger.require(PROJECTS, project)
    rows = ledger.find(REQUESTS, limit=limit + 1, before=before, project=project)
    requests = rows[:limit][::-1]
    tasks = _find_children(ledger, TASKS, "request", requests)
    all_tasks = [task for children in tasks.values() for task in children]
    subtasks = _find_children(ledger, SUBTASKS, "task", all_tasks)
    return {
        "project": root,
        "more": len(rows) > limit,
        "requests": [
            {
                **request,
                "tasks": [
                    {**task, "subtasks": subtasks.get(task["id"], [])}
                    for task in tasks.get(request["id"], [])
                ],
            }
            for request in requests
        ],
    }


def _find_children(
    ledger: Ledger, table: Table, column: str, parents: list[Row]
) -> dict[str, list[Row]]:
    """Return the children of these rows by the parent's id, oldest first."""
    children: dict[str, list[Row]] = {}
    for start in range(0, len(parents), BATCH_SIZE):
        batch = {row["id"] for row in parents[start : start + BATCH_SIZE]}
        for row in reversed(ledger.find_in(table, column, batch)):
            children.setdefault(row[column], []).append(row)
    return children
