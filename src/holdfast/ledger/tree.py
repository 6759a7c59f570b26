"""Project → requests → tasks → subtasks as one value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.ledger.tables import PROJECTS, REQUESTS, SUBTASKS, TASKS

if TYPE_CHECKING:
    from holdfast.ledger.ledger import Ledger, Row

MOST_REQUESTS = 100


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
    since = requests[0]["created_at"] if requests else 0.0
    tasks = _by(ledger.rows(TASKS, newest_first=False, **_of(project, since)), "request")
    subtasks = _by(ledger.rows(SUBTASKS, newest_first=False, **_of(project, since)), "task")
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


def _of(project: str, since: float) -> Row:
    return {"project": project, "also": "updated_at >= :since", "values": {"since": since}}


def _by(rows: list[Row], column: str) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row[column], []).append(row)
    return found
