"""What most requests do: list rows, show one, move one on, delete one."""

from __future__ import annotations

import time
from typing import Any

from holdfast.errors import NoSuchRecord
from holdfast.ledger import dropping
from holdfast.ledger.tables import SUBTASKS, Table
from holdfast.surfaces.api import answers, cursor
from holdfast.surfaces.api.desk import Books, Desk

Answer = dict[str, Any]


def listed(
    books: Books, table: Table, name: str, most: int, page: str | None, **equal: str | int | None
) -> Answer:
    """One page of a table; a filter that is given filters."""
    named: dict[str, Any] = {key: value for key, value in equal.items() if value is not None}
    rows = books.ledger.rows(table, most=most + 1, before=cursor.read(page), **named)
    kept, after = cursor.page(rows, most, table.order)
    told = answers.subtask if table is SUBTASKS else answers.answer
    return {name: [told(row) for row in kept], "next": after}


def one_row(desk: Desk, table: Table, ident: str) -> Answer:
    with desk.books() as books:
        return answers.answer(books.ledger.need(table, ident))


def drop_row(desk: Desk, table: Table, ident: str) -> None:
    with desk.books() as books:
        row = books.ledger.get(table, ident)
        if row is None:
            raise NoSuchRecord(f"{ident} in {table.name}")
        dropping.drop(books.ledger, table, row, time.time())
    desk.forget()
