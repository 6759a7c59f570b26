"""Requests, tasks and subtasks: what callers say and what the fold finds meet in one tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.ledger import ids, waiting
from holdfast.ledger.tables import REQUESTS, SUBTASKS, TASKS
from holdfast.ledger.twins import meet
from holdfast.ledger.waves import NO_WAVE, join_wave, settle_wave

if TYPE_CHECKING:
    from holdfast.ledger.ledger import Ledger, Row
    from holdfast.ledger.tables import Table

DONE = ("completed", "failed", "cancelled")
# What a row is called of which something is being done.
UNDER_WAY = {"tasks": "running", "requests": "active"}
USUAL_PRIORITY = 5
STATUSES = ("pending", "running", "paused", "blocked", *DONE)


def add_request(
    ledger: Ledger,
    now: float,
    *,
    project: str,
    session: str,
    prompt: str,
    prompt_type: str = "",
    status: str = "active",
    metadata: dict[str, Any] | None = None,
    source: str = "",
    created_at: float | None = None,
) -> Row:
    row: Row = {
        "project": project, "session": session, "prompt": prompt, "prompt_type": prompt_type,
        "status": status, "metadata": metadata or {}, "likeness": ids.likeness(prompt),
        "created_at": now if created_at is None else created_at,
    }  # fmt: skip
    with ledger.together(f"session {session}"):
        made, is_new = meet(ledger, REQUESTS, row, now, source=source)
        if not is_new and not source:
            made = ledger.change(
                REQUESTS, made, now, metadata={**made["metadata"], **row["metadata"]}
            )
            if status != "active":
                made = set_status(ledger, REQUESTS, made, status, now)
        return made


def add_task(
    ledger: Ledger,
    now: float,
    *,
    request: Row,
    name: str,
    wave_number: int = NO_WAVE,
    status: str = "pending",
    source: str = "",
) -> Row:
    row: Row = {
        "project": request["project"], "session": request["session"], "request": request["id"],
        "name": name, "wave_number": wave_number, "status": status, "likeness": ids.likeness(name),
    }  # fmt: skip
    with ledger.together(f"session {request['session']}"):
        made, is_new = meet(ledger, TASKS, row, now, source=source)
        if not is_new and not source:
            made = _told_more(ledger, made, wave_number, status, now)
        elif is_new:
            made = _over(ledger, TASKS, made, now)
            join_wave(ledger, made, now)
    return made


def _over(ledger: Ledger, table: Table, made: Row, now: float) -> Row:
    """What was done before anybody told of it is over since now."""
    return ledger.change(table, made, now, completed_at=now) if made["status"] in DONE else made


def _told_more(ledger: Ledger, task: Row, wave_number: int, status: str, now: float) -> Row:
    """What a caller says of a task that is known already."""
    if wave_number != NO_WAVE == task["wave_number"]:
        task = ledger.change(TASKS, task, now, wave_number=wave_number)
        join_wave(ledger, task, now)
    return task if status == "pending" else set_status(ledger, TASKS, task, status, now)


def add_subtask(
    ledger: Ledger,
    now: float,
    *,
    task: Row,
    description: str,
    agent_type: str = "",
    agent_id: str = "",
    status: str = "",
    blocked_by: list[str] | None = None,
    priority: int = USUAL_PRIORITY,
    source: str = "",
) -> Row:
    """A subtask that waits for others is blocked until the last of them is settled."""
    row: Row = {
        "project": task["project"], "session": task["session"], "task": task["id"],
        "agent_type": agent_type, "agent_id": agent_id, "description": description,
        "blocked_by": blocked_by or [], "result": None, "priority": priority, "retry_count": 0,
        "started_at": now if status == "running" else None,
        "likeness": ids.likeness(agent_type, description),
    }  # fmt: skip
    with ledger.together(f"session {task['session']}"):
        waits = bool(waiting.still_open(ledger, row["blocked_by"]))
        row["status"] = "blocked" if waits else status or "pending"
        made, is_new = meet(ledger, SUBTASKS, row, now, source=source)
        if is_new:
            made = _over(ledger, SUBTASKS, made, now)
            _begin(ledger, task, made, now)
        elif not source:
            made = _said_of_part(ledger, made, row, status, now)
        return made


def _said_of_part(ledger: Ledger, made: Row, row: Row, status: str, now: float) -> Row:
    """What a caller says of a subtask that is known already."""
    waits = [ident for ident in row["blocked_by"] if ident not in made["blocked_by"]]
    waiting.can_wait_for(ledger, made["id"], waits)
    told: Row = {"blocked_by": [*made["blocked_by"], *waits]}
    if row["priority"] != USUAL_PRIORITY:
        told["priority"] = row["priority"]
    made = ledger.change(SUBTASKS, made, now, **told)
    wanted = (
        "blocked" if made["status"] == "pending" and waiting.still_open(ledger, waits) else status
    )
    return (
        set_status(ledger, SUBTASKS, made, wanted, now) if wanted not in ("", "pending") else made
    )


def _begin(ledger: Ledger, task: Row, subtask: Row, now: float) -> None:
    """A task of which something is done already is under way; others of it may yet be told of.
    One that was over goes on if there is more to do."""
    begun = subtask["status"] in ("running", "completed")
    if task["folded"]:
        return
    if begun and task["status"] == "pending":
        set_status(ledger, TASKS, task, "running", now)
    elif subtask["status"] not in DONE:
        _reopen(ledger, TASKS, task, now)


def _reopen(ledger: Ledger, table: Table, row: Row | None, now: float) -> None:
    """What was over because all of its parts were, and now is not; what was called off stays so."""
    if row is not None and not row["folded"] and row["status"] in ("completed", "failed"):
        set_status(ledger, table, row, UNDER_WAY[table.name], now)


def change_subtask(
    ledger: Ledger,
    ident: str,
    now: float,
    *,
    status: str = "",
    blocked_by: list[str] | None = None,
    **fields: Any,
) -> Row:
    """What a caller says of a subtask. Whatever it waits for, it can end, but not begin."""
    row = ledger.need(SUBTASKS, ident)
    with ledger.together(f"session {row['session']}"):
        row = ledger.need(SUBTASKS, ident)
        wanted = status or row["status"]
        if blocked_by is not None:
            waiting.can_wait_for(ledger, ident, blocked_by)
            wanted = "pending" if wanted == "blocked" and not status else wanted
        others = row["blocked_by"] if blocked_by is None else list(dict.fromkeys(blocked_by))
        waits = waiting.still_open(ledger, others)
        if waits and wanted == "running" != row["status"]:
            waiting.refuse_to_begin(ledger, row, waits)
        if waits and wanted == "pending":
            wanted = "blocked"
        return set_status(ledger, SUBTASKS, row, wanted, now, blocked_by=others, **fields)


def set_status(
    ledger: Ledger, table: Table, row: Row, status: str, now: float, **fields: Any
) -> Row:
    """Move a request, task or subtask on, and with it whatever depends on it."""
    with ledger.together(f"session {row['session']}"):
        row = ledger.get(table, row["id"]) or row
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
            _reopen(ledger, parent, ledger.get(parent, row[column]), now)
    if table is SUBTASKS:
        waiting.moved(ledger, row, before, now)
        settle_parent(ledger, TASKS, row["task"], SUBTASKS, "task", now)
    elif table is TASKS:
        settle_wave(ledger, row, now, before=before)
        settle_parent(ledger, REQUESTS, row["request"], TASKS, "request", now)


def settle_parent(
    ledger: Ledger, table: Table, ident: str, children: Table, column: str, now: float
) -> None:
    """What has only finished parts is finished; where the host keeps the status, it decides."""
    parent = ledger.get(table, ident)
    # One that failed is done after all if what failed was tried again.
    if parent is None or parent["folded"] or parent["status"] in ("completed", "cancelled"):
        return
    named: Row = {column: ident}
    statuses = {row["status"] for row in ledger.rows(children, **named)}
    if statuses and statuses <= set(DONE):
        status = "failed" if "failed" in statuses else "completed"
        set_status(ledger, table, parent, status, now)
    elif parent["status"] == "pending" and statuses & {"running", "completed"}:
        set_status(ledger, table, parent, UNDER_WAY[table.name], now)
