"""What a team's other machines said: messages, who has read them, and the topics agents chose.

All else goes one way. These come back, because hooks read nothing but this machine's ledger.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.ledger import messages
from holdfast.ledger.tables import MESSAGES, PROJECTS, READS, SUBSCRIPTIONS

if TYPE_CHECKING:
    from holdfast.ledger.ledger import Ledger, Row
    from holdfast.ledger.tables import Table

AT_ONCE = 500
_LIVE = "SELECT id, project FROM messages WHERE expires_at > :now"
_READ = (
    "SELECT message_reads.id AS id, message FROM message_reads JOIN messages "
    "ON messages.id = message_reads.message WHERE messages.expires_at > :now"
)


def receive(ledger: Ledger, team: Ledger, target: str, now: float) -> int:
    """Take over what is new there and concerns this machine; how many messages came."""
    came = _messages(ledger, team, now)
    _reads(ledger, team, now)
    _subscriptions(ledger, team, f"topics at {target}", now)
    return came


def _messages(ledger: Ledger, team: Ledger, now: float) -> int:
    """Those of projects that are known here, and those of none."""
    projects = {"", *(row["id"] for row in ledger.rows(PROJECTS))}
    there = [row for row in team.database.run(_LIVE, {"now": now})[0] if row["project"] in projects]
    here = {row["id"] for row in ledger.database.run(_LIVE, {"now": now})[0]}
    new = _rows(team, MESSAGES, [row["id"] for row in there if row["id"] not in here])
    with ledger.together():
        for row in new:
            ledger.take_over(MESSAGES, row)
    # Only now can whoever sees the flag find the message.
    for row in new:
        messages.flag(ledger, row)
    return len(new)


def _reads(ledger: Ledger, team: Ledger, now: float) -> None:
    given = {"now": now}
    known = {row["id"] for row in ledger.database.run(_LIVE, given)[0]}
    here = {row["id"] for row in ledger.database.run(_READ, given)[0]}
    there = [row for row in team.database.run(_READ, given)[0] if row["message"] in known]
    with ledger.together():
        for row in _rows(team, READS, [row["id"] for row in there if row["id"] not in here]):
            ledger.take_over(READS, row)


def _subscriptions(ledger: Ledger, team: Ledger, memory: str, now: float) -> None:
    """What is new there, and what was there the last time and is gone."""
    there = {row["id"]: row for row in team.rows(SUBSCRIPTIONS)}
    known = set(ledger.reading(memory).get("ids", ()))
    if known == there.keys():
        return
    with ledger.together():
        here = {row["id"]: row for row in ledger.rows(SUBSCRIPTIONS)}
        for ident in there.keys() - here.keys():
            ledger.take_over(SUBSCRIPTIONS, there[ident])
        for ident in (known - there.keys()) & here.keys():
            ledger.remove(SUBSCRIPTIONS, here[ident], now)
        ledger.keep_reading(memory, {"ids": sorted(there)})


def _rows(team: Ledger, table: Table, idents: list[str]) -> list[Row]:
    found: list[Row] = []
    for start in range(0, len(idents), AT_ONCE):
        values = {f"i{number}": ident for number, ident in enumerate(idents[start:][:AT_ONCE])}
        listed = ", ".join(f":{name}" for name in values)
        found += team.rows(table, also=f"id IN ({listed})", values=values)
    return found
