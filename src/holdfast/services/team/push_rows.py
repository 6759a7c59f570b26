"""Push rows of this machine's ledger to the team's.

Each row is written under the id and the parent that it has at the team, and is skipped if it was
deleted there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.ledger import merge, tombstones
from holdfast.ledger.schema import PROJECTS, REQUESTS, SHARED_TABLES, SUBTASKS, TASKS
from holdfast.ledger.work import belongs_to_request

if TYPE_CHECKING:
    from holdfast.ledger.repository import Ledger, Row
    from holdfast.ledger.schema import Table

# The parent table of a table, and the column that refers to it.
_PARENTS = {TASKS.name: (REQUESTS, "request"), SUBTASKS.name: (TASKS, "task")}


class RowPusher:
    """Pushes from one ledger to another. Pushing twice changes nothing."""

    def __init__(self, ledger: Ledger, team: Ledger) -> None:
        self.ledger = ledger
        self.team = team
        self._projects: set[str] = set()

    def push_rows(self, table: Table, rows: list[Row]) -> int:
        """Push rows of a table in one transaction; return their number."""
        with self.team.transaction():
            for row in rows:
                self._put(table, row)
        return len(rows)

    def push_changes(self, changes: list[Row]) -> int:
        """Push the current rows behind these changes; return the number of rows."""
        # Only the last of several changes to a row matters.
        latest = {(change["kind"], change["record"]): change for change in changes}
        deleted = []
        with self.team.transaction():
            for change in latest.values():
                if (table := SHARED_TABLES.get(change["kind"])) is None:
                    continue
                row = self.ledger.get(table, change["record"])
                if row is not None:
                    self._put(table, row)
                elif change["gone"]:
                    deleted.append((table, change))
            # In their original order: children were deleted before their parents.
            for table, change in sorted(deleted, key=lambda pair: pair[1]["seq"]):
                self._remove(table, change)
        return len(latest)

    def _put(self, table: Table, row: Row) -> None:
        if table.name not in merge.MERGED_TABLES:
            self.team.write(table, row)
            return
        theirs = self._find(table, row["id"], row.get("source"))
        if theirs is None and table is not PROJECTS:
            placed = None if self._was_deleted(row) else self._with_team_parent(table, row)
            if placed is None:
                return
            row = placed
            theirs = self._find_posted_task(table, row)
        if table is REQUESTS:
            self._restore_project(row["project"])
        if theirs is not None:
            row = merge.merge_rows(theirs, {**row, "id": theirs["id"]})
        self.team.write(table, row)
        if theirs is None:
            tombstones.remove_tombstone(self.team, row["id"])

    def _find(self, table: Table, ident: str, source: str | None) -> Row | None:
        """Return the team's row of a fact. Its id may differ if this ledger was recreated."""
        by_source = self.team.find_one(table, source=source) if source else None
        return by_source or self.team.get(table, ident)

    def _was_deleted(self, row: Row) -> bool:
        """Whether the row was deleted at the team, and no caller has posted it again since."""
        tombstone = tombstones.find_tombstone(self.team, row["id"])
        if tombstone is None and row["source"]:
            tombstone = tombstones.find_by_source(self.team, row["session"], row["source"])
        if tombstone is None:
            return False
        # A row that a log produces again is the deleted one; another is it only if it is older.
        is_from_log = tombstone["source"] and not row["posted"]
        return bool(is_from_log or row["created_at"] < tombstone["at"])

    def _with_team_parent(self, table: Table, row: Row) -> Row | None:
        """Return the row with the id of its parent at the team; None if that was deleted."""
        if table.name not in _PARENTS:
            return row
        _, column = _PARENTS[table.name]
        if parent := self._find_parent(table, row):
            return {**row, column: parent["id"]}
        return None if tombstones.find_tombstone(self.team, row[column]) else row

    def _find_parent(self, table: Table, row: Row) -> Row | None:
        """Return the team's row of a row's parent."""
        parent_table, column = _PARENTS[table.name]
        ours = self.ledger.get(parent_table, row[column])
        return self._find(parent_table, row[column], ours["source"] if ours else None)

    def _find_posted_task(self, table: Table, row: Row) -> Row | None:
        """Return the same task as an API caller posted it at the team, or None."""
        if table is not TASKS or row["posted"]:
            return None
        request = self._find_parent(table, row) or self.ledger.get(REQUESTS, row["request"])
        candidates = self.team.find(
            TASKS, newest_first=False, where="source IS NULL", session=row["session"],
            likeness=row["likeness"],
        )  # fmt: skip
        return next(
            (
                task
                for task in candidates
                if request and belongs_to_request(self.team, task, request, is_folded=True)
            ),
            None,
        )

    def _restore_project(self, ident: str) -> None:
        """Add the project again if another machine deleted it while this one still uses it."""
        if not ident or ident in self._projects:
            return
        self._projects.add(ident)
        ours = self.ledger.get(PROJECTS, ident)
        if ours is not None and self.team.get(PROJECTS, ident) is None:
            tombstone = tombstones.find_tombstone(self.team, ident)
            updated_at = ours["updated_at"]
            if tombstone:
                updated_at = max(updated_at, tombstone["at"])
            self.team.write(PROJECTS, {**ours, "updated_at": updated_at})
            tombstones.remove_tombstone(self.team, ident)

    def _remove(self, table: Table, change: Row) -> None:
        """Remove the team's row of a deletion, unless it was changed since."""
        tombstone = tombstones.find_tombstone(self.ledger, change["record"])
        theirs = self._find(table, change["record"], tombstone["source"] if tombstone else None)
        if theirs is None or theirs["updated_at"] > change["at"]:
            return
        # A project stays as long as other machines have requests in it.
        if table is PROJECTS and self.team.find_one(REQUESTS, project=theirs["id"]):
            return
        self._projects.discard(theirs["id"])
        self.team.delete(table, theirs, change["at"])
