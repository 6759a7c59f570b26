"""What a team's other machines said: messages, who has read them, and the topics agents chose.

All else goes one way. These come back, because hooks read nothing but this machine's ledger.
A team is heard from where it was left the last time, so what it costs does not depend on how much
there is; all that waits there is gone through only if something may have been missed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.ledger import ids, messages
from holdfast.ledger.tables import MESSAGES, PROJECTS, READS, SUBSCRIPTIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.ledger.ledger import Ledger, Row
    from holdfast.ledger.tables import Table

AT_ONCE = 500
Place = tuple[int, int]
_HEARD = (MESSAGES, READS, SUBSCRIPTIONS)
_OF_THE_LIVE = f"message IN (SELECT id FROM messages WHERE {messages.LIVE})"


def receive(ledger: Ledger, team: Ledger, target: str, now: float) -> int:
    """Take over what is new there and concerns this machine; how many messages came."""
    return _Hearing(ledger, team, target, now).take()


class _Hearing:
    """One time of listening to a team."""

    def __init__(self, ledger: Ledger, team: Ledger, target: str, now: float) -> None:
        self.ledger, self.team, self.now = ledger, team, now
        self._heard, self._topics = f"heard from {target}", f"topics at {target}"
        # Messages of projects that are known here concern it, and those of none.
        self._projects = {"", *(row["id"] for row in ledger.rows(PROJECTS))}

    def take(self) -> int:
        """How many messages came."""
        known = self.ledger.reading(self._heard)
        left = tuple(known.get("place") or (0, 0))
        forgotten = self.team.forgotten()
        last = max(forgotten, self.team.last_change())
        projects = ids.ident("projects", *sorted(self._projects))
        # A project that is new here has messages that were passed over. A place that the team has
        # forgotten, or has yet to come to because it was made anew, is no place to go on from.
        can_go_on = known.get("projects") == projects and forgotten <= left <= last
        came, last = self._news(left, last) if can_go_on else (self._everything(), last)
        if not can_go_on or last != left:
            self.ledger.keep_reading(self._heard, {"place": last, "projects": projects})
        return came

    def _news(self, place: Place, last: Place) -> tuple[int, Place]:
        """Also up to where the team has been heard."""
        came = 0
        while some := self.team.changes(place, AT_ONCE, _HEARD):
            came += self._take_messages(self._told(MESSAGES, some))
            self._take_reads(self._told(READS, some))
            if any(row["kind"] == SUBSCRIPTIONS.name for row in some):
                self._take_topics()
            place = some[-1]["tx"], some[-1]["seq"]
        return came, max(place, last)

    def _told(self, table: Table, changes: list[Row]) -> list[Row]:
        """The rows of a table that these changes tell of."""
        records = {row["record"] for row in changes if row["kind"] == table.name}
        return self.team.among(table, "id", records)

    def _everything(self) -> int:
        """All that waits there, a little at a time."""
        came = sum(map(self._take_messages, self._pages(MESSAGES, messages.LIVE)))
        for some in self._pages(READS, _OF_THE_LIVE):
            self._take_reads(some)
        self._take_topics()
        return came

    def _pages(self, table: Table, also: str) -> Iterator[list[Row]]:
        before, given = None, {"now": self.now}
        while some := self.team.rows(
            table, most=AT_ONCE, before=before, newest_first=False, also=also, values=given
        ):
            yield some
            before = some[-1][table.order], some[-1]["id"]

    def _take_messages(self, some: list[Row]) -> int:
        # An agent is reached by its id in whatever project.
        concern = [row for row in some if row["to_agent_id"] or row["project"] in self._projects]
        new = self._new(MESSAGES, [row for row in concern if row["expires_at"] > self.now])
        # Only now can whoever sees the flag find the message.
        for row in new:
            messages.flag(self.ledger, row)
        return len(new)

    def _take_reads(self, some: list[Row]) -> None:
        """Of messages that are here."""
        here = self._here(MESSAGES, [row["message"] for row in some])
        self._new(READS, [row for row in some if row["message"] in here])

    def _new(self, table: Table, some: list[Row]) -> list[Row]:
        """Those of them that were not here until now."""
        here = self._here(table, [row["id"] for row in some])
        new = [row for row in some if row["id"] not in here]
        with self.ledger.together():
            for row in new:
                self.ledger.take_over(table, row)
        return new

    def _here(self, table: Table, idents: list[str]) -> set[str]:
        return {row["id"] for row in self.ledger.among(table, "id", idents)}

    def _take_topics(self) -> None:
        """What is new there, and what was there the last time and is gone."""
        there = {row["id"]: row for row in self.team.rows(SUBSCRIPTIONS)}
        here = {row["id"]: row for row in self.ledger.rows(SUBSCRIPTIONS)}
        known = set(self.ledger.reading(self._topics).get("ids", ()))
        new = [row for row in there.values() if _is_news(row, here.get(row["id"]))]
        if known == there.keys() and not new:
            return
        with self.ledger.together():
            for row in new:
                self.ledger.take_over(SUBSCRIPTIONS, row)
            for ident in (known - there.keys()) & here.keys():
                self.ledger.remove(SUBSCRIPTIONS, here[ident], self.now)
            self.ledger.keep_reading(self._topics, {"ids": sorted(there)})


def _is_news(theirs: Row, ours: Row | None) -> bool:
    """They may know by now of which project the agent is that chose it."""
    return ours is None or bool(theirs["project"] and not ours["project"])
