"""Many callers' rows in one transaction: a commit costs as much for eight rows as for one."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from holdfast.ledger.ledger import TOLD, change_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.ledger.ledger import Ledger, Row
    from holdfast.ledger.tables import Table


class Fresh(NamedTuple):
    """A row that is most likely new, as it is stored, and how to write it if it is not."""

    table: Table
    stored: Row
    alone: Callable[[Ledger], Row]


class _NotAllNew(Exception):
    pass


def add_all(ledger: Ledger, rows: list[Fresh]) -> bool:
    """Add all of them, or none if one is known already."""
    try:
        with ledger.together():
            for table, some in groupby(rows, lambda one: one.table):
                _add(ledger, table, [one.stored for one in some])
    except _NotAllNew:
        return False
    return True


def _add(ledger: Ledger, table: Table, rows: list[Row]) -> None:
    database = ledger.database
    if database.run_many(table.add, [tuple(row.values()) for row in rows]) < len(rows):
        raise _NotAllNew
    database.run_many(TOLD, [tuple(change_of(table, row, gone=0).values()) for row in rows])
