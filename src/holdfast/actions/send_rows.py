"""Rows of this machine's ledger to the team's: each under the name that it has there, on what it
hangs on there, and not if somebody has deleted it there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.ledger import meeting, tombstones
from holdfast.ledger.tables import PROJECTS, REQUESTS, SHARED, SUBTASKS, TASKS
from holdfast.ledger.work import is_task_of

if TYPE_CHECKING:
    from holdfast.ledger.ledger import Ledger, Row
    from holdfast.ledger.tables import Table

# On what a row hangs, and by which column.
_ABOVE = {TASKS.name: (REQUESTS, "request"), SUBTASKS.name: (TASKS, "task")}


class Sending:
    """From this ledger to that one. Doing it twice changes nothing."""

    def __init__(self, ledger: Ledger, team: Ledger) -> None:
        self.ledger = ledger
        self.team = team
        self._projects: set[str] = set()

    def rows(self, table: Table, some: list[Row]) -> int:
        with self.team.together():
            for row in some:
                self._put(table, row)
        return len(some)

    def changes(self, some: list[Row]) -> int:
        """What these changes tell of, as it is now; how many rows that are."""
        # Of several changes to a row the last one says all.
        latest = {(one["kind"], one["record"]): one for one in some}
        gone = []
        with self.team.together():
            for change in latest.values():
                if (table := SHARED.get(change["kind"])) is None:
                    continue
                row = self.ledger.get(table, change["record"])
                if row is not None:
                    self._put(table, row)
                elif change["gone"]:
                    gone.append((table, change))
            # In their order: parts were deleted before what they hung on.
            for table, change in sorted(gone, key=lambda one: one[1]["seq"]):
                self._remove(table, change)
        return len(latest)

    def _put(self, table: Table, row: Row) -> None:
        if table.name not in meeting.MET:
            self.team.write(table, row)
            return
        known = self._known(table, row["id"], row.get("source"))
        if known is None and table is not PROJECTS:
            placed = None if self._was_deleted(row) else self._placed(table, row)
            if placed is None:
                return
            row = placed
            known = self._meant(table, row)
        if table is REQUESTS:
            self._bring_project(row["project"])
        if known is not None:
            row = meeting.together(known, {**row, "id": known["id"]})
        self.team.write(table, row)
        if known is None:
            tombstones.lift(self.team, row["id"])

    def _known(self, table: Table, ident: str, source: str | None) -> Row | None:
        """The same fact may have another name there: a ledger was made anew here."""
        found = self.team.first(table, source=source) if source else None
        return found or self.team.get(table, ident)

    def _was_deleted(self, row: Row) -> bool:
        """Whether somebody deleted it there, and no caller has told of it again since."""
        gone = tombstones.of(self.team, row["id"])
        if gone is None and row["source"]:
            gone = tombstones.of_fact(self.team, row["session"], row["source"])
        if gone is None:
            return False
        # What a log tells of again was there before, unless it came only after that.
        known = gone["source"] and not row["posted"]
        return bool(known or row["created_at"] < gone["at"])

    def _placed(self, table: Table, row: Row) -> Row | None:
        """On what it hangs there; none if that was deleted there."""
        if table.name not in _ABOVE:
            return row
        _, column = _ABOVE[table.name]
        if above := self._above(table, row):
            return {**row, column: above["id"]}
        return None if tombstones.of(self.team, row[column]) else row

    def _above(self, table: Table, row: Row) -> Row | None:
        """What it hangs on, as the team has it."""
        above, column = _ABOVE[table.name]
        here = self.ledger.get(above, row[column])
        return self._known(above, row[column], here["source"] if here else None)

    def _meant(self, table: Table, row: Row) -> Row | None:
        """The task of callers that the fold here has found without knowing of them."""
        if table is not TASKS or row["posted"]:
            return None
        request = self._above(table, row) or self.ledger.get(REQUESTS, row["request"])
        alike = self.team.rows(
            TASKS, newest_first=False, also="source IS NULL", session=row["session"],
            likeness=row["likeness"],
        )  # fmt: skip
        return next(
            (
                one
                for one in alike
                if request and is_task_of(self.team, one, request, is_found=True)
            ),
            None,
        )

    def _bring_project(self, ident: str) -> None:
        """Another machine may have deleted the project: who still works in it has it again."""
        if not ident or ident in self._projects:
            return
        self._projects.add(ident)
        mine = self.ledger.get(PROJECTS, ident)
        if mine is not None and self.team.get(PROJECTS, ident) is None:
            gone = tombstones.of(self.team, ident)
            later = max(mine["updated_at"], gone["at"]) if gone else mine["updated_at"]
            self.team.write(PROJECTS, {**mine, "updated_at": later})
            tombstones.lift(self.team, ident)

    def _remove(self, table: Table, change: Row) -> None:
        gone = tombstones.of(self.ledger, change["record"])
        there = self._known(table, change["record"], gone["source"] if gone else None)
        if there is None or there["updated_at"] > change["at"]:
            return
        # What other machines have in a project stays, and so does the project.
        if table is PROJECTS and self.team.first(REQUESTS, project=there["id"]):
            return
        self._projects.discard(there["id"])
        self.team.remove(table, there, change["at"])
