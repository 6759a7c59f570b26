"""Delete a row of the tree and all that hangs on it; what waited for any of it goes on without."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.ledger.standing import settle_parent
from holdfast.ledger.tables import ACTIONS, PARTS, PROJECTS, REQUESTS, SUBTASKS, TASKS
from holdfast.ledger.waiting import release
from holdfast.ledger.waves import settle_wave

if TYPE_CHECKING:
    from holdfast.ledger.ledger import Ledger, Row
    from holdfast.ledger.tables import Table


def drop(ledger: Ledger, table: Table, row: Row, now: float) -> None:
    """Parts go before what they hang on: whoever hears of it in order never finds one without."""
    with ledger.together(f"session {row.get('session', '')}"):
        doomed: dict[str, list[Row]] = {}
        _gather(ledger, table, row, doomed)
        for part in (SUBTASKS, TASKS):
            _remove(ledger, part, doomed, now)
        release(ledger, {subtask["id"] for subtask in doomed.get(SUBTASKS.name, ())}, now)
        # While the session still has its requests: a wave is seen through them. The last wave comes
        # first, so that none is started that is about to go.
        gone = doomed.get(TASKS.name, ())
        for task in sorted(gone, key=lambda one: one["wave_number"], reverse=True):
            settle_wave(ledger, task, now)
        for other in (REQUESTS, PROJECTS, ACTIONS):
            _remove(ledger, other, doomed, now)
        if table is SUBTASKS:
            settle_parent(ledger, TASKS, row["task"], SUBTASKS, "task", now)
        elif table is TASKS:
            settle_parent(ledger, REQUESTS, row["request"], TASKS, "request", now)


def _gather(ledger: Ledger, table: Table, row: Row, doomed: dict[str, list[Row]]) -> None:
    doomed.setdefault(table.name, []).append(row)
    if table.name in PARTS:
        parts, column = PARTS[table.name]
        named: Row = {column: row["id"]}
        for part in ledger.rows(parts, **named):
            _gather(ledger, parts, part, doomed)


def _remove(ledger: Ledger, table: Table, doomed: dict[str, list[Row]], now: float) -> None:
    for row in doomed.get(table.name, ()):
        ledger.remove(table, row, now)
