"""Dependencies between subtasks: a blocked subtask waits until the subtasks that it depends on are
completed or cancelled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.errors import Conflict
from holdfast.ledger.schema import SUBTASKS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.ledger.repository import Ledger, Row

# A subtask in one of these no longer blocks others. A failed one still does: it may be retried.
SETTLED_STATUSES = ("completed", "cancelled")
MAX_NAMED_SUBTASKS, MAX_DESCRIPTION_CHARS = 5, 80
# The condition of the partial index on subtasks with dependencies.
HAS_DEPENDENCIES = "blocked_by <> '[]'"
# The dependents of at most this many subtasks are looked up by one query.
BATCH_SIZE = 50


def find_unsettled(ledger: Ledger, subtasks: list[str]) -> list[str]:
    """Return the ids of those that still block others. An unknown id counts as blocking, because
    its row may arrive later.
    """
    rows = ledger.unscoped.find_in(SUBTASKS, "id", set(subtasks))
    settled = {row["id"] for row in rows if row["status"] in SETTLED_STATUSES}
    return [ident for ident in subtasks if ident not in settled]


def update_dependents(ledger: Ledger, subtask: Row, before: str, now: float) -> None:
    """Unblock the subtasks, in all projects, that waited for this one alone, and block them again
    if it is retried. `before` is its previous status.
    """
    is_settled = subtask["status"] in SETTLED_STATUSES
    if is_settled == (before in SETTLED_STATUSES):
        return
    unscoped = ledger.unscoped
    status = "blocked" if is_settled else "pending"
    for dependent in find_dependents(unscoped, {subtask["id"]}, status):
        if not is_settled:
            unscoped.update(SUBTASKS, dependent, now, status="blocked")
        elif not find_unsettled(unscoped, dependent["blocked_by"]):
            unscoped.update(SUBTASKS, dependent, now, status="pending")


def unblock_dependents(ledger: Ledger, settled: set[str], now: float) -> None:
    """Unblock the subtasks that waited only for these, which were settled together."""
    unscoped = ledger.unscoped
    for dependent in find_dependents(unscoped, settled, "blocked"):
        if not find_unsettled(unscoped, dependent["blocked_by"]):
            unscoped.update(SUBTASKS, dependent, now, status="pending")


def remove_dependencies(ledger: Ledger, deleted: set[str], now: float) -> None:
    """Remove deleted subtasks from the dependencies of others, and unblock those without any."""
    unscoped = ledger.unscoped
    for dependent in find_dependents(unscoped, deleted):
        left = [ident for ident in dependent["blocked_by"] if ident not in deleted]
        is_unblocked = dependent["status"] == "blocked" and not find_unsettled(unscoped, left)
        status = "pending" if is_unblocked else dependent["status"]
        unscoped.update(SUBTASKS, dependent, now, blocked_by=left, status=status)


def find_dependents(ledger: Ledger, subtasks: set[str], *statuses: str) -> Iterator[Row]:
    """Yield the subtasks of all sessions that depend on any of these, with one of these statuses or
    with any.
    """
    of_status = f" AND status IN ({', '.join(map(repr, statuses))})" if statuses else ""
    idents = sorted(subtasks)
    for batch in (idents[at : at + BATCH_SIZE] for at in range(0, len(idents), BATCH_SIZE)):
        values = {f"v{number}": f"%{ident}%" for number, ident in enumerate(batch)}
        may_depend = " OR ".join(f"blocked_by LIKE :{name}" for name in values)
        # No ORDER BY, because it might make the database choose another index.
        rows = ledger.database.run(
            f"SELECT id FROM subtasks WHERE {HAS_DEPENDENCIES}{of_status} AND ({may_depend})",
            values,
        )[0]
        for dependent in ledger.find_in(SUBTASKS, "id", {row["id"] for row in rows}):
            if not subtasks.isdisjoint(dependent["blocked_by"]):
                yield dependent


def check_dependencies(ledger: Ledger, subtask: str, needed: list[str]) -> None:
    """Raise NotFound if a subtask in `needed` does not exist, and Conflict if one of them depends
    on `subtask` itself.
    """
    visited: set[str] = set()
    queue, unscoped = [ledger.require(SUBTASKS, ident) for ident in needed], ledger.unscoped
    while queue:
        row = queue.pop()
        if row["id"] == subtask:
            raise Conflict(f"{subtask} would wait for itself")
        if row["id"] not in visited and row["status"] not in SETTLED_STATUSES:
            visited.add(row["id"])
            queue += unscoped.find_in(SUBTASKS, "id", set(row["blocked_by"]))


def raise_blocked(ledger: Ledger, subtask: Row, needed: list[str]) -> None:
    """Raise Conflict with the names of the subtasks that this one waits for."""
    rows = ledger.find_in(SUBTASKS, "id", set(needed))
    descriptions = {row["id"]: row["description"] for row in rows}
    names = [
        f"{ident} ({descriptions.get(ident, '?')[:MAX_DESCRIPTION_CHARS]})"
        for ident in needed[:MAX_NAMED_SUBTASKS]
    ]
    rest = len(needed) - MAX_NAMED_SUBTASKS
    more = f" and {rest} more" if rest > 0 else ""
    name = subtask.get("id") or f"“{subtask['description'][:MAX_DESCRIPTION_CHARS]}”"
    raise Conflict(
        f"{name} waits for {', '.join(names)}{more}",
        hint="complete or cancel them, or PATCH its blocked_by",
    )
