"""The row that the fold and callers both mean: whoever tells of it first, it is there once.

Names are made of content. The n-th of a session with the same words has the same name, whoever
writes it down, here or on another machine; what was deleted keeps its number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.ledger import ids, tombstones
from holdfast.ledger.tables import PARTS

if TYPE_CHECKING:
    from holdfast.ledger.ledger import Ledger, Row
    from holdfast.ledger.tables import Table


def meet(
    ledger: Ledger, table: Table, row: Row, now: float, *, source: str = ""
) -> tuple[Row, bool]:
    """Keep a row of the fold (with its source) or of a caller, and whether it is new."""
    known = ledger.first(table, source=source) if source else None
    if known is not None:
        return known, False
    mark: Row = {"source": source} if source else {"posted": 1}
    found = ledger.rows(table, session=row["session"], likeness=row["likeness"])
    alike = {one["id"]: one for one in found}
    gone = tombstones.alike(ledger, table, row["session"], row["likeness"])
    ident = _free_name(table, row, {**gone, **alike}, "source" if source else "posted")
    twin = alike.get(ident)
    if twin is not None:
        # Who was first may not have known whose it is, or which agent works on it.
        more = {name: twin[name] or row[name] for name in ("project", "agent_id") if name in twin}
        return _adopted(ledger, table, ledger.change(table, twin, now, **mark, **more), now), False
    fresh = {
        "source": None, "posted": 0, "folded": "", "created_at": now, "completed_at": None,
        "updated_at": now, **row, **mark, "id": ident,
    }  # fmt: skip
    if ident in gone:
        tombstones.lift(ledger, ident)
    return ledger.write(table, fresh), True


def _free_name(table: Table, row: Row, taken: dict[str, Row], mark: str) -> str:
    """The first name for such a row that whoever leaves this mark has not given yet."""
    names = (_name(table, row, number) for number in range(1, len(taken) + 2))
    return next(name for name in names if not taken.get(name, {}).get(mark))


def _name(table: Table, row: Row, number: int) -> str:
    return ids.ident(table.name, row["session"], row["likeness"], number)


def _adopted(ledger: Ledger, table: Table, row: Row, now: float) -> Row:
    """What hangs on a row is of the same project."""
    if row["project"] and table.name in PARTS:
        parts, column = PARTS[table.name]
        named: Row = {column: row["id"], "project": ""}
        for part in ledger.rows(parts, **named):
            _adopted(ledger, parts, ledger.change(parts, part, now, project=row["project"]), now)
    return row
