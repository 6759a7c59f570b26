"""What was deleted and is not to come back by itself: the log still tells of it, and so do others.

A name is either a row's or here. A caller who tells of it again gets it again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.ledger.tables import PROJECTS, REQUESTS, SUBTASKS, TASKS

if TYPE_CHECKING:
    from holdfast.ledger.ledger import Ledger, Row
    from holdfast.ledger.tables import Table
    from holdfast.store.base import Database

KEPT = frozenset({PROJECTS.name, REQUESTS.name, TASKS.name, SUBTASKS.name})
_KEEP = (
    "INSERT INTO dropped (id, kind, session, likeness, source, posted, at) "
    "VALUES (:id, :kind, :session, :likeness, :source, :posted, :at) "
    "ON CONFLICT (id) DO UPDATE SET source = coalesce(excluded.source, dropped.source), "
    "posted = CASE WHEN excluded.posted > dropped.posted THEN excluded.posted "
    "ELSE dropped.posted END, at = excluded.at"
)
_OF_SESSION = "SELECT source FROM dropped WHERE session = :session AND source IS NOT NULL"
_ALIKE = "SELECT * FROM dropped WHERE session = :session AND likeness = :likeness AND kind = :kind"
_THIS = "SELECT * FROM dropped WHERE id = :id"
_FACT = "SELECT * FROM dropped WHERE session = :session AND source = :source"


def keep(database: Database, table: Table, stored: Row) -> None:
    """Remember a row that is being deleted."""
    told = {
        name: stored.get(name, nothing)
        for name, nothing in (("session", ""), ("likeness", ""), ("source", None), ("posted", 0))
    }
    database.run(
        _KEEP, {**told, "id": stored["id"], "kind": table.name, "at": stored["updated_at"]}
    )


def lift(ledger: Ledger, ident: str) -> None:
    """It is there again."""
    ledger.database.run("DELETE FROM dropped WHERE id = :id", {"id": ident})


def of(ledger: Ledger, ident: str) -> Row | None:
    """What is remembered of the row of that name, if it was deleted."""
    return _first(ledger, _THIS, id=ident)


def of_fact(ledger: Ledger, session: str, source: str) -> Row | None:
    """The same by what the fold found, whatever it was named."""
    return _first(ledger, _FACT, session=session, source=source)


def alike(ledger: Ledger, table: Table, session: str, likeness: str) -> dict[str, Row]:
    """What was deleted of the same words, by name."""
    given = {"session": session, "likeness": likeness, "kind": table.name}
    return {row["id"]: row for row in ledger.database.run(_ALIKE, given)[0]}


def facts(ledger: Ledger, session: str) -> set[str]:
    """All that the fold finds in a session and that is to stay away."""
    found = ledger.database.run(_OF_SESSION, {"session": session})[0]
    return {row["source"] for row in found}


def _first(ledger: Ledger, statement: str, **given: Any) -> Row | None:
    return next(iter(ledger.database.run(statement, given)[0]), None)
