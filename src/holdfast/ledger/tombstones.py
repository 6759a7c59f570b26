"""Tombstones of deleted projects, requests, tasks and subtasks.

The fold finds deleted work in the transcript again, and other machines still send it. The tombstone
keeps it from being added again. An id belongs either to a row or to a tombstone. If an API caller
adds the same work again, its tombstone is removed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.ledger.schema import PROJECTS, REQUESTS, SUBTASKS, TASKS

if TYPE_CHECKING:
    from holdfast.ledger.repository import Ledger, Row
    from holdfast.ledger.schema import Table
    from holdfast.store.protocols import Database

TOMBSTONE_TABLES = frozenset({PROJECTS.name, REQUESTS.name, TASKS.name, SUBTASKS.name})
_ADD = (
    "INSERT INTO dropped (id, kind, session, likeness, source, posted, at) "
    "VALUES (:id, :kind, :session, :likeness, :source, :posted, :at) "
    "ON CONFLICT (id) DO UPDATE SET source = coalesce(excluded.source, dropped.source), "
    "posted = CASE WHEN excluded.posted > dropped.posted THEN excluded.posted "
    "ELSE dropped.posted END, at = excluded.at"
)
_SOURCES = "SELECT source FROM dropped WHERE session = :session AND source IS NOT NULL"
_ALIKE = "SELECT * FROM dropped WHERE session = :session AND likeness = :likeness AND kind = :kind"
_BY_ID = "SELECT * FROM dropped WHERE id = :id"
_BY_SOURCE = "SELECT * FROM dropped WHERE session = :session AND source = :source"


def add_tombstone(database: Database, table: Table, stored: Row) -> None:
    """Add the tombstone of a row that is being deleted."""
    columns = {
        name: stored.get(name, default)
        for name, default in (("session", ""), ("likeness", ""), ("source", None), ("posted", 0))
    }
    database.run(
        _ADD, {**columns, "id": stored["id"], "kind": table.name, "at": stored["updated_at"]}
    )


def remove_tombstone(ledger: Ledger, ident: str) -> None:
    """Remove a tombstone because the row is being written again."""
    ledger.database.run("DELETE FROM dropped WHERE id = :id", {"id": ident})


def find_tombstone(ledger: Ledger, ident: str) -> Row | None:
    """Return the tombstone of a row by its id."""
    return _select_first(ledger, _BY_ID, id=ident)


def find_by_source(ledger: Ledger, session: str, source: str) -> Row | None:
    """Return the tombstone of a row by its source, which identifies it in the transcript."""
    return _select_first(ledger, _BY_SOURCE, session=session, source=source)


def find_alike(ledger: Ledger, table: Table, session: str, likeness: str) -> dict[str, Row]:
    """Return the tombstones of rows with the same text, by id."""
    values = {"session": session, "likeness": likeness, "kind": table.name}
    return {row["id"]: row for row in ledger.database.run(_ALIKE, values)[0]}


def list_sources(ledger: Ledger, session: str) -> set[str]:
    """Return the sources of the deleted rows of a session, which the fold has to skip."""
    rows = ledger.database.run(_SOURCES, {"session": session})[0]
    return {row["source"] for row in rows}


def _select_first(ledger: Ledger, statement: str, **values: Any) -> Row | None:
    return next(iter(ledger.database.run(statement, values)[0]), None)
