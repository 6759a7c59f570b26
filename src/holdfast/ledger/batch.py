"""Many callers' rows in one transaction: a commit costs as much for eight rows as for one."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from holdfast.ledger.ledger import CHANGED, change_of

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
    if ledger.database.run_many(table.add, rows) < len(rows):
        raise _NotAllNew
    ledger.database.run_many(CHANGED, [change_of(table, row, gone=0) for row in rows])
