"""Waves over HTTP: each starts when those before it have ended, and ends with its last task."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.ledger.schema import REQUESTS
from holdfast.server.project_scope import ProjectDatabases
from holdfast.server.rows import delete_row
from tests.contract.server.conftest import ApiClient


class WaveSession:
    """A session with one request, whose tasks are in waves."""

    def __init__(self, api: ApiClient) -> None:
        self.api = api
        self.project = api.post("/api/projects", path="/srv/a")["id"]
        body = {"session_id": "s1", "prompt": "login", "project_id": self.project}
        self.request = api.post("/api/requests", **body)["id"]

    def add_task(self, name: str, wave: int, **fields: Any) -> str:
        body = {"request_id": self.request, "name": name, "wave_number": wave, **fields}
        return str(self.api.post("/api/tasks", **body)["id"])

    def set_status(self, task: str, status: str) -> None:
        self.api.patch(f"/api/tasks/{task}", status=status)

    @property
    def waves(self) -> list[tuple[int, str, int]]:
        """Number, status and task count of each wave."""
        waves = self.api.get("/api/waves/s1/history")["waves"]
        return [(wave["wave_number"], wave["status"], wave["total_tasks"]) for wave in waves]


@pytest.fixture
def session(api: ApiClient) -> WaveSession:
    return WaveSession(api)


# Deleting


def test_a_running_wave_is_completed_when_its_last_task_is_deleted(session: WaveSession) -> None:
    first, _ = session.add_task("t0", 0), session.add_task("t1", 1)
    session.api.post("/api/waves/s1/start")
    session.api.delete(f"/api/tasks/{first}")
    assert session.waves == [(0, "completed", 0), (1, "running", 1)]


def test_a_pending_wave_is_deleted_with_its_last_task(session: WaveSession) -> None:
    """Otherwise it would be started later and never end."""
    first, second = session.add_task("t0", 0), session.add_task("t1", 1)
    session.add_task("t2", 2)
    session.api.post("/api/waves/s1/start")
    session.api.delete(f"/api/tasks/{second}")
    assert session.waves == [(0, "running", 1), (2, "pending", 1)]
    session.set_status(first, "completed")
    assert session.waves == [(0, "completed", 1), (2, "running", 1)]
    session.add_task("t1 again", 1)
    assert session.waves[1] == (1, "pending", 1)


@pytest.mark.parametrize("kind", ["requests", "projects"])
def test_waves_end_when_their_request_or_project_is_deleted(
    session: WaveSession, kind: str
) -> None:
    for wave in range(3):
        session.add_task(f"t{wave}", wave)
    session.api.post("/api/waves/s1/start")
    session.api.delete(f"/api/{kind}/{session.request if kind == 'requests' else session.project}")
    assert session.waves == [(0, "completed", 0)], "the pending waves were deleted, not started"


def test_waves_end_when_a_client_with_a_project_token_deletes_their_request(
    session: WaveSession,
) -> None:
    session.add_task("t0", 0)
    session.api.post("/api/waves/s1/start")
    delete_row(ProjectDatabases(session.api.databases, session.project), REQUESTS, session.request)
    assert session.waves == [(0, "completed", 0)]


def test_deleting_a_failed_task_starts_the_next_wave(session: WaveSession) -> None:
    first, _ = session.add_task("t0", 0), session.add_task("t1", 1)
    session.set_status(first, "failed")
    assert session.waves == [(0, "failed", 1), (1, "pending", 1)]
    session.api.delete(f"/api/tasks/{first}")
    assert session.waves == [(0, "completed", 0), (1, "running", 1)]


# Retries, and statuses that are reported later


def test_retrying_a_task_reopens_its_completed_wave(session: WaveSession) -> None:
    first, second = session.add_task("t0", 0), session.add_task("t1", 1)
    session.set_status(first, "completed")
    session.set_status(second, "running")
    session.set_status(first, "pending")
    assert session.waves == [(0, "running", 1), (1, "running", 1)], "the later wave keeps running"
    assert session.api.get("/api/waves/s1/current")["wave"]["wave_number"] == 0
    session.set_status(first, "failed")
    assert session.waves == [(0, "failed", 1), (1, "running", 1)]
    session.set_status(first, "running")
    session.set_status(first, "completed")
    assert session.waves == [(0, "completed", 1), (1, "running", 1)]


def test_a_pending_wave_waits_for_a_reopened_wave(session: WaveSession) -> None:
    first, second = session.add_task("t0", 0), session.add_task("t1", 1)
    session.add_task("t2", 2)
    session.set_status(first, "completed")
    session.set_status(first, "running")
    session.set_status(second, "completed")
    assert [wave[1] for wave in session.waves] == ["running", "completed", "pending"]
    session.set_status(first, "completed")
    assert [wave[1] for wave in session.waves] == ["completed", "completed", "running"]


@pytest.mark.parametrize(
    ("first", "last", "wave_status"),
    [("completed", "failed", "failed"), ("failed", "completed", "completed"),
     ("completed", "cancelled", "completed")],
)  # fmt: skip
def test_a_wave_has_the_last_reported_result_of_its_task(
    session: WaveSession, first: str, last: str, wave_status: str
) -> None:
    task = session.add_task("t0", 0)
    session.set_status(task, first)
    session.set_status(task, last)
    assert session.waves == [(0, wave_status, 1)]


def test_a_wave_fails_when_a_failed_task_is_added(
    session: WaveSession,
) -> None:
    session.add_task("t0", 0, status="completed")
    session.add_task("t1", 0, status="failed")
    assert session.waves == [(0, "failed", 2)]


def test_retrying_one_of_two_failed_tasks_reopens_the_wave_until_it_ends(
    session: WaveSession,
) -> None:
    tasks = [session.add_task(name, 0) for name in ("a", "b")]
    for task in tasks:
        session.set_status(task, "failed")
    session.set_status(tasks[0], "running")
    assert session.waves == [(0, "running", 2)]
    session.set_status(tasks[0], "completed")
    assert session.waves == [(0, "failed", 2)]


def test_a_wave_that_was_completed_by_force_stays_completed(session: WaveSession) -> None:
    completed, unfinished = session.add_task("a", 0), session.add_task("b", 0)
    session.add_task("c", 1)
    session.set_status(completed, "completed")
    session.api.post("/api/waves/s1/transition", force=True)
    for task, status in ((unfinished, "running"), (completed, "failed"), (unfinished, "failed")):
        session.set_status(task, status)
        assert session.waves[0][:2] == (0, "completed")


def test_wave_routes_accept_requests_without_a_body(api: ApiClient) -> None:
    for step, number in (("create", 0), ("create", 1), ("start", 0), ("transition", 1)):
        response = api.client.post(f"/api/waves/s1/{step}")
        assert response.status_code in (200, 201), response.text
        assert response.json()["wave"]["wave_number"] == number


def test_completing_a_later_wave_starts_no_earlier_one(api: ApiClient) -> None:
    request = api.post("/api/requests", session_id="s1", prompt="x")["id"]
    tasks = [
        api.post("/api/tasks", request_id=request, name=f"t{number}", wave_number=number)["id"]
        for number in range(3)
    ]
    for status in ("running", "completed"):
        api.patch(f"/api/tasks/{tasks[2]}", status=status)
    waves = api.get("/api/waves/s1/history")["waves"]
    assert {wave["wave_number"]: wave["status"] for wave in waves} == {
        0: "pending", 1: "pending", 2: "completed",
    }  # fmt: skip


def test_empty_waves_are_skipped(session: WaveSession) -> None:
    first = session.add_task("a", 0)
    for number in (1, 2):
        session.api.post("/api/waves/s1/create", wave_number=number)
    last = session.add_task("b", 3)
    session.set_status(first, "completed")
    assert session.waves[1:] == [
        (1, "completed", 0),
        (2, "completed", 0),
        (3, "running", 1),
    ]
    added_later = session.add_task("c", 1)
    assert session.waves[1] == (1, "running", 1), "a new task reopens the wave"
    session.set_status(added_later, "completed")
    session.set_status(last, "completed")
    assert {status for _, status, _ in session.waves} == {"completed"}


def test_an_empty_last_wave_stays_running(session: WaveSession) -> None:
    first = session.add_task("a", 0)
    session.api.post("/api/waves/s1/create", wave_number=1)
    session.set_status(first, "completed")
    assert session.waves == [(0, "completed", 1), (1, "running", 0)]


def test_a_transition_can_name_the_next_wave(session: WaveSession) -> None:
    for number in range(4):
        session.add_task(f"t{number}", number)
    session.api.post("/api/waves/s1/start")
    session.api.post("/api/waves/s1/transition", 404, wave_number=9, force=True)
    session.api.post("/api/waves/s1/transition", 409, wave_number=2)
    assert session.waves[0][1] == "running"
    response = session.api.post("/api/waves/s1/transition", wave_number=2, force=True)
    assert response["wave"]["wave_number"] == 2
    assert [status for _, status, _ in session.waves] == [
        "completed", "pending", "running", "pending",
    ]  # fmt: skip


def test_a_task_can_be_moved_to_another_wave(session: WaveSession) -> None:
    first, second = session.add_task("a", 0), session.add_task("b", 0)
    third = session.add_task("c", 1)
    session.api.post("/api/waves/s1/start")
    row = session.api.patch(f"/api/tasks/{second}", wave_number=2)
    assert (row["wave_number"], row["status"]) == (2, "pending")
    assert session.waves == [(0, "running", 1), (1, "pending", 1), (2, "pending", 1)]
    session.api.patch(f"/api/tasks/{third}", wave_number=2, status="running")
    assert session.waves == [(0, "running", 1), (2, "running", 2)], (
        "a pending wave without tasks is deleted"
    )
    session.api.patch(f"/api/tasks/{first}", wave_number=2)
    assert session.waves == [(0, "completed", 0), (2, "running", 3)]
    session.api.patch(f"/api/tasks/{first}", 400)


def test_moving_the_last_task_to_the_next_wave_starts_only_that_wave(session: WaveSession) -> None:
    task, _ = session.add_task("t0", 0), session.add_task("t2", 2)
    session.api.post("/api/waves/s1/start")
    session.api.patch(f"/api/tasks/{task}", wave_number=1)
    assert session.waves == [(0, "completed", 0), (1, "running", 1), (2, "pending", 1)]


def test_a_forced_transition_back_reopens_a_completed_wave(session: WaveSession) -> None:
    first, _ = session.add_task("t0", 0), session.add_task("t1", 1)
    session.set_status(first, "completed")
    assert session.waves == [(0, "completed", 1), (1, "running", 1)]
    session.api.post("/api/waves/s1/transition", 409, wave_number=1, force=True)
    session.api.post("/api/waves/s1/transition", wave_number=0, force=True)
    assert session.waves == [(0, "running", 1), (1, "completed", 1)]


def test_cancelling_a_request_again_cancels_tasks_that_were_added_since(
    session: WaveSession,
) -> None:
    path = f"/api/requests/{session.request}"
    session.api.patch(path, status="cancelled")
    task = session.add_task("late", 0)
    session.api.patch(path, status="cancelled")
    assert session.api.get(f"/api/tasks/{task}")["status"] == "cancelled"


def test_cancelling_a_request_takes_a_constant_number_of_statements_per_task(
    session: WaveSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database is locked for other writers meanwhile."""

    def count_statements(task_count: int) -> int:
        request = session.api.post("/api/requests", session_id="s1", prompt=f"{task_count}")["id"]
        for number in range(task_count):
            body = {"request_id": request, "name": f"{task_count} {number}", "wave_number": 3}
            task = session.api.post("/api/tasks", **body)["id"]
            session.api.post("/api/subtasks", task_id=task, description="x")
        count = [0]
        with session.api.databases.connect() as db:
            run = type(db.ledger.database).run

            def counting_run(*args: Any, **named: Any) -> Any:
                count[0] += 1
                return run(*args, **named)

            monkeypatch.setattr(type(db.ledger.database), "run", counting_run)
        session.api.patch(f"/api/requests/{request}", status="cancelled")
        monkeypatch.undo()
        return count[0]

    few, many = count_statements(5), count_statements(15)
    assert many - few <= 10 * 4 + 2, "a row and its change, for each task and each subtask"


def test_cancelling_a_request_cancels_its_unfinished_tasks_and_subtasks(
    session: WaveSession,
) -> None:
    completed, unfinished = session.add_task("a", 0), session.add_task("b", 0)
    other = session.add_task("c", 1)
    subtask = session.api.post("/api/subtasks", task_id=unfinished, description="x")["id"]
    blocked = session.api.post(
        "/api/subtasks", task_id=other, description="y", blocked_by=[subtask]
    )["id"]
    session.set_status(completed, "completed")
    session.api.patch(f"/api/requests/{session.request}", status="cancelled")
    tasks = {task["name"]: task["status"] for task in session.api.get("/api/tasks")["tasks"]}
    assert tasks == {"a": "completed", "b": "cancelled", "c": "cancelled"}
    for ident in (subtask, blocked):
        assert session.api.get(f"/api/subtasks/{ident}")["status"] == "cancelled"
    assert session.api.get(f"/api/requests/{session.request}")["status"] == "cancelled"
    assert {status for _, status, _ in session.waves} == {"completed"}
