"""Subtasks that are blocked by others, retried or changed, over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.server.conftest import ApiClient


class Task:
    """A task to which tests add subtasks."""

    def __init__(self, api: ApiClient) -> None:
        self.api = api
        request = api.post("/api/requests", session_id="s1", prompt="login")["id"]
        self.id = api.post("/api/tasks", request_id=request, name="Backend")["id"]

    def add_subtask(self, description: str, *blockers: str, **fields: Any) -> str:
        body = {
            "task_id": self.id, "description": description, "blocked_by": list(blockers), **fields,
        }  # fmt: skip
        return str(self.api.post("/api/subtasks", **body)["id"])

    def set_status(self, subtask: str, status: str, expected_code: int = 200) -> Any:
        return self.api.patch(f"/api/subtasks/{subtask}", expected_code, status=status)

    def get_subtask(self, subtask: str) -> Any:
        return self.api.get(f"/api/subtasks/{subtask}")


@pytest.fixture
def task(api: ApiClient) -> Task:
    return Task(api)


def test_a_cancelled_subtask_no_longer_blocks_others(task: Task) -> None:
    first, second = task.add_subtask("a"), task.add_subtask("b")
    last = task.add_subtask("c", first, second)
    task.set_status(first, "cancelled")
    assert task.get_subtask(last)["status"] == "blocked", "the second subtask still blocks it"
    task.set_status(second, "completed")
    assert task.get_subtask(last)["status"] == "pending"
    assert task.get_subtask(task.add_subtask("d", first))["status"] == "pending"


def test_a_blocked_subtask_cannot_start_and_the_error_names_its_blockers(task: Task) -> None:
    blocker = task.add_subtask("write the model")
    finished = task.add_subtask("done already", status="completed")
    blocked = task.add_subtask("write its tests", blocker, finished)
    problem = task.set_status(blocked, "running", 409)
    assert blocker in problem["detail"]
    assert "write the model" in problem["detail"]
    assert finished not in problem["detail"]
    assert task.get_subtask(blocked)["status"] == "blocked"
    assert task.set_status(blocked, "pending")["status"] == "blocked"
    task.set_status(blocker, "completed")
    assert task.set_status(blocked, "running")["status"] == "running"


@pytest.mark.parametrize("status", ["completed", "failed", "cancelled", "paused"])
def test_a_blocked_subtask_can_be_ended_or_paused(task: Task, status: str) -> None:
    blocked = task.add_subtask("b", task.add_subtask("a"))
    assert task.set_status(blocked, status)["status"] == status


def test_a_running_subtask_keeps_running_when_its_blocker_is_reopened(task: Task) -> None:
    first = task.add_subtask("a")
    last = task.add_subtask("b", first)
    task.set_status(first, "completed")
    task.set_status(last, "running")
    task.set_status(first, "running")
    assert task.set_status(last, "running")["status"] == "running"


def test_a_pending_subtask_is_blocked_again_when_its_blocker_is_retried(task: Task) -> None:
    first = task.add_subtask("a")
    last = task.add_subtask("b", first)
    task.set_status(first, "completed")
    task.set_status(first, "running")
    assert task.get_subtask(last)["status"] == "blocked"
    task.set_status(first, "completed")
    assert task.get_subtask(last)["status"] == "pending"


def test_a_deleted_subtask_is_removed_from_the_blockers_of_others(task: Task) -> None:
    first = task.add_subtask("a")
    last = task.add_subtask("b", first)
    task.set_status(first, "completed")
    task.api.delete(f"/api/subtasks/{first}")
    assert task.get_subtask(last)["blocked_by"] == []
    assert task.set_status(last, "running")["status"] == "running"


# Changing `blocked_by`


def test_the_blockers_of_a_subtask_can_be_replaced(task: Task) -> None:
    first, second = task.add_subtask("a"), task.add_subtask("b")
    path = f"/api/subtasks/{task.add_subtask('c', first)}"
    row = task.api.patch(path, blocked_by=[second, second])
    assert (row["blocked_by"], row["status"]) == ([second], "blocked")
    row = task.api.patch(path, blocked_by=[])
    assert (row["blocked_by"], row["status"]) == ([], "pending")
    assert task.api.patch(path, blocked_by=[first])["status"] == "blocked"
    assert task.api.patch(path, blocked_by=[], status="running")["status"] == "running"
    row = task.api.patch(path, result="so far")
    assert (row["blocked_by"], row["status"]) == ([], "running"), "omitted fields are unchanged"


def test_unknown_blockers_and_dependency_cycles_are_refused(task: Task) -> None:
    first = task.add_subtask("a")
    last = task.add_subtask("b", first)
    task.api.patch(f"/api/subtasks/{last}", 404, blocked_by=["unknown"])
    for subtask, blocker in ((last, last), (first, last)):
        problem = task.api.patch(f"/api/subtasks/{subtask}", 409, blocked_by=[blocker])
        assert "itself" in problem["detail"]
    assert task.get_subtask(last)["blocked_by"] == [first]


# Retries


def test_every_retry_is_counted(task: Task) -> None:
    subtask = task.add_subtask("a")
    statuses = ("running", "failed", "pending", "running", "cancelled", "running", "completed")
    retry_counts = [task.set_status(subtask, status)["retry_count"] for status in statuses]
    assert retry_counts == [0, 0, 1, 1, 1, 2, 2]
    assert task.set_status(subtask, "pending")["retry_count"] == 3


# Other fields


def test_a_result_can_be_cleared(task: Task) -> None:
    path = f"/api/subtasks/{task.add_subtask('a')}"
    task.api.patch(path, result={"files": 2})
    assert task.api.patch(path, status="running")["result"] == {"files": 2}
    assert task.api.patch(path, result=None)["result"] is None


def test_the_error_for_a_subtask_without_a_task_names_the_missing_field(api: ApiClient) -> None:
    assert "task_id" in api.post("/api/subtasks", 400, description="x")["detail"]
