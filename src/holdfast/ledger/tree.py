"""Project → requests → tasks → subtasks as one value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.ledger.tables import PROJECTS, REQUESTS, SUBTASKS, TASKS

if TYPE_CHECKING:
    from holdfast.ledger.ledger import Ledger, Row
    from holdfast.ledger.tables import Table

MOST_REQUESTS = 100
# Databases take so many values in one question.
AT_ONCE = 500


def hierarchy(
    ledger: Ledger,
    project: str,
    *,
    most: int = MOST_REQUESTS,
    before: tuple[float, str] | None = None,
) -> Row:
    """The tree of one project: its newest requests, oldest first, all that hangs on them, and
    whether there are more.
    """
    root = ledger.need(PROJECTS, project)
    found = ledger.rows(REQUESTS, most=most + 1, before=before, project=project)
    requests = found[:most][::-1]
    tasks = _hanging(ledger, TASKS, "request", requests)
    every = [task for some in tasks.values() for task in some]
    subtasks = _hanging(ledger, SUBTASKS, "task", every)
    return {
        "project": root,
        "more": len(found) > most,
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


def _hanging(ledger: Ledger, table: Table, column: str, parents: list[Row]) -> dict[str, list[Row]]:
    """What hangs on each of these, oldest first."""
    found: dict[str, list[Row]] = {}
    for start in range(0, len(parents), AT_ONCE):
        some = {row["id"] for row in parents[start : start + AT_ONCE]}
        for row in reversed(ledger.among(table, column, some)):
            found.setdefault(row[column], []).append(row)
    return found
