"""Waves of a session: one completes when its tasks do, and the next one starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.errors import NoSuchRecord, NotNow
from holdfast.ledger import ids
from holdfast.ledger.tables import TASKS, WAVES

if TYPE_CHECKING:
    from holdfast.ledger.ledger import Ledger, Row

FINISHED = ("completed", "failed")
# Orchestrators count from 0, so a task of no wave needs a number of its own.
NO_WAVE = -1
OVER = ("completed", "failed", "cancelled")


def wave(ledger: Ledger, session: str, number: int) -> Row | None:
    return ledger.get(WAVES, _id(session, number))


def waves(ledger: Ledger, session: str) -> list[Row]:
    return ledger.rows(WAVES, newest_first=False, session=session)


def current(ledger: Ledger, session: str) -> Row | None:
    """The wave that is running, else the first that has yet to."""
    known = waves(ledger, session)
    for status in ("running", "pending"):
        if found := next((one for one in known if one["status"] == status), None):
            return found
    return known[-1] if known else None


def create(ledger: Ledger, session: str, number: int | None, now: float) -> Row:
    """A wave that waits to be started; the next number if none is given."""
    with ledger.together(f"session {session}"):
        if number is None:
            number = 1 + max((one["wave_number"] for one in waves(ledger, session)), default=-1)
        return wave(ledger, session, number) or _made(ledger, session, number, now)


def start(ledger: Ledger, session: str, number: int | None, now: float) -> Row:
    """Start this wave, or the first that has not been."""
    with ledger.together(f"session {session}"):
        found = (
            next((one for one in waves(ledger, session) if one["status"] == "pending"), None)
            if number is None
            else wave(ledger, session, number)
        )
        if found is None:
            raise NoSuchRecord(f"a wave to start in session {session}")
        return _started(ledger, found, now)


def transition(
    ledger: Ledger, session: str, now: float, *, number: int | None = None, force: bool = False
) -> Row | None:
    """End the running wave and start this one, or the next; None if it was the last."""
    with ledger.together(f"session {session}"):
        wanted = wave(ledger, session, number) if number is not None else None
        if number is not None and wanted is None:
            raise NoSuchRecord(f"wave {number} in session {session}")
        if wanted is not None and wanted["status"] == "running":
            raise NotNow(f"wave {number} is running")
        running = next((one for one in waves(ledger, session) if one["status"] == "running"), None)
        if running is not None:
            still = [row for row in _tasks(ledger, running) if row["status"] not in OVER]
            if still and not force:
                raise NotNow(
                    f"wave {running['wave_number']} has open tasks ({len(still)})",
                    hint="end them first, or leave the wave by `force`",
                )
            _ended(ledger, running, "completed", now)
        if wanted is not None:
            over = wanted["status"] in FINISHED
            return _again(ledger, wanted, now) if over else _started(ledger, wanted, now)
        return _next(ledger, session, running["wave_number"] if running else -1, now)


def join_wave(ledger: Ledger, task: Row, now: float) -> None:
    """A new task counts in its wave, which is made if need be, and goes on if it was over."""
    session, number = task["session"], task["wave_number"]
    if number == NO_WAVE:
        return
    known = wave(ledger, session, number)
    if known is None:
        _made(ledger, session, number, now)
    elif known["status"] in FINISHED and task["status"] not in OVER:
        _again(ledger, known, now)
    settle_wave(ledger, task, now, before=task["status"])


def settle_wave(ledger: Ledger, task: Row, now: float, *, before: str = "") -> None:
    """Count the wave of this task again; if nothing is left to do, it is over and the next begins.

    `before` is the status that the task has just left, or that it came with.
    """
    found = wave(ledger, task["session"], task["wave_number"])
    if found is None:
        return
    found = _counted(ledger, found, now)
    statuses = {one["status"] for one in _tasks(ledger, found)}
    if not statuses and found["status"] == "pending":
        ledger.remove(WAVES, found, now)
        return
    stands = _ends(found) if statuses <= set(OVER) else "running"
    if found["status"] in FINISHED:
        if stands == found["status"] or not _is_news(found, task, before, stands):
            return
        found = _again(ledger, found, now)
    if stands != "running":
        _ended(ledger, found, stands, now)
        _unblocked(ledger, found, now)
    elif found["status"] == "pending" and statuses != {"pending"}:
        _started(ledger, found, now)


def _is_news(one: Row, task: Row, before: str, stands: str) -> bool:
    """Whether a wave that was over is not, or ended otherwise. What was open when somebody left it
    by force is none, only what was over and is tried again, or is told otherwise.
    """
    if one["status"] == "failed" and not one["failed_tasks"]:
        return True
    return before in OVER and (task["status"] not in OVER or stands != "running")


def _ends(one: Row) -> str:
    return "failed" if one["failed_tasks"] else "completed"


def _unblocked(ledger: Ledger, ended: Row, now: float) -> None:
    """The next wave starts if all that come before it are completed."""
    left = [one for one in waves(ledger, ended["session"]) if one["status"] != "completed"]
    if not left or left[0]["wave_number"] < ended["wave_number"]:
        return
    begun = (one for one in left if one["total_tasks"] or one["status"] != "pending")
    first = next(begun, left[0])
    for one in left[: left.index(first)]:
        # Nobody has put anything into it, so nobody has to wait for it.
        _ended(ledger, one, "completed", now)
    _started(ledger, first, now)


def _again(ledger: Ledger, one: Row, now: float) -> Row:
    return ledger.change(WAVES, one, now, status="running", completed_at=None)


def _next(ledger: Ledger, session: str, after: int, now: float) -> Row | None:
    for one in waves(ledger, session):
        if one["wave_number"] > after and one["status"] == "pending":
            return _started(ledger, one, now)
    return None


def _tasks(ledger: Ledger, one: Row) -> list[Row]:
    return ledger.rows(TASKS, session=one["session"], wave_number=one["wave_number"])


def _made(ledger: Ledger, session: str, number: int, now: float) -> Row:
    fresh: Row = {
        "id": _id(session, number), "session": session, "wave_number": number, "status": "pending",
        "total_tasks": 0, "completed_tasks": 0, "failed_tasks": 0, "created_at": now,
        "started_at": None, "completed_at": None, "updated_at": now,
    }  # fmt: skip
    return _counted(ledger, ledger.write(WAVES, fresh), now)


def _counted(ledger: Ledger, one: Row, now: float) -> Row:
    statuses = [task["status"] for task in _tasks(ledger, one)]
    return ledger.change(
        WAVES, one, now, total_tasks=len(statuses), completed_tasks=statuses.count("completed"),
        failed_tasks=statuses.count("failed"),
    )  # fmt: skip


def _started(ledger: Ledger, one: Row, now: float) -> Row:
    if one["status"] != "pending":
        return one
    return ledger.change(WAVES, one, now, status="running", started_at=now)


def _ended(ledger: Ledger, one: Row, status: str, now: float) -> Row:
    return ledger.change(WAVES, one, now, status=status, completed_at=now)


def _id(session: str, number: int) -> str:
    return ids.ident("wave", session, number)
