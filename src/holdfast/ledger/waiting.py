"""Subtasks that wait for others: until the last of them is completed, or will not come."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.errors import NotNow
from holdfast.ledger.tables import SUBTASKS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.ledger.ledger import Ledger, Row

# What nobody has to wait for any longer. What failed may be tried again.
SETTLED = ("completed", "cancelled")
MOST_NAMED, LONGEST = 5, 80
# There is an index of those.
WAITS = "blocked_by <> '[]'"
# One look finds what waits for so many.
AT_ONCE = 50


def still_open(ledger: Ledger, subtasks: list[str]) -> list[str]:
    """Those of them that are waited for, the unknown ones too: they may still come."""
    found = ledger.everywhere.among(SUBTASKS, "id", set(subtasks))
    settled = {row["id"] for row in found if row["status"] in SETTLED}
    return [ident for ident in subtasks if ident not in settled]


def moved(ledger: Ledger, subtask: Row, before: str, now: float) -> None:
    """What waits for this one, in whichever project, goes on if it was the last, and waits again if
    it is tried again.
    """
    settled = subtask["status"] in SETTLED
    if settled == (before in SETTLED):
        return
    whole = ledger.everywhere
    for waiting in waiting_for(whole, {subtask["id"]}, "blocked" if settled else "pending"):
        if not settled:
            whole.change(SUBTASKS, waiting, now, status="blocked")
        elif not still_open(whole, waiting["blocked_by"]):
            whole.change(SUBTASKS, waiting, now, status="pending")


def go_on_without(ledger: Ledger, settled: set[str], now: float) -> None:
    """Many were settled at once."""
    whole = ledger.everywhere
    for waiting in waiting_for(whole, settled, "blocked"):
        if not still_open(whole, waiting["blocked_by"]):
            whole.change(SUBTASKS, waiting, now, status="pending")


def release(ledger: Ledger, gone: set[str], now: float) -> None:
    """They were deleted: nobody waits for them any longer."""
    whole = ledger.everywhere
    for waiting in waiting_for(whole, gone):
        left = [ident for ident in waiting["blocked_by"] if ident not in gone]
        goes_on = waiting["status"] == "blocked" and not still_open(whole, left)
        status = "pending" if goes_on else waiting["status"]
        whole.change(SUBTASKS, waiting, now, blocked_by=left, status=status)


def waiting_for(ledger: Ledger, subtasks: set[str], *statuses: str) -> Iterator[Row]:
    """What waits for any of them, in whichever session, with one of these statuses or with any."""
    stands = f" AND status IN ({', '.join(map(repr, statuses))})" if statuses else ""
    named = sorted(subtasks)
    for some in (named[at : at + AT_ONCE] for at in range(0, len(named), AT_ONCE)):
        values = {f"v{number}": f"%{ident}%" for number, ident in enumerate(some)}
        likely = " OR ".join(f"blocked_by LIKE :{name}" for name in values)
        # In no order: for the sake of one, a database might go by another index.
        found = ledger.database.run(
            f"SELECT id FROM subtasks WHERE {WAITS}{stands} AND ({likely})", values
        )[0]
        for waiting in ledger.among(SUBTASKS, "id", {row["id"] for row in found}):
            if not subtasks.isdisjoint(waiting["blocked_by"]):
                yield waiting


def can_wait_for(ledger: Ledger, subtask: str, others: list[str]) -> None:
    """Refuse what is not there, and what waits for this one itself."""
    seen: set[str] = set()
    left, whole = [ledger.need(SUBTASKS, ident) for ident in others], ledger.everywhere
    while left:
        one = left.pop()
        if one["id"] == subtask:
            raise NotNow(f"{subtask} would wait for itself")
        if one["id"] not in seen and one["status"] not in SETTLED:
            seen.add(one["id"])
            left += whole.among(SUBTASKS, "id", set(one["blocked_by"]))


def refuse_to_begin(ledger: Ledger, subtask: Row, others: list[str]) -> None:
    """Say what it waits for."""
    known = {row["id"]: row["description"] for row in ledger.among(SUBTASKS, "id", set(others))}
    named = [f"{ident} ({known.get(ident, '?')[:LONGEST]})" for ident in others[:MOST_NAMED]]
    more = f" and {len(others) - MOST_NAMED} more" if len(others) > MOST_NAMED else ""
    who = subtask.get("id") or f"“{subtask['description'][:LONGEST]}”"
    raise NotNow(
        f"{who} waits for {', '.join(named)}{more}",
        hint="complete or cancel them, or PATCH its blocked_by",
    )
