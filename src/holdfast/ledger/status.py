"""Set the status of requests, tasks and subtasks, and update what depends on it: parents, waves and
blocked subtasks. Also deletes rows with their children.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.ledger import dependencies
from holdfast.ledger.schema import (
    ACTIONS,
    CHILDREN,
    FINISHED_STATUSES,
    PROJECTS,
    REQUESTS,
    SUBTASKS,
    TASKS,
)
from holdfast.ledger.waves import add_to_wave, update_wave

if TYPE_CHECKING:
    from holdfast.ledger.repository import Ledger, Row
    from holdfast.ledger.schema import Table

CANCELLED = "cancelled"
# The status of a row that is being worked on.
RUNNING_STATUS = {"tasks": "running", "requests": "active"}
# The parent table of each table, and the column that names the parent.
PARENTS = {SUBTASKS.name: (TASKS, "task"), TASKS.name: (REQUESTS, "request")}


def set_status(
    ledger: Ledger, table: Table, row: Row, status: str, now: float, **fields: Any
) -> Row:
    """Set the status and these fields of a request, task or subtask, and update its parent, its
    wave and the subtasks that wait for it. Raises NotFound if the row was deleted.
    """
    with ledger.transaction(f"session {row['session']}"):
        # Read again: writing a row that was deleted meanwhile would bring it back.
        row = ledger.require(table, row["id"])
        is_finished = status in FINISHED_STATUSES
        fields["status"] = status
        fields["completed_at"] = (row["completed_at"] or now) if is_finished else None
        if table is SUBTASKS and status == "running":
            fields["started_at"] = row["started_at"] or now
        if table is SUBTASKS and row["status"] in FINISHED_STATUSES and not is_finished:
            fields["retry_count"] = row["retry_count"] + 1
        updated = ledger.update(table, row, now, **fields)
        if updated["status"] != row["status"]:
            _update_related(ledger, table, updated, now, before=row["status"])
    return updated


def _update_related(ledger: Ledger, table: Table, row: Row, now: float, *, before: str) -> None:
    """Update everything that depends on the status of a row; `before` is its previous status."""
    is_reopened = before in FINISHED_STATUSES and row["status"] not in FINISHED_STATUSES
    if is_reopened and table.name in PARENTS:
        parent, column = PARENTS[table.name]
        reopen(ledger, parent, ledger.get(parent, row[column]), now)
    if table is SUBTASKS:
        dependencies.update_dependents(ledger, row, before, now)
        update_parent(ledger, TASKS, row["task"], SUBTASKS, "task", now, before=before)
    elif table is TASKS:
        update_wave(ledger, row, now, before=before)
        update_parent(ledger, REQUESTS, row["request"], TASKS, "request", now, before=before)


def update_parent(
    ledger: Ledger,
    table: Table,
    ident: str,
    children: Table,
    column: str,
    now: float,
    *,
    before: str = "",
) -> None:
    """Finish a parent whose children are all finished, and start one whose children have started.
    A parent whose status comes from the transcript (`folded`) is left as it is.

    `before` is the previous status of the child that has just changed.
    """
    parent = ledger.get(table, ident)
    if parent is None or parent["folded"] or parent["status"] == CANCELLED:
        return
    # A failed parent becomes completed when the failed child is retried successfully. A completed
    # parent becomes failed only if the status of a finished child is corrected.
    if parent["status"] == "completed" and before not in FINISHED_STATUSES:
        return
    of_parent: Row = {column: ident}
    statuses = {row["status"] for row in ledger.find(children, **of_parent)}
    if statuses and statuses <= set(FINISHED_STATUSES):
        status = "failed" if "failed" in statuses else "completed"
        set_status(ledger, table, parent, status, now)
    elif parent["status"] == "pending" and statuses & {"running", "completed"}:
        set_status(ledger, table, parent, RUNNING_STATUS[table.name], now)


def reopen(ledger: Ledger, table: Table, row: Row | None, now: float) -> None:
    """Set a completed or failed row back to running because a child is open again. A cancelled row
    stays cancelled, and a row whose status comes from the transcript (`folded`) stays as it is.
    """
    if row is not None and not row["folded"] and row["status"] in ("completed", "failed"):
        set_status(ledger, table, row, RUNNING_STATUS[table.name], now)


# Changes that callers request


def change_task(ledger: Ledger, ident: str, now: float, *, status: str, wave: int | None) -> Row:
    """Set the status and the wave of a task; an empty status or no wave leaves it as it is."""
    row = ledger.require(TASKS, ident)
    with ledger.transaction(f"session {row['session']}"):
        row = ledger.require(TASKS, ident)
        if wave is not None and wave != row["wave_number"]:
            before, row = row, ledger.update(TASKS, row, now, wave_number=wave)
            # The new wave is updated first: when the old wave ends, it starts the next one, which
            # may be the new wave.
            add_to_wave(ledger, row, now)
            update_wave(ledger, before, now)
        return set_status_with_parts(ledger, TASKS, row, status or row["status"], now)


def set_status_with_parts(ledger: Ledger, table: Table, row: Row, status: str, now: float) -> Row:
    """Set the status of a row; `cancelled` also cancels its unfinished tasks and subtasks."""
    with ledger.transaction(f"session {row['session']}"):
        if status == CANCELLED:
            _cancel_all(ledger, _find_open_parts(ledger, table, row), now)
        return set_status(ledger, table, row, status, now)


def _find_open_parts(ledger: Ledger, table: Table, row: Row) -> dict[str, list[Row]]:
    """Return the unfinished descendants of a row, by table."""
    parts: dict[str, list[Row]] = {TASKS.name: [], SUBTASKS.name: []}
    parents = [row["id"]]
    while table.name in CHILDREN:
        table, column = CHILDREN[table.name]
        children = ledger.find_in(table, column, parents)
        parts[table.name] = [row for row in children if row["status"] not in FINISHED_STATUSES]
        parents = [row["id"] for row in children]
    return parts


def _cancel_all(ledger: Ledger, parts: dict[str, list[Row]], now: float) -> None:
    """Cancel all of these rows first, then update what depends on them."""
    for table in (TASKS, SUBTASKS):
        for part in parts[table.name]:
            ledger.update(table, part, now, status=CANCELLED, completed_at=now)
    dependencies.unblock_dependents(ledger, {part["id"] for part in parts[SUBTASKS.name]}, now)
    # The last wave is updated first, so that no wave is started that is about to end.
    tasks_by_wave = {task["wave_number"]: task for task in parts[TASKS.name]}
    for number in sorted(tasks_by_wave, reverse=True):
        task = tasks_by_wave[number]
        update_wave(ledger, {**task, "status": CANCELLED}, now, before=task["status"])


def change_subtask(
    ledger: Ledger,
    ident: str,
    now: float,
    *,
    status: str = "",
    blocked_by: list[str] | None = None,
    **fields: Any,
) -> Row:
    """Set the status, the dependencies and these fields of a subtask.

    A blocked subtask can be finished, but not started: that raises Conflict.
    """
    row = ledger.require(SUBTASKS, ident)
    with ledger.transaction(f"session {row['session']}"):
        row = ledger.require(SUBTASKS, ident)
        new_status = status or row["status"]
        if blocked_by is not None:
            dependencies.check_dependencies(ledger, ident, blocked_by)
            new_status = "pending" if new_status == "blocked" and not status else new_status
        needed = row["blocked_by"] if blocked_by is None else list(dict.fromkeys(blocked_by))
        unsettled = dependencies.find_unsettled(ledger, needed)
        if unsettled and new_status == "running" != row["status"]:
            dependencies.raise_blocked(ledger, row, unsettled)
        if unsettled and new_status == "pending":
            new_status = "blocked"
        return set_status(ledger, SUBTASKS, row, new_status, now, blocked_by=needed, **fields)


# Deletion


def delete_with_parts(ledger: Ledger, table: Table, row: Row, now: float) -> None:
    """Delete a row and its descendants, and unblock the subtasks that waited for any of them.

    Children are deleted before their parents, so that a reader of the change feed never sees a
    child without its parent.
    """
    with ledger.transaction(f"session {row.get('session', '')}"):
        rows_to_delete: dict[str, list[Row]] = {}
        _collect_descendants(ledger, table, row, rows_to_delete)
        for part in (SUBTASKS, TASKS):
            _delete_all(ledger, part, rows_to_delete, now)
        subtasks = {subtask["id"] for subtask in rows_to_delete.get(SUBTASKS.name, ())}
        dependencies.remove_dependencies(ledger, subtasks, now)
        # Before the requests are deleted, because a wave belongs to a project through the requests
        # of its session. The last wave first, so that no wave is started that is about to be
        # deleted.
        tasks = rows_to_delete.get(TASKS.name, ())
        for task in sorted(tasks, key=lambda task: task["wave_number"], reverse=True):
            update_wave(ledger, task, now)
        for other in (REQUESTS, PROJECTS, ACTIONS):
            _delete_all(ledger, other, rows_to_delete, now)
        if table is SUBTASKS:
            update_parent(ledger, TASKS, row["task"], SUBTASKS, "task", now)
        elif table is TASKS:
            update_parent(ledger, REQUESTS, row["request"], TASKS, "request", now)


def _collect_descendants(
    ledger: Ledger, table: Table, row: Row, rows_to_delete: dict[str, list[Row]]
) -> None:
    rows_to_delete.setdefault(table.name, []).append(row)
    if table.name in CHILDREN:
        children, column = CHILDREN[table.name]
        of_row: Row = {column: row["id"]}
        for child in ledger.find(children, **of_row):
            _collect_descendants(ledger, children, child, rows_to_delete)


def _delete_all(
    ledger: Ledger, table: Table, rows_to_delete: dict[str, list[Row]], now: float
) -> None:
    for row in rows_to_delete.get(table.name, ()):
        ledger.delete(table, row, now)
