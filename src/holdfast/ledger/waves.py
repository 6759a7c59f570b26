"""Waves of a session: a wave ends when its tasks are finished, and then the next one starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.errors import Conflict, NotFound
from holdfast.ledger.schema import FINISHED_STATUSES, NO_WAVE, TASKS, WAVES, make_id

if TYPE_CHECKING:
    from holdfast.ledger.repository import Ledger, Row

ENDED_WAVE_STATUSES = ("completed", "failed")


def get_wave(ledger: Ledger, session: str, number: int) -> Row | None:
    return ledger.get(WAVES, make_wave_id(session, number))


def list_waves(ledger: Ledger, session: str) -> list[Row]:
    """Return the waves of a session by their number."""
    return ledger.find(WAVES, newest_first=False, session=session)


def find_current_wave(ledger: Ledger, session: str) -> Row | None:
    """Return the running wave, else the first pending one, else the last one."""
    waves = list_waves(ledger, session)
    for status in ("running", "pending"):
        if wave := next((wave for wave in waves if wave["status"] == status), None):
            return wave
    return waves[-1] if waves else None


def create_wave(ledger: Ledger, session: str, number: int | None, now: float) -> Row:
    """Return the wave with this number, created as pending if it does not exist; without a number,
    create the next one.
    """
    with ledger.transaction(f"session {session}"):
        if number is None:
            numbers = (wave["wave_number"] for wave in list_waves(ledger, session))
            number = 1 + max(numbers, default=-1)
        return get_wave(ledger, session, number) or _create(ledger, session, number, now)


def start_wave(ledger: Ledger, session: str, number: int | None, now: float) -> Row:
    """Start a wave; without a number the first pending one. Raises NotFound if there is none."""
    with ledger.transaction(f"session {session}"):
        wave = (
            next(
                (wave for wave in list_waves(ledger, session) if wave["status"] == "pending"), None
            )
            if number is None
            else get_wave(ledger, session, number)
        )
        if wave is None:
            raise NotFound(f"No wave to start in session {session}")
        return _start(ledger, wave, now)


def transition_wave(
    ledger: Ledger, session: str, now: float, *, number: int | None = None, force: bool = False
) -> Row | None:
    """End the running wave and start the wave with this number, or the next one; return it, or None
    if there is no next one.

    Raises NotFound if there is no such wave, and Conflict if it is running already or if the
    running wave has open tasks, unless `force` is set.
    """
    with ledger.transaction(f"session {session}"):
        target = get_wave(ledger, session, number) if number is not None else None
        if number is not None and target is None:
            raise NotFound(f"No wave {number} in session {session}")
        if target is not None and target["status"] == "running":
            raise Conflict(f"Wave {number} is running")
        waves = list_waves(ledger, session)
        running = next((wave for wave in waves if wave["status"] == "running"), None)
        if running is not None:
            tasks = _list_tasks(ledger, running)
            open_tasks = [task for task in tasks if task["status"] not in FINISHED_STATUSES]
            if open_tasks and not force:
                raise Conflict(
                    f"Wave {running['wave_number']} has open tasks ({len(open_tasks)})",
                    hint="finish them first, or pass `force`",
                )
            _end(ledger, running, "completed", now)
        if target is not None:
            has_ended = target["status"] in ENDED_WAVE_STATUSES
            return _restart(ledger, target, now) if has_ended else _start(ledger, target, now)
        return _start_next(ledger, session, running["wave_number"] if running else -1, now)


def add_to_wave(ledger: Ledger, task: Row, now: float) -> None:
    """Count a new task in its wave. The wave is created if needed, and restarted if it had ended
    and the task is not finished.
    """
    session, number = task["session"], task["wave_number"]
    if number == NO_WAVE:
        return
    wave = get_wave(ledger, session, number)
    if wave is None:
        _create(ledger, session, number, now)
    elif wave["status"] in ENDED_WAVE_STATUSES and task["status"] not in FINISHED_STATUSES:
        _restart(ledger, wave, now)
    update_wave(ledger, task, now, before=task["status"])


def update_wave(ledger: Ledger, task: Row, now: float, *, before: str = "") -> None:
    """Count the tasks in the wave of this task again, and start, restart, end or delete the wave
    accordingly. When it ends, the next wave starts.

    `before` is the previous status of the task, or its status if it is new.
    """
    wave = get_wave(ledger, task["session"], task["wave_number"])
    if wave is None:
        return
    wave = _update_counts(ledger, wave, now)
    statuses = {other["status"] for other in _list_tasks(ledger, wave)}
    if not statuses and wave["status"] == "pending":
        ledger.delete(WAVES, wave, now)
        return
    status = _end_status(wave) if statuses <= set(FINISHED_STATUSES) else "running"
    if wave["status"] in ENDED_WAVE_STATUSES:
        if status == wave["status"] or not _can_restart(wave, task, before, status):
            return
        wave = _restart(ledger, wave, now)
    if status != "running":
        _end(ledger, wave, status, now)
        _start_following(ledger, wave, now)
    elif wave["status"] == "pending" and statuses != {"pending"}:
        _start(ledger, wave, now)


def _can_restart(wave: Row, task: Row, before: str, status: str) -> bool:
    """Return whether a change of this task makes an ended wave run again or end differently.

    A task that was still open when its wave was ended by force does not restart the wave; a task
    that was finished and is retried or corrected does.
    """
    if wave["status"] == "failed" and not wave["failed_tasks"]:
        return True
    is_retried = task["status"] not in FINISHED_STATUSES
    return before in FINISHED_STATUSES and (is_retried or status != "running")


def _end_status(wave: Row) -> str:
    return "failed" if wave["failed_tasks"] else "completed"


def _start_following(ledger: Ledger, ended: Row, now: float) -> None:
    """Start the next wave if all waves before it are completed."""
    waves = list_waves(ledger, ended["session"])
    incomplete = [wave for wave in waves if wave["status"] != "completed"]
    if not incomplete or incomplete[0]["wave_number"] < ended["wave_number"]:
        return
    used = (wave for wave in incomplete if wave["total_tasks"] or wave["status"] != "pending")
    following = next(used, incomplete[0])
    for wave in incomplete[: incomplete.index(following)]:
        # It has no tasks, so there is nothing to wait for.
        _end(ledger, wave, "completed", now)
    _start(ledger, following, now)


def _restart(ledger: Ledger, wave: Row, now: float) -> Row:
    return ledger.update(WAVES, wave, now, status="running", completed_at=None)


def _start_next(ledger: Ledger, session: str, after: int, now: float) -> Row | None:
    for wave in list_waves(ledger, session):
        if wave["wave_number"] > after and wave["status"] == "pending":
            return _start(ledger, wave, now)
    return None


def _list_tasks(ledger: Ledger, wave: Row) -> list[Row]:
    return ledger.find(TASKS, session=wave["session"], wave_number=wave["wave_number"])


def _create(ledger: Ledger, session: str, number: int, now: float) -> Row:
    wave: Row = {
        "id": make_wave_id(session, number), "session": session, "wave_number": number,
        "status": "pending", "total_tasks": 0, "completed_tasks": 0, "failed_tasks": 0,
        "created_at": now, "started_at": None, "completed_at": None, "updated_at": now,
    }  # fmt: skip
    return _update_counts(ledger, ledger.write(WAVES, wave), now)


def _update_counts(ledger: Ledger, wave: Row, now: float) -> Row:
    statuses = [task["status"] for task in _list_tasks(ledger, wave)]
    return ledger.update(
        WAVES, wave, now, total_tasks=len(statuses), completed_tasks=statuses.count("completed"),
        failed_tasks=statuses.count("failed"),
    )  # fmt: skip


def _start(ledger: Ledger, wave: Row, now: float) -> Row:
    if wave["status"] != "pending":
        return wave
    return ledger.update(WAVES, wave, now, status="running", started_at=now)


def _end(ledger: Ledger, wave: Row, status: str, now: float) -> Row:
    return ledger.update(WAVES, wave, now, status=status, completed_at=now)


def make_wave_id(session: str, number: int) -> str:
    """Return the id of the row of a wave."""
    return make_id("wave", session, number)
