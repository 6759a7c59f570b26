"""Add requests, tasks and subtasks. Rows of callers and of the fold are merged into one tree.

`source` is set for rows that the fold found in a transcript and empty for rows of callers; `key` is
a caller's idempotency key.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.ledger import dependencies, idempotency
from holdfast.ledger.merge import find_or_add
from holdfast.ledger.schema import (
    DEFAULT_PRIORITY,
    FINISHED_STATUSES,
    NO_WAVE,
    REQUESTS,
    SUBTASKS,
    TASKS,
    make_fingerprint,
)
from holdfast.ledger.status import reopen, set_status, update_parent
from holdfast.ledger.waves import add_to_wave

if TYPE_CHECKING:
    from holdfast.ledger.repository import Ledger, Row
    from holdfast.ledger.schema import Table


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
    key: str = "",
    created_at: float | None = None,
) -> Row:
    """Add a request, or return the row that it is merged with."""
    row: Row = {
        "project": project, "session": session, "prompt": prompt, "prompt_type": prompt_type,
        "status": status, "metadata": metadata or {}, "likeness": make_fingerprint(prompt),
        "created_at": now if created_at is None else created_at,
        **idempotency.build_key_columns(key, prompt),
    }  # fmt: skip
    with ledger.transaction(f"session {session}"):
        if known := idempotency.find_by_key(ledger, REQUESTS, row):
            return known
        saved, is_new = find_or_add(ledger, REQUESTS, row, now, source=source)
        if not is_new and not source:
            saved = ledger.update(
                REQUESTS, saved, now, metadata={**saved["metadata"], **row["metadata"]}
            )
            if status != "active":
                saved = set_status(ledger, REQUESTS, saved, status, now)
        return saved


def add_task(
    ledger: Ledger,
    now: float,
    *,
    request: Row,
    name: str,
    wave_number: int = NO_WAVE,
    status: str = "pending",
    source: str = "",
    key: str = "",
) -> Row:
    """Add a task to a request, or return the row that it is merged with."""
    row: Row = {
        "project": request["project"], "session": request["session"], "request": request["id"],
        "name": name, "wave_number": wave_number, "status": status,
        "likeness": make_fingerprint(name),
        **idempotency.build_key_columns(key, request["id"], name),
    }  # fmt: skip
    with ledger.transaction(f"session {request['session']}"):
        if known := idempotency.find_by_key(ledger, TASKS, row):
            return known
        saved, is_new = find_or_add(
            ledger, TASKS, row, now, source=source,
            can_match=lambda other: belongs_to_request(
                ledger, other, request, is_folded=bool(source)
            ),
        )  # fmt: skip
        if not is_new and not source:
            saved = _apply_to_task(ledger, saved, wave_number, status, now)
        elif is_new:
            saved = _set_completed_at(ledger, TASKS, saved, now)
            add_to_wave(ledger, saved, now)
            if saved["status"] not in FINISHED_STATUSES:
                reopen(ledger, REQUESTS, ledger.get(REQUESTS, saved["request"]), now)
    return saved


def belongs_to_request(ledger: Ledger, task: Row, request: Row, *, is_folded: bool) -> bool:
    """Return whether a task with the same name may belong to this request.

    The fold identifies a plan item by its text and assigns it to the request during which it last
    changed. A caller may have added the same task to an earlier request: then it belongs there.
    """
    if task["request"] == request["id"] or not is_folded:
        return bool(task["request"] == request["id"])
    parent = ledger.get(REQUESTS, task["request"])
    return parent is not None and bool(parent["created_at"] <= request["created_at"])


def _set_completed_at(ledger: Ledger, table: Table, saved: Row, now: float) -> Row:
    """Set the end time of a row that was added as finished."""
    return (
        ledger.update(table, saved, now, completed_at=now)
        if saved["status"] in FINISHED_STATUSES
        else saved
    )


def _apply_to_task(ledger: Ledger, task: Row, wave_number: int, status: str, now: float) -> Row:
    """Set the wave and status that a caller gave for a task that exists already."""
    if wave_number != NO_WAVE == task["wave_number"]:
        task = ledger.update(TASKS, task, now, wave_number=wave_number)
        add_to_wave(ledger, task, now)
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
    priority: int = DEFAULT_PRIORITY,
    source: str = "",
    key: str = "",
) -> Row:
    """Add a subtask to a task, or return the row that it is merged with.

    It is blocked until all subtasks in `blocked_by` are completed or cancelled. Raises Conflict if
    it should start as running before that.
    """
    row: Row = {
        "project": task["project"], "session": task["session"], "task": task["id"],
        "agent_type": agent_type, "agent_id": agent_id, "description": description,
        "blocked_by": blocked_by or [], "result": None, "priority": priority, "retry_count": 0,
        "started_at": now if status == "running" else None,
        "likeness": make_fingerprint(agent_type, description),
        **idempotency.build_key_columns(key, task["id"], agent_type, description),
    }  # fmt: skip
    with ledger.transaction(f"session {task['session']}"):
        if known := idempotency.find_by_key(ledger, SUBTASKS, row):
            return known
        unsettled = dependencies.find_unsettled(ledger, row["blocked_by"])
        row["status"] = _choose_initial_status(ledger, row, status, unsettled)
        saved, is_new = find_or_add(
            ledger, SUBTASKS, row, now, source=source,
            can_match=lambda other: (
                bool(source) or _can_match_subtask(ledger, other, task, row["status"])
            ),
        )  # fmt: skip
        if is_new:
            saved = _set_completed_at(ledger, SUBTASKS, saved, now)
            _update_task(ledger, task, saved, now)
        elif not source:
            saved = _move_to_task(
                ledger, _apply_to_subtask(ledger, saved, row, status, now), task, now
            )
        return saved


def _choose_initial_status(ledger: Ledger, row: Row, status: str, unsettled: list[str]) -> str:
    """Return the status of a new subtask. A blocked subtask can be finished, but not running: that
    raises Conflict.
    """
    if not unsettled or status in FINISHED_STATUSES:
        return status or "pending"
    if status == "running":
        dependencies.raise_blocked(ledger, row, unsettled)
    return "blocked"


def _can_match_subtask(ledger: Ledger, other: Row, task: Row, status: str) -> bool:
    """Return whether a subtask may be the same as another one with the same text.

    An unfinished one is not the same as a finished one of an earlier request.
    """
    if status in FINISHED_STATUSES or other["status"] not in FINISHED_STATUSES:
        return True
    parent = ledger.get(TASKS, other["task"])
    return parent is not None and bool(parent["request"] == task["request"])


def _move_to_task(ledger: Ledger, saved: Row, task: Row, now: float) -> Row:
    """Move a subtask to the task that a caller gave; the fold only guesses the task."""
    old_task = ledger.get(TASKS, saved["task"])
    if saved["task"] == task["id"]:
        return saved
    saved = ledger.update(
        SUBTASKS, saved, now, task=task["id"], project=task["project"] or saved["project"]
    )
    _update_task(ledger, task, saved, now)
    if old_task is not None and old_task["source"] and not old_task["folded"]:
        _finish_unplanned(ledger, old_task, now)
    return saved


def _finish_unplanned(ledger: Ledger, task: Row, now: float) -> None:
    """Finish the fold's task for unplanned work when its subtasks are finished or gone."""
    update_parent(ledger, TASKS, task["id"], SUBTASKS, "task", now)
    if not ledger.count(SUBTASKS, task=task["id"]):
        set_status(ledger, TASKS, task, "completed", now)


