"""Merge rows of the same work that the fold and API callers both describe.

A request, task or subtask is one row, whether the fold or a caller writes it first. Ids are hashes
of content: the n-th row of a session with the same text has the same id on every machine. A deleted
row keeps its number. Tasks are counted separately for each request.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.ledger import idempotency, tombstones
from holdfast.ledger.schema import (
    CHILDREN,
    DEFAULT_PRIORITY,
    FINISHED_STATUSES,
    NO_WAVE,
    PROJECTS,
    REQUESTS,
    SUBTASKS,
    TASKS,
    make_id,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.ledger.repository import Ledger, Row
    from holdfast.ledger.schema import Table

# Columns that the first writer may not have known: the project, the agent, a caller's key.
FILLABLE_COLUMNS = ("project", "agent_id", *idempotency.COLUMNS)


def find_or_add(
    ledger: Ledger,
    table: Table,
    row: Row,
    now: float,
    *,
    source: str = "",
    can_match: Callable[[Row], bool] = lambda match: True,
) -> tuple[Row, bool]:
    """Return the row that matches this one, or add it; and whether it was added.

    `source` is set for rows of the fold and empty for rows of callers. `can_match` returns whether
    a row with the same text may be the same work.
    """
    known = ledger.find_one(table, source=source) if source else None
    if known is not None:
        return known, False
    # A row of the fold merges only with rows that have no source yet, a row of a caller only with
    # rows that no caller has posted yet.
    claim = "source" if source else "posted"
    alike = ledger.find(table, newest_first=False, session=row["session"], likeness=row["likeness"])
    deleted = tombstones.find_alike(ledger, table, row["session"], row["likeness"])
    ids = _make_candidate_ids(table, row, len(alike) + len(deleted) + 1)
    matches = {other["id"]: other for other in alike if not other[claim] and can_match(other)}
    taken = {other["id"] for other in alike if other["id"] not in matches}
    taken.update(ident for ident, tombstone in deleted.items() if tombstone[claim])
    ident = next(candidate for candidate in ids if candidate not in taken)
    match = matches.get(ident) or _find_task_elsewhere(table, ids, matches)
    if match is not None:
        filled = {name: match[name] or row[name] for name in FILLABLE_COLUMNS if name in match}
        match = ledger.update(table, match, now, **_build_claim(source), **filled)
        return _copy_project_to_children(ledger, table, match, now), False
    added = {
        "source": None, "posted": 0, "folded": "", "created_at": now, "completed_at": None,
        "updated_at": now, **row, **_build_claim(source), "id": ident,
    }  # fmt: skip
    if ident in deleted:
        tombstones.remove_tombstone(ledger, ident)
    return ledger.write(table, added), True


def _build_claim(source: str) -> Row:
    """Return the column that records that the fold (with a source) or a caller has this row."""
    return {"source": source} if source else {"posted": 1}


def _make_candidate_ids(table: Table, row: Row, count: int) -> list[str]:
    """Return the ids that the first `count` rows with this text have or would get."""
    scope = [row["request"]] if table is TASKS else []
    parts = (table.name, row["session"], *scope, row["likeness"])
    return [make_id(*parts, number) for number in range(1, count + 1)]


def _find_task_elsewhere(table: Table, ids: list[str], matches: dict[str, Row]) -> Row | None:
    """Return a matching task whose id was made for another request, or before ids of tasks
    contained the request.
    """
    elsewhere = (row for ident, row in matches.items() if ident not in ids)
    return next(elsewhere, None) if table is TASKS else None


def _copy_project_to_children(ledger: Ledger, table: Table, row: Row, now: float) -> Row:
    """Set the project of a row on its children that have none."""
    if row["project"] and table.name in CHILDREN:
        children, column = CHILDREN[table.name]
        without_project: Row = {column: row["id"], "project": ""}
        for child in ledger.find(children, **without_project):
            updated = ledger.update(children, child, now, project=row["project"])
            _copy_project_to_children(ledger, children, updated, now)
    return row


# A row of the fold is sent to a team's database where callers have changed the same row: their
# values stay until the host reports a new status, and columns that only the fold knows are added.

MERGED_TABLES = (PROJECTS.name, REQUESTS.name, TASKS.name, SUBTASKS.name)
# The values that the fold writes where it knows nothing.
FOLD_DEFAULTS: dict[str, Any] = {
    "metadata": {}, "wave_number": NO_WAVE, "priority": DEFAULT_PRIORITY, "blocked_by": [],
    "agent_id": "", "project": "", "retry_count": 0,
}  # fmt: skip
PARENT_COLUMNS = ("request", "task")
STATUS_COLUMNS = ("status", "completed_at", "started_at")


def merge_rows(known: Row, row: Row) -> Row:
    """Return the row to write in place of `known`, the row in the team's database."""
    if "path" in row:
        return _merge_projects(known, row)
    if not known.get("posted") or row.get("posted"):
        return row
    kept = {name for name, default in FOLD_DEFAULTS.items() if row.get(name) == default}
    kept.update(PARENT_COLUMNS)
    is_finished = not known["folded"] and known["status"] in FINISHED_STATUSES
    if is_finished or known["folded"] == row["folded"]:
        kept.update(STATUS_COLUMNS)
    kept_values = {name: known[name] for name in kept if name in known}
    return {**row, **kept_values, "updated_at": max(row["updated_at"], known["updated_at"])}


def _merge_projects(known: Row, row: Row) -> Row:
    """Keep the path of the first clone, a name that a user gave, and the metadata of both."""
    # The clone at the known path may rename the project; another clone only while the project
    # still has its folder's name.
    can_rename = row["path"] == known["path"] or _has_default_name(known)
    name = row["name"] if can_rename and not _has_default_name(row) else known["name"]
    updated_at = max(row["updated_at"], known["updated_at"])
    metadata = {**known["metadata"], **row["metadata"]}
    merged = {"path": known["path"], "name": name, "metadata": metadata, "updated_at": updated_at}
    return {**row, **merged}


def _has_default_name(project: Row) -> bool:
    """Return whether a project is named after its folder."""
    return bool(project["name"] == (project["path"].rpartition("/")[2] or project["path"]))
