"""Pull messages, read receipts and topic subscriptions from the team database.

Everything else is only pushed. These come back because hooks read only this machine's ledger.
A pull starts at the change where the last one ended, so that its cost does not depend on the size
of the database. Everything is read again only if changes may have been missed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.ledger import messages
from holdfast.ledger.schema import MESSAGES, PROJECTS, READS, SUBSCRIPTIONS, make_id

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.ledger.repository import Ledger, Row
    from holdfast.ledger.schema import Table

BATCH_ROWS = 500
ChangePosition = tuple[int, int]
_PULLED_TABLES = (MESSAGES, READS, SUBSCRIPTIONS)
_OF_LIVE_MESSAGES = f"message IN (SELECT id FROM messages WHERE {messages.NOT_EXPIRED})"


def pull_messages(ledger: Ledger, team: Ledger, target: str, now: float) -> int:
    """Copy what is new and concerns this machine; return the number of new messages."""
    return _Pull(ledger, team, target, now).run()


class _Pull:
    """One pull from a team database."""

    def __init__(self, ledger: Ledger, team: Ledger, target: str, now: float) -> None:
        self.ledger, self.team, self.now = ledger, team, now
        self._position_key, self._topics_key = f"heard from {target}", f"topics at {target}"
        # Messages of this machine's projects concern it, and messages without a project.
        self._projects = {"", *(row["id"] for row in ledger.find(PROJECTS))}

    def run(self) -> int:
        """Return the number of new messages."""
        saved = self.ledger.load_progress(self._position_key)
        position = tuple(saved.get("place") or (0, 0))
        forgotten = self.team.get_pruned_position()
        last = max(forgotten, self.team.get_last_position())
        projects = make_id("projects", *sorted(self._projects))
        # The saved position is unusable if a project is new on this machine (its messages were
        # skipped), if the team has deleted the changes after it, or if the team database was
        # replaced and has not reached it yet.
        can_continue = saved.get("projects") == projects and forgotten <= position <= last
        count, last = (
            self._pull_changes(position, last) if can_continue else (self._pull_all(), last)
        )
        if not can_continue or last != position:
            self.ledger.save_progress(self._position_key, {"place": last, "projects": projects})
        return count

    def _pull_changes(
        self, position: ChangePosition, last: ChangePosition
    ) -> tuple[int, ChangePosition]:
        """Pull the changes after a position; return the number of messages and the new position."""
        count = 0
        while changes := self.team.list_changes(position, BATCH_ROWS, _PULLED_TABLES):
            count += self._add_messages(self._changed_rows(MESSAGES, changes))
            self._add_reads(self._changed_rows(READS, changes))
            if any(change["kind"] == SUBSCRIPTIONS.name for change in changes):
                self._sync_topics()
            position = changes[-1]["tx"], changes[-1]["seq"]
        return count, max(position, last)

    def _changed_rows(self, table: Table, changes: list[Row]) -> list[Row]:
        """Return the team's current rows that these changes are about."""
        records = {change["record"] for change in changes if change["kind"] == table.name}
        return self.team.find_in(table, "id", records)

    def _pull_all(self) -> int:
        """Pull everything that has not expired, in batches."""
        count = sum(map(self._add_messages, self._pages(MESSAGES, messages.NOT_EXPIRED)))
        for rows in self._pages(READS, _OF_LIVE_MESSAGES):
            self._add_reads(rows)
        self._sync_topics()
        return count

    def _pages(self, table: Table, also: str) -> Iterator[list[Row]]:
        before, values = None, {"now": self.now}
        while rows := self.team.find(
            table, limit=BATCH_ROWS, before=before, newest_first=False, where=also, values=values
        ):
            yield rows
            before = rows[-1][table.order_column], rows[-1]["id"]

    def _add_messages(self, rows: list[Row]) -> int:
        # A message to an agent's id reaches it in any project.
        relevant = [row for row in rows if row["to_agent_id"] or row["project"] in self._projects]
        new = self._add_new(MESSAGES, [row for row in relevant if row["expires_at"] > self.now])
        # Flags are raised after the commit, so that a hook that sees one finds the message.
        for row in new:
            messages.raise_unread_flag(self.ledger, row)
        return len(new)

    def _add_reads(self, rows: list[Row]) -> None:
        """Add the read receipts of messages that this machine has."""
        present = self._present_ids(MESSAGES, [row["message"] for row in rows])
        self._add_new(READS, [row for row in rows if row["message"] in present])

    def _add_new(self, table: Table, rows: list[Row]) -> list[Row]:
        """Add the rows that are not here yet, and return them."""
        present = self._present_ids(table, [row["id"] for row in rows])
        new = [row for row in rows if row["id"] not in present]
        with self.ledger.transaction():
            for row in new:
                self.ledger.write_unpublished(table, row)
        return new

    def _present_ids(self, table: Table, idents: list[str]) -> set[str]:
        return {row["id"] for row in self.ledger.find_in(table, "id", idents)}

    def _sync_topics(self) -> None:
        """Add subscriptions that are new at the team; remove those that disappeared there."""
        theirs = {row["id"]: row for row in self.team.find(SUBSCRIPTIONS)}
        ours = {row["id"]: row for row in self.ledger.find(SUBSCRIPTIONS)}
        seen = set(self.ledger.load_progress(self._topics_key).get("ids", ()))
        new = [row for row in theirs.values() if _adds_something(row, ours.get(row["id"]))]
        if seen == theirs.keys() and not new:
            return
        with self.ledger.transaction():
            for row in new:
                self.ledger.write_unpublished(SUBSCRIPTIONS, row)
            for ident in (seen - theirs.keys()) & ours.keys():
                self.ledger.delete(SUBSCRIPTIONS, ours[ident], self.now)
            self.ledger.save_progress(self._topics_key, {"ids": sorted(theirs)})


def _adds_something(theirs: Row, ours: Row | None) -> bool:
    """Whether the subscription is new here, or the team has learned the agent's project."""
    return ours is None or bool(theirs["project"] and not ours["project"])
