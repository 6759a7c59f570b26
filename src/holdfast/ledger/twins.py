"""The row that the fold and callers both mean: whoever tells of it first, it is there once.

Names are made of content. The n-th of a session with the same words has the same name, whoever
writes it down, here or on another machine; what was deleted keeps its number. Tasks are counted
for each request.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.ledger import ids, retrying, tombstones
from holdfast.ledger.tables import PARTS, TASKS

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.ledger.ledger import Ledger, Row
    from holdfast.ledger.tables import Table

# What who was first may not have known: whose it is, which agent works on it, a caller's key.
UNKNOWN = ("project", "agent_id", *retrying.COLUMNS)


def meet(
    ledger: Ledger,
    table: Table,
    row: Row,
    now: float,
    *,
    source: str = "",
    can_be: Callable[[Row], bool] = lambda twin: True,
) -> tuple[Row, bool]:
    """Keep a row of the fold (with its source) or of a caller, and whether it is new.

    `can_be` says of a row of the same words whether it may be the one that is meant.
    """
    known = ledger.first(table, source=source) if source else None
    if known is not None:
        return known, False
    told = "source" if source else "posted"
    found = ledger.rows(table, newest_first=False, session=row["session"], likeness=row["likeness"])
    gone = tombstones.alike(ledger, table, row["session"], row["likeness"])
    names = _names(table, row, len(found) + len(gone) + 1)
    fit = {one["id"]: one for one in found if not one[told] and can_be(one)}
    taken = {one["id"] for one in found if one["id"] not in fit}
    taken.update(ident for ident, one in gone.items() if one[told])
    ident = next(name for name in names if name not in taken)
    twin = fit.get(ident) or _elsewhere(table, names, fit)
    if twin is not None:
        more = {name: twin[name] or row[name] for name in UNKNOWN if name in twin}
        return _adopted(
            ledger, table, ledger.change(table, twin, now, **_mark(source), **more), now
        ), False
    fresh = {
        "source": None, "posted": 0, "folded": "", "created_at": now, "completed_at": None,
        "updated_at": now, **row, **_mark(source), "id": ident,
    }  # fmt: skip
    if ident in gone:
        tombstones.lift(ledger, ident)
    return ledger.write(table, fresh), True


def _mark(source: str) -> Row:
    return {"source": source} if source else {"posted": 1}


def _names(table: Table, row: Row, most: int) -> list[str]:
    """The names that such rows have in turn."""
    scope = [row["request"]] if table is TASKS else []
    told = (table.name, row["session"], *scope, row["likeness"])
    return [ids.ident(*told, number) for number in range(1, most + 1)]


def _elsewhere(table: Table, names: list[str], fit: dict[str, Row]) -> Row | None:
    """A task that is meant though its name is another request's, or one from when requests did not
    count.
    """
    found = (one for ident, one in fit.items() if ident not in names)
    return next(found, None) if table is TASKS else None


def _adopted(ledger: Ledger, table: Table, row: Row, now: float) -> Row:
    """What hangs on a row is of the same project."""
    if row["project"] and table.name in PARTS:
        parts, column = PARTS[table.name]
        named: Row = {column: row["id"], "project": ""}
        for part in ledger.rows(parts, **named):
            _adopted(ledger, parts, ledger.change(parts, part, now, project=row["project"]), now)
    return row
