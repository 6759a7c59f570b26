"""Many callers' rows in one transaction: a commit costs as much for eight rows as for one."""

from __future__ import annotations

from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.ledger.ledger import TOLD, change_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from holdfast.ledger.ledger import Ledger, Row
    from holdfast.ledger.tables import Table

_ADD_AND_TELL = (
    "WITH added AS ({add} RETURNING id) "
    "INSERT INTO changes (id, kind, record, project, session, gone, at) "
    "SELECT ?, ?, ?, ?, ?, CAST(? AS BIGINT), CAST(? AS DOUBLE PRECISION) FROM added "
    "ON CONFLICT (id) DO NOTHING"
)


_STATEMENT = attrgetter("statement")


class Fresh(NamedTuple):
    """A row that is most likely new, as it is stored, and how to write it if it is not."""

    table: Table
    stored: Row
    alone: Callable[[Ledger], Row]
    is_named_by_content: bool = False
    """Whether one of that id that is there says the same."""

    @property
    def statement(self) -> str:
        return self.table.touch if self.is_named_by_content else self.table.add


class _NotAllNew(Exception):
    pass


def add_all(ledger: Ledger, rows: list[Fresh]) -> bool:
    """Add those that are new; whether all of them were.

    If not, each has to be written alone, which does no harm to those that are there by now.
    """
    if ledger.database.dialect == "postgres":
        # One way over the network and back for each, and one transaction: what is sent together is.
        run = ledger.database.run_many
        added = [run(statement, values) == len(values) for statement, values in sendable(rows)]
        ledger.database.told()
        return all(added)
    try:
        with ledger.together():
            for _, alike in groupby(_each_once(rows), _STATEMENT):
                _add(ledger, list(alike))
    except _NotAllNew:
        return False
    return True


def sendable(rows: list[Fresh]) -> list[tuple[str, list[tuple[Any, ...]]]]:
    """Statements for PostgreSQL that add and tell of them, each with the values of its rows."""
    return [
        (
            _ADD_AND_TELL.format(add=statement),
            [(*row.stored.values(), *_told(row)) for row in alike],
        )
        for statement, alike in groupby(_each_once(rows), _STATEMENT)
    ]


def _each_once(rows: list[Fresh]) -> Iterable[Fresh]:
    """Of those that say the same, the last: who tries again while the first is still waiting."""
    last: dict[Any, Fresh] = {}
    for number, row in enumerate(rows):
        last[row.stored["id"] if row.is_named_by_content else number] = row
    return last.values()


def _add(ledger: Ledger, rows: list[Fresh]) -> None:
    database = ledger.database
    values = [tuple(row.stored.values()) for row in rows]
    if database.run_many(rows[0].statement, values) < len(rows):
        raise _NotAllNew
    database.run_many(TOLD, [_told(row) for row in rows])


def _told(row: Fresh) -> tuple[Any, ...]:
    return tuple(change_of(row.table, row.stored, gone=0).values())