def _apply_to_subtask(ledger: Ledger, saved: Row, row: Row, status: str, now: float) -> Row:
    """Set the dependencies, priority and status that a caller gave for a subtask that exists."""
    added = [ident for ident in row["blocked_by"] if ident not in saved["blocked_by"]]
    dependencies.check_dependencies(ledger, saved["id"], added)
    fields: Row = {"blocked_by": [*saved["blocked_by"], *added]}
    if row["priority"] != DEFAULT_PRIORITY:
        fields["priority"] = row["priority"]
    saved = ledger.update(SUBTASKS, saved, now, **fields)
    new_status = (
        "blocked"
        if saved["status"] == "pending" and dependencies.find_unsettled(ledger, added)
        else status
    )
    return (
        set_status(ledger, SUBTASKS, saved, new_status, now)
        if new_status not in ("", "pending")
        else saved
    )


def _update_task(ledger: Ledger, task: Row, subtask: Row, now: float) -> None:
    """Start the task of a new subtask that is running or completed, and reopen a finished task if
    the subtask is unfinished. A completed subtask does not complete its task: more may follow.
    """
    has_begun = subtask["status"] in ("running", "completed")
    if task["folded"]:
        return
    if has_begun and task["status"] == "pending":
        set_status(ledger, TASKS, task, "running", now)
    elif subtask["status"] not in FINISHED_STATUSES:
        reopen(ledger, TASKS, task, now)
