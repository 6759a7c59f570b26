"""Subtasks that wait for others, are tried again, and are changed, over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.server.conftest import Caller


class Task:
    def __init__(self, api: Caller) -> None:
        self.api = api
        request = api.post("/api/requests", session_id="s1", prompt="login")["id"]
        self.id = api.post("/api/tasks", request_id=request, name="Backend")["id"]

    def part(self, name: str, *blockers: str, **more: Any) -> str:
        told = {"task_id": self.id, "description": name, "blocked_by": list(blockers), **more}
        return str(self.api.post("/api/subtasks", **told)["id"])

    def move(self, part: str, status: str, code: int = 200) -> Any:
        return self.api.patch(f"/api/subtasks/{part}", code, status=status)

    def told(self, part: str) -> Any:
        return self.api.get(f"/api/subtasks/{part}")


@pytest.fixture
def task(api: Caller) -> Task:
    return Task(api)


def test_nobody_waits_for_what_was_called_off(task: Task) -> None:
    one, two = task.part("a"), task.part("b")
    last = task.part("c", one, two)
    task.move(one, "cancelled")
    assert task.told(last)["status"] == "blocked", "there is another"
    task.move(two, "completed")
    assert task.told(last)["status"] == "pending"
    assert task.told(task.part("d", one))["status"] == "pending"


def test_what_waits_cannot_begin_and_says_for_what(task: Task) -> None:
    first, other = task.part("write the model"), task.part("done already", status="completed")
    last = task.part("write its tests", first, other)
    told = task.move(last, "running", 409)
    assert first in told["detail"]
    assert "write the model" in told["detail"]
    assert other not in told["detail"]
    assert task.told(last)["status"] == "blocked"
    assert task.move(last, "pending")["status"] == "blocked"
    task.move(first, "completed")
    assert task.move(last, "running")["status"] == "running"


@pytest.mark.parametrize("status", ["completed", "failed", "cancelled", "paused"])
def test_what_waits_can_end_all_the_same(task: Task, status: str) -> None:
    last = task.part("b", task.part("a"))
    assert task.move(last, status)["status"] == status


def test_what_is_at_work_stays_so_though_it_would_have_to_wait_now(task: Task) -> None:
    first = task.part("a")
    last = task.part("b", first)
    task.move(first, "completed")
    task.move(last, "running")
    task.move(first, "running")
    assert task.move(last, "running")["status"] == "running"


def test_who_has_not_begun_waits_again_for_what_is_tried_again(task: Task) -> None:
    first = task.part("a")
    last = task.part("b", first)
    task.move(first, "completed")
    task.move(first, "running")
    assert task.told(last)["status"] == "blocked"
    task.move(first, "completed")
    assert task.told(last)["status"] == "pending"


def test_a_deleted_one_is_waited_for_by_nobody_whatever_they_do(task: Task) -> None:
    first = task.part("a")
    last = task.part("b", first)
    task.move(first, "completed")
    task.api.delete(f"/api/subtasks/{first}")
    assert task.told(last)["blocked_by"] == []
    assert task.move(last, "running")["status"] == "running"


# What it waits for can be changed


def test_what_a_subtask_waits_for_can_be_replaced(task: Task) -> None:
    first, second = task.part("a"), task.part("b")
    last = f"/api/subtasks/{task.part('c', first)}"
    told = task.api.patch(last, blocked_by=[second, second])
    assert (told["blocked_by"], told["status"]) == ([second], "blocked")
    told = task.api.patch(last, blocked_by=[])
    assert (told["blocked_by"], told["status"]) == ([], "pending")
    assert task.api.patch(last, blocked_by=[first])["status"] == "blocked"
    assert task.api.patch(last, blocked_by=[], status="running")["status"] == "running"
    told = task.api.patch(last, result="so far")
    assert (told["blocked_by"], told["status"]) == ([], "running"), "what is not said stays"


def test_a_subtask_waits_neither_for_nobody_nor_for_itself(task: Task) -> None:
    first = task.part("a")
    last = task.part("b", first)
    task.api.patch(f"/api/subtasks/{last}", 404, blocked_by=["nobody"])
    for one, other in ((last, last), (first, last)):
        told = task.api.patch(f"/api/subtasks/{one}", 409, blocked_by=[other])
        assert "itself" in told["detail"]
    assert task.told(last)["blocked_by"] == [first]


# Trying again


def test_every_try_is_counted(task: Task) -> None:
    part = task.part("a")
    counted = []
    for status in ("running", "failed", "pending", "running", "cancelled", "running", "completed"):
        counted.append(task.move(part, status)["retry_count"])
    assert counted == [0, 0, 1, 1, 1, 2, 2]
    assert task.move(part, "pending")["retry_count"] == 3


# What else can be said


def test_a_result_can_be_taken_back(task: Task) -> None:
    part = f"/api/subtasks/{task.part('a')}"
    task.api.patch(part, result={"files": 2})
    assert task.api.patch(part, status="running")["result"] == {"files": 2}
    assert task.api.patch(part, result=None)["result"] is None


def test_a_subtask_without_a_task_is_refused_as_such(api: Caller) -> None:
    assert "task_id" in api.post("/api/subtasks", 400, description="x")["detail"]
