"""Many callers' rows in one transaction: a commit costs as much for eight rows as for one."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.ledger.ledger import TOLD, change_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.ledger.ledger import Ledger, Row
    from holdfast.ledger.tables import Table

_ADD_AND_TELL = (
    "WITH added AS ({add} RETURNING id) "
    "INSERT INTO changes (id, kind, record, project, session, gone, at) "
    "SELECT ?, ?, ?, ?, ?, CAST(? AS BIGINT), CAST(? AS DOUBLE PRECISION) FROM added "
    "ON CONFLICT (id) DO NOTHING"
)


class Fresh(NamedTuple):
    """A row that is most likely new, as it is stored, and how to write it if it is not."""

    table: Table
    stored: Row
    alone: Callable[[Ledger], Row]


class _NotAllNew(Exception):
    pass


def add_all(ledger: Ledger, rows: list[Fresh]) -> bool:
    """Add those that are new; whether all of them were.

    If not, each has to be written alone, which does no harm to those that are there by now.
    """
    some = [(table, [one.stored for one in few]) for table, few in groupby(rows, _table)]
    if ledger.database.dialect == "postgres":
        added = [_add_at_once(ledger, table, few) for table, few in some]
        ledger.database.told()
        return all(added)
    try:
        with ledger.together():
            for table, few in some:
                _add(ledger, table, few)
    except _NotAllNew:
        return False
    return True


def _table(row: Fresh) -> Table:
    return row.table


def _add(ledger: Ledger, table: Table, rows: list[Row]) -> None:
    database = ledger.database
    if database.run_many(table.add, [tuple(row.values()) for row in rows]) < len(rows):
        raise _NotAllNew
    database.run_many(TOLD, [_told(table, row) for row in rows])


def _add_at_once(ledger: Ledger, table: Table, rows: list[Row]) -> bool:
    """One way over the network and back, and one transaction: what is sent together is."""
    values = [(*row.values(), *_told(table, row)) for row in rows]
    return ledger.database.run_many(_ADD_AND_TELL.format(add=table.add), values) == len(rows)


def _told(table: Table, row: Row) -> tuple[Any, ...]:
    return tuple(change_of(table, row, gone=0).values())
