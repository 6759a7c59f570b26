"""What callers say of requests, tasks and subtasks that are there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.ledger import waiting
from holdfast.ledger.standing import DONE, set_status
from holdfast.ledger.tables import PARTS, SUBTASKS, TASKS
from holdfast.ledger.waves import join_wave, settle_wave

if TYPE_CHECKING:
    from holdfast.ledger.ledger import Ledger, Row
    from holdfast.ledger.tables import Table

CALLED_OFF = "cancelled"


def change_task(ledger: Ledger, ident: str, now: float, *, status: str, wave: int | None) -> Row:
    """What a caller says of a task: how far it is, and in which wave."""
    row = ledger.need(TASKS, ident)
    with ledger.together(f"session {row['session']}"):
        row = ledger.need(TASKS, ident)
        if wave is not None and wave != row["wave_number"]:
            before, row = row, ledger.change(TASKS, row, now, wave_number=wave)
            # There first: the wave that it leaves may be over, and what comes next may be this.
            join_wave(ledger, row, now)
            settle_wave(ledger, before, now)
        return told(ledger, TASKS, row, status or row["status"], now)


def told(ledger: Ledger, table: Table, row: Row, status: str, now: float) -> Row:
    """How far a caller says that it is. What is called off is called off with all that is left."""
    with ledger.together(f"session {row['session']}"):
        if status == CALLED_OFF:
            _call_off(ledger, _open_parts(ledger, table, row), now)
        return set_status(ledger, table, row, status, now)


def _open_parts(ledger: Ledger, table: Table, row: Row) -> dict[str, list[Row]]:
    """What hangs on a row and is not over, by its table."""
    found: dict[str, list[Row]] = {TASKS.name: [], SUBTASKS.name: []}
    above = [row["id"]]
    while table.name in PARTS:
        table, column = PARTS[table.name]
        parts = ledger.among(table, column, above)
        found[table.name] = [part for part in parts if part["status"] not in DONE]
        above = [part["id"] for part in parts]
    return found


def _call_off(ledger: Ledger, parts: dict[str, list[Row]], now: float) -> None:
    """All at once: what depends on any of it is looked at when all of it is over."""
    for table in (TASKS, SUBTASKS):
        for part in parts[table.name]:
            ledger.change(table, part, now, status=CALLED_OFF, completed_at=now)
    waiting.go_on_without(ledger, {part["id"] for part in parts[SUBTASKS.name]}, now)
    # The last wave comes first, so that none is started that is about to end.
    waves = {task["wave_number"]: task for task in parts[TASKS.name]}
    for number in sorted(waves, reverse=True):
        task = waves[number]
        settle_wave(ledger, {**task, "status": CALLED_OFF}, now, before=task["status"])


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
