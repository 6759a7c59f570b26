"""Requests, tasks and subtasks: what callers say and what the fold finds meet in one tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.ledger import ids, retrying, waiting
from holdfast.ledger.standing import DONE, reopen, set_status, settle_parent
from holdfast.ledger.tables import REQUESTS, SUBTASKS, TASKS
from holdfast.ledger.twins import meet
from holdfast.ledger.waves import NO_WAVE, join_wave

if TYPE_CHECKING:
    from holdfast.ledger.ledger import Ledger, Row
    from holdfast.ledger.tables import Table

USUAL_PRIORITY = 5


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
    row: Row = {
        "project": project, "session": session, "prompt": prompt, "prompt_type": prompt_type,
        "status": status, "metadata": metadata or {}, "likeness": ids.likeness(prompt),
        "created_at": now if created_at is None else created_at, **retrying.asked(key, prompt),
    }  # fmt: skip
    with ledger.together(f"session {session}"):
        if known := retrying.answered(ledger, REQUESTS, row):
            return known
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
    key: str = "",
) -> Row:
    row: Row = {
        "project": request["project"], "session": request["session"], "request": request["id"],
        "name": name, "wave_number": wave_number, "status": status, "likeness": ids.likeness(name),
        **retrying.asked(key, request["id"], name),
    }  # fmt: skip
    with ledger.together(f"session {request['session']}"):
        if known := retrying.answered(ledger, TASKS, row):
            return known
        made, is_new = meet(
            ledger, TASKS, row, now, source=source,
            can_be=lambda other: is_task_of(ledger, other, request, is_found=bool(source)),
        )  # fmt: skip
        if not is_new and not source:
            made = _told_more(ledger, made, wave_number, status, now)
        elif is_new:
            made = _over(ledger, TASKS, made, now)
            join_wave(ledger, made, now)
            if made["status"] not in DONE:
                reopen(ledger, REQUESTS, ledger.get(REQUESTS, made["request"]), now)
    return made


def is_task_of(ledger: Ledger, task: Row, request: Row, *, is_found: bool) -> bool:
    """Whether a task of the same words is one of this request.

    The fold knows an item of the plan by its words, and takes it for one of the request in which it
    moved last: where callers have put it before that, there it is.
    """
    if task["request"] == request["id"] or not is_found:
        return bool(task["request"] == request["id"])
    above = ledger.get(REQUESTS, task["request"])
    return above is not None and bool(above["created_at"] <= request["created_at"])


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
    key: str = "",
) -> Row:
    """A subtask that waits for others is blocked until the last of them is settled."""
    row: Row = {
        "project": task["project"], "session": task["session"], "task": task["id"],
        "agent_type": agent_type, "agent_id": agent_id, "description": description,
        "blocked_by": blocked_by or [], "result": None, "priority": priority, "retry_count": 0,
        "started_at": now if status == "running" else None,
        "likeness": ids.likeness(agent_type, description),
        **retrying.asked(key, task["id"], agent_type, description),
    }  # fmt: skip
    with ledger.together(f"session {task['session']}"):
        if known := retrying.answered(ledger, SUBTASKS, row):
            return known
        waits = waiting.still_open(ledger, row["blocked_by"])
        row["status"] = _first_status(ledger, row, status, waits)
        made, is_new = meet(
            ledger, SUBTASKS, row, now, source=source,
            can_be=lambda other: bool(source) or _can_be_part(ledger, other, task, row["status"]),
        )  # fmt: skip
        if is_new:
            made = _over(ledger, SUBTASKS, made, now)
            _begin(ledger, task, made, now)
        elif not source:
            made = _hung_on(ledger, _said_of_part(ledger, made, row, status, now), task, now)
        return made


def _first_status(ledger: Ledger, row: Row, status: str, waits: list[str]) -> str:
    """Whatever it waits for, it can be over, but not have begun."""
    if not waits or status in DONE:
        return status or "pending"
    if status == "running":
        waiting.refuse_to_begin(ledger, row, waits)
    return "blocked"


def _can_be_part(ledger: Ledger, other: Row, task: Row, status: str) -> bool:
    """What is yet to be done is not what was over before this was asked for."""
    if status in DONE or other["status"] not in DONE:
        return True
    above = ledger.get(TASKS, other["task"])
    return above is not None and bool(above["request"] == task["request"])


def _hung_on(ledger: Ledger, made: Row, task: Row, now: float) -> Row:
    """A caller knows of which task it is a part, the fold only guesses."""
    left = ledger.get(TASKS, made["task"])
    if made["task"] == task["id"]:
        return made
    made = ledger.change(
        SUBTASKS, made, now, task=task["id"], project=task["project"] or made["project"]
    )
    _begin(ledger, task, made, now)
    if left is not None and left["source"] and not left["folded"]:
        _nothing_left(ledger, left, now)
    return made


def _nothing_left(ledger: Ledger, task: Row, now: float) -> None:
    """The fold's task for what is outside the plan is over with its parts."""
    settle_parent(ledger, TASKS, task["id"], SUBTASKS, "task", now)
    if not ledger.count(SUBTASKS, task=task["id"]):
        set_status(ledger, TASKS, task, "completed", now)


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
        reopen(ledger, TASKS, task, now)
