"""How far requests, tasks and subtasks are: one that moves takes along whatever depends on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.ledger import waiting
from holdfast.ledger.tables import REQUESTS, SUBTASKS, TASKS
from holdfast.ledger.waves import settle_wave

if TYPE_CHECKING:
    from holdfast.ledger.ledger import Ledger, Row
    from holdfast.ledger.tables import Table

DONE = ("completed", "failed", "cancelled")
# What a row is called of which something is being done.
UNDER_WAY = {"tasks": "running", "requests": "active"}


def set_status(
    ledger: Ledger, table: Table, row: Row, status: str, now: float, **fields: Any
) -> Row:
    """Move a request, task or subtask on, and with it whatever depends on it."""
    with ledger.together(f"session {row['session']}"):
        # Somebody may have deleted it since: it does not come back by being moved.
        row = ledger.need(table, row["id"])
        fields["status"] = status
        fields["completed_at"] = (row["completed_at"] or now) if status in DONE else None
        if table is SUBTASKS and status == "running":
            fields["started_at"] = row["started_at"] or now
        if table is SUBTASKS and row["status"] in DONE and status not in DONE:
            fields["retry_count"] = row["retry_count"] + 1
        moved = ledger.change(table, row, now, **fields)
        if moved["status"] != row["status"]:
            _settle(ledger, table, moved, now, before=row["status"])
    return moved


def _settle(ledger: Ledger, table: Table, row: Row, now: float, *, before: str) -> None:
    if before in DONE and row["status"] not in DONE:
        parents = {SUBTASKS.name: (TASKS, "task"), TASKS.name: (REQUESTS, "request")}
        if table.name in parents:
            parent, column = parents[table.name]
            reopen(ledger, parent, ledger.get(parent, row[column]), now)
    if table is SUBTASKS:
        waiting.moved(ledger, row, before, now)
        settle_parent(ledger, TASKS, row["task"], SUBTASKS, "task", now, before=before)
    elif table is TASKS:
        settle_wave(ledger, row, now, before=before)
        settle_parent(ledger, REQUESTS, row["request"], TASKS, "request", now, before=before)


def settle_parent(
    ledger: Ledger,
    table: Table,
    ident: str,
    children: Table,
    column: str,
    now: float,
    *,
    before: str = "",
) -> None:
    """What has only finished parts is finished; where the host keeps the status, it decides.

    `before` is the status that one of its parts has just left.
    """
    parent = ledger.get(table, ident)
    if parent is None or parent["folded"] or parent["status"] == "cancelled":
        return
    # One that failed is done after all if what failed was tried again; one that is done has failed
    # only if something that was over is told otherwise.
    if parent["status"] == "completed" and before not in DONE:
        return
    named: Row = {column: ident}
    statuses = {row["status"] for row in ledger.rows(children, **named)}
    if statuses and statuses <= set(DONE):
        status = "failed" if "failed" in statuses else "completed"
        set_status(ledger, table, parent, status, now)
    elif parent["status"] == "pending" and statuses & {"running", "completed"}:
        set_status(ledger, table, parent, UNDER_WAY[table.name], now)


def reopen(ledger: Ledger, table: Table, row: Row | None, now: float) -> None:
    """What was over because all of its parts were, and now is not; what was called off stays so."""
    if row is not None and not row["folded"] and row["status"] in ("completed", "failed"):
        set_status(ledger, table, row, UNDER_WAY[table.name], now)
