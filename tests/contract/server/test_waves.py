"""Waves over HTTP: none stalls, and none is over while something of it is to do."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.ledger.schema import REQUESTS
from holdfast.server.project_scope import ProjectDatabases
from holdfast.server.rows import delete_row
from tests.contract.server.conftest import Caller


class Session:
    """A session whose tasks are in waves."""

    def __init__(self, api: Caller) -> None:
        self.api = api
        self.project = api.post("/api/projects", path="/srv/a")["id"]
        told = {"session_id": "s1", "prompt": "login", "project_id": self.project}
        self.request = api.post("/api/requests", **told)["id"]

    def task(self, name: str, wave: int, **more: Any) -> str:
        told = {"request_id": self.request, "name": name, "wave_number": wave, **more}
        return str(self.api.post("/api/tasks", **told)["id"])

    def move(self, task: str, status: str) -> None:
        self.api.patch(f"/api/tasks/{task}", status=status)

    @property
    def stands(self) -> list[tuple[int, str, int]]:
        found = self.api.get("/api/waves/s1/history")["waves"]
        return [(one["wave_number"], one["status"], one["total_tasks"]) for one in found]


@pytest.fixture
def session(api: Caller) -> Session:
    return Session(api)


# Deleting


def test_a_wave_goes_on_when_its_last_task_is_deleted(session: Session) -> None:
    first, _ = session.task("t0", 0), session.task("t1", 1)
    session.api.post("/api/waves/s1/start")
    session.api.delete(f"/api/tasks/{first}")
    assert session.stands == [(0, "completed", 0), (1, "running", 1)]


def test_a_wave_that_has_not_begun_goes_with_its_last_task(session: Session) -> None:
    """Or it would be started when its turn comes, and never end."""
    first, second = session.task("t0", 0), session.task("t1", 1)
    session.task("t2", 2)
    session.api.post("/api/waves/s1/start")
    session.api.delete(f"/api/tasks/{second}")
    assert session.stands == [(0, "running", 1), (2, "pending", 1)]
    session.move(first, "completed")
    assert session.stands == [(0, "completed", 1), (2, "running", 1)]
    session.task("t1 again", 1)
    assert session.stands[1] == (1, "pending", 1)


@pytest.mark.parametrize("kind", ["requests", "projects"])
def test_no_wave_runs_on_when_its_request_or_project_is_deleted(
    session: Session, kind: str
) -> None:
    for wave in range(3):
        session.task(f"t{wave}", wave)
    session.api.post("/api/waves/s1/start")
    session.api.delete(f"/api/{kind}/{session.request if kind == 'requests' else session.project}")
    assert session.stands == [(0, "completed", 0)], "and none was started that had not been"


def test_no_wave_runs_on_when_somebody_who_sees_one_project_deletes_its_request(
    session: Session,
) -> None:
    session.task("t0", 0)
    session.api.post("/api/waves/s1/start")
    delete_row(ProjectDatabases(session.api.databases, session.project), REQUESTS, session.request)
    assert session.stands == [(0, "completed", 0)]


def test_what_failed_and_is_deleted_holds_nothing_up(session: Session) -> None:
    first, _ = session.task("t0", 0), session.task("t1", 1)
    session.move(first, "failed")
    assert session.stands == [(0, "failed", 1), (1, "pending", 1)]
    session.api.delete(f"/api/tasks/{first}")
    assert session.stands == [(0, "completed", 0), (1, "running", 1)]


# Trying again


def test_a_wave_that_was_done_runs_again_when_its_task_is_tried_again(session: Session) -> None:
    first, second = session.task("t0", 0), session.task("t1", 1)
    session.move(first, "completed")
    session.move(second, "running")
    session.move(first, "pending")
    assert session.stands == [(0, "running", 1), (1, "running", 1)], "the later one goes on"
    assert session.api.get("/api/waves/s1/current")["wave"]["wave_number"] == 0
    session.move(first, "failed")
    assert session.stands == [(0, "failed", 1), (1, "running", 1)]
    session.move(first, "running")
    session.move(first, "completed")
    assert session.stands == [(0, "completed", 1), (1, "running", 1)]


def test_a_later_wave_waits_for_one_that_runs_again(session: Session) -> None:
    first, second = session.task("t0", 0), session.task("t1", 1)
    session.task("t2", 2)
    session.move(first, "completed")
    session.move(first, "running")
    session.move(second, "completed")
    assert [one[1] for one in session.stands] == ["running", "completed", "pending"]
    session.move(first, "completed")
    assert [one[1] for one in session.stands] == ["completed", "completed", "running"]


@pytest.mark.parametrize(
    ("told", "then", "ends"),
    [("completed", "failed", "failed"), ("failed", "completed", "completed"),
     ("completed", "cancelled", "completed")],
)  # fmt: skip
def test_a_wave_ends_as_its_tasks_are_told_to_have_ended_last(
    session: Session, told: str, then: str, ends: str
) -> None:
    task = session.task("t0", 0)
    session.move(task, told)
    session.move(task, then)
    assert session.stands == [(0, ends, 1)]


def test_a_task_that_is_told_after_it_failed_makes_its_wave_one_that_failed(
    session: Session,
) -> None:
    session.task("t0", 0, status="completed")
    session.task("t1", 0, status="failed")
    assert session.stands == [(0, "failed", 2)]


def test_of_two_tasks_that_failed_one_that_is_tried_again_keeps_the_wave_running(
    session: Session,
) -> None:
    tasks = [session.task(name, 0) for name in ("a", "b")]
    for task in tasks:
        session.move(task, "failed")
    session.move(tasks[0], "running")
    assert session.stands == [(0, "running", 2)]
    session.move(tasks[0], "completed")
    assert session.stands == [(0, "failed", 2)]


def test_a_wave_that_was_left_by_force_stays_so_whatever_was_open(session: Session) -> None:
    done, still = session.task("a", 0), session.task("b", 0)
    session.task("c", 1)
    session.move(done, "completed")
    session.api.post("/api/waves/s1/transition", force=True)
    for task, status in ((still, "running"), (done, "failed"), (still, "failed")):
        session.move(task, status)
        assert session.stands[0][:2] == (0, "completed")


def test_waves_are_made_and_left_without_a_word(api: Caller) -> None:
    for path, number in (("create", 0), ("create", 1), ("start", 0), ("transition", 1)):
        told = api.client.post(f"/api/waves/s1/{path}")
        assert told.status_code in (200, 201), told.text
        assert told.json()["wave"]["wave_number"] == number


def test_a_wave_that_ends_before_its_turn_starts_none_that_came_before(api: Caller) -> None:
    request = api.post("/api/requests", session_id="s1", prompt="x")["id"]
    tasks = [
        api.post("/api/tasks", request_id=request, name=f"t{number}", wave_number=number)["id"]
        for number in range(3)
    ]
    for status in ("running", "completed"):
        api.patch(f"/api/tasks/{tasks[2]}", status=status)
    found = api.get("/api/waves/s1/history")["waves"]
    assert {one["wave_number"]: one["status"] for one in found} == {
        0: "pending", 1: "pending", 2: "completed",
    }  # fmt: skip


def test_a_wave_that_nobody_put_anything_into_holds_nobody_up(session: Session) -> None:
    first = session.task("a", 0)
    for number in (1, 2):
        session.api.post("/api/waves/s1/create", wave_number=number)
    last = session.task("b", 3)
    session.move(first, "completed")
    assert session.stands[1:] == [
        (1, "completed", 0),
        (2, "completed", 0),
        (3, "running", 1),
    ]
    late = session.task("c", 1)
    assert session.stands[1] == (1, "running", 1), "it goes on"
    session.move(late, "completed")
    session.move(last, "completed")
    assert {status for _, status, _ in session.stands} == {"completed"}


def test_a_wave_that_is_empty_and_the_last_waits_for_its_tasks(session: Session) -> None:
    first = session.task("a", 0)
    session.api.post("/api/waves/s1/create", wave_number=1)
    session.move(first, "completed")
    assert session.stands == [(0, "completed", 1), (1, "running", 0)]


def test_whoever_names_the_wave_to_go_on_with_gets_that_one(session: Session) -> None:
    for number in range(4):
        session.task(f"t{number}", number)
    session.api.post("/api/waves/s1/start")
    session.api.post("/api/waves/s1/transition", 404, wave_number=9, force=True)
    session.api.post("/api/waves/s1/transition", 409, wave_number=2)
    assert session.stands[0][1] == "running"
    told = session.api.post("/api/waves/s1/transition", wave_number=2, force=True)
    assert told["wave"]["wave_number"] == 2
    assert [status for _, status, _ in session.stands] == [
        "completed", "pending", "running", "pending",
    ]  # fmt: skip


def test_a_task_can_be_put_into_another_wave(session: Session) -> None:
    first, second = session.task("a", 0), session.task("b", 0)
    third = session.task("c", 1)
    session.api.post("/api/waves/s1/start")
    told = session.api.patch(f"/api/tasks/{second}", wave_number=2)
    assert (told["wave_number"], told["status"]) == (2, "pending")
    assert session.stands == [(0, "running", 1), (1, "pending", 1), (2, "pending", 1)]
    session.api.patch(f"/api/tasks/{third}", wave_number=2, status="running")
    assert session.stands == [(0, "running", 1), (2, "running", 2)], "one without tasks is gone"
    session.api.patch(f"/api/tasks/{first}", wave_number=2)
    assert session.stands == [(0, "completed", 0), (2, "running", 3)]
    session.api.patch(f"/api/tasks/{first}", 400)


def test_a_task_that_moves_on_does_not_start_what_comes_after_it(session: Session) -> None:
    task, _ = session.task("t0", 0), session.task("t2", 2)
    session.api.post("/api/waves/s1/start")
    session.api.patch(f"/api/tasks/{task}", wave_number=1)
    assert session.stands == [(0, "completed", 0), (1, "running", 1), (2, "pending", 1)]


def test_whoever_goes_back_to_a_wave_finds_it_running(session: Session) -> None:
    first, _ = session.task("t0", 0), session.task("t1", 1)
    session.move(first, "completed")
    assert session.stands == [(0, "completed", 1), (1, "running", 1)]
    session.api.post("/api/waves/s1/transition", 409, wave_number=1, force=True)
    session.api.post("/api/waves/s1/transition", wave_number=0, force=True)
    assert session.stands == [(0, "running", 1), (1, "completed", 1)]


def test_what_came_after_it_was_called_off_can_be_called_off_too(session: Session) -> None:
    path = f"/api/requests/{session.request}"
    session.api.patch(path, status="cancelled")
    task = session.task("late", 0)
    session.api.patch(path, status="cancelled")
    assert session.api.get(f"/api/tasks/{task}")["status"] == "cancelled"


def test_to_call_off_much_takes_no_longer_for_each(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted in statements: the store would be locked for everybody else meanwhile."""

    def statements(many: int) -> int:
        request = session.api.post("/api/requests", session_id="s1", prompt=f"{many}")["id"]
        for number in range(many):
            told = {"request_id": request, "name": f"{many} {number}", "wave_number": 3}
            task = session.api.post("/api/tasks", **told)["id"]
            session.api.post("/api/subtasks", task_id=task, description="x")
        counted = [0]
        with session.api.databases.connect() as db:
            run = type(db.ledger.database).run

            def noted(*args: Any, **named: Any) -> Any:
                counted[0] += 1
                return run(*args, **named)

            monkeypatch.setattr(type(db.ledger.database), "run", noted)
        session.api.patch(f"/api/requests/{request}", status="cancelled")
        monkeypatch.undo()
        return counted[0]

    few, more = statements(5), statements(15)
    assert more - few <= 10 * 4 + 2, "a row and what tells of it, for each task and each subtask"


def test_what_is_called_off_is_called_off_with_all_that_is_left_of_it(session: Session) -> None:
    done, still = session.task("a", 0), session.task("b", 0)
    other = session.task("c", 1)
    subtask = session.api.post("/api/subtasks", task_id=still, description="x")["id"]
    waits = session.api.post("/api/subtasks", task_id=other, description="y", blocked_by=[subtask])[
        "id"
    ]
    session.move(done, "completed")
    session.api.patch(f"/api/requests/{session.request}", status="cancelled")
    tasks = {one["name"]: one["status"] for one in session.api.get("/api/tasks")["tasks"]}
    assert tasks == {"a": "completed", "b": "cancelled", "c": "cancelled"}
    for ident in (subtask, waits):
        assert session.api.get(f"/api/subtasks/{ident}")["status"] == "cancelled"
    assert session.api.get(f"/api/requests/{session.request}")["status"] == "cancelled"
    assert {status for _, status, _ in session.stands} == {"completed"}
