"""Subtasks that wait for others: until the last of them is completed, or will not come."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.errors import NotNow
from holdfast.ledger.tables import SUBTASKS

if TYPE_CHECKING:
    from holdfast.ledger.ledger import Ledger, Row

# What nobody has to wait for any longer. What failed may be tried again.
SETTLED = ("completed", "cancelled")
MOST_NAMED, LONGEST = 5, 80
# There is an index of those.
WAITS = "blocked_by <> '[]'"


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
    for waiting in waiting_for(whole, subtask, "blocked" if settled else "pending"):
        if not settled:
            whole.change(SUBTASKS, waiting, now, status="blocked")
        elif not still_open(whole, waiting["blocked_by"]):
            whole.change(SUBTASKS, waiting, now, status="pending")


def go_on_without(ledger: Ledger, settled: set[str], now: float) -> None:
    """Many were settled at once: one look finds all that waited for any of them."""
    if not settled:
        return
    whole = ledger.everywhere
    for waiting in whole.rows(SUBTASKS, also=WAITS, status="blocked"):
        others = waiting["blocked_by"]
        if not settled.isdisjoint(others) and not still_open(whole, others):
            whole.change(SUBTASKS, waiting, now, status="pending")


def release(ledger: Ledger, subtask: Row, now: float) -> None:
    """It was deleted: nobody waits for it any longer."""
    whole = ledger.everywhere
    for waiting in waiting_for(whole, subtask):
        left = [ident for ident in waiting["blocked_by"] if ident != subtask["id"]]
        goes_on = waiting["status"] == "blocked" and not still_open(whole, left)
        status = "pending" if goes_on else waiting["status"]
        whole.change(SUBTASKS, waiting, now, blocked_by=left, status=status)


def waiting_for(ledger: Ledger, subtask: Row, *statuses: str) -> list[Row]:
    """In whichever session, with one of these statuses or with any."""
    also, values = f"{WAITS} AND blocked_by LIKE :named", {"named": f"%{subtask['id']}%"}
    if statuses:
        also += f" AND status IN ({', '.join(repr(one) for one in statuses)})"
    found = ledger.rows(SUBTASKS, also=also, values=values)
    return [waiting for waiting in found if subtask["id"] in waiting["blocked_by"]]


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
