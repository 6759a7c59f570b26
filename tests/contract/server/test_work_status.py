"""Work that is reopened, and work that both the transcript and an API caller report.

The fold finds requests, tasks and subtasks in the transcript; callers post them to the API. If both
report the same work, it is stored once.
"""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.ledger import work
from holdfast.ledger.schema import REQUESTS, SUBTASKS, TASKS, make_id
from tests.contract.server.conftest import ApiClient


class RequestTree:
    """A request with a task and a subtask."""

    def __init__(self, api: ApiClient) -> None:
        self.api = api
        self.request = api.post("/api/requests", session_id="s1", prompt="login")["id"]
        self.task = api.post("/api/tasks", request_id=self.request, name="Backend")["id"]
        self.subtask = self.add_subtask("write the model")

    def add_subtask(self, description: str, **fields: Any) -> str:
        body = {"task_list_id": self.task, "description": description, **fields}
        return str(self.api.post("/api/subtasks", **body)["id"])

    def set_status(self, subtask: str, status: str) -> None:
        self.api.patch(f"/api/subtasks/{subtask}", status=status)

    def add_task_from_transcript(self, request: str, name: str, source: str, **fields: Any) -> Any:
        """Add a task as the fold does."""
        with self.api.databases.connect() as db:
            parent = db.ledger.require(REQUESTS, request)
            return work.add_task(db.ledger, 2.0, request=parent, name=name, source=source, **fields)

    @property
    def statuses(self) -> tuple[str, str]:
        """The status of the request, and that of the task."""
        task = self.api.get(f"/api/tasks/{self.task}")
        request = self.api.get(f"/api/requests/{self.request}")
        assert (task["completed_at"] is None) == (task["status"] not in work.FINISHED_STATUSES)
        return request["status"], task["status"]


@pytest.fixture
def tree(api: ApiClient) -> RequestTree:
    return RequestTree(api)


# Reopened work


def test_a_new_subtask_reopens_a_completed_task(tree: RequestTree) -> None:
    tree.set_status(tree.subtask, "completed")
    assert tree.statuses == ("completed", "completed")
    second = tree.add_subtask("write its tests")
    assert tree.statuses == ("active", "running")
    tree.set_status(second, "completed")
    assert tree.statuses == ("completed", "completed")


def test_a_new_subtask_that_is_already_completed_does_not_reopen_its_task(
    tree: RequestTree,
) -> None:
    tree.set_status(tree.subtask, "completed")
    tree.add_subtask("wrote its tests too", status="completed")
    assert tree.statuses == ("completed", "completed")


def test_a_failed_task_is_completed_when_its_subtask_is_retried_and_completed(
    tree: RequestTree,
) -> None:
    tree.set_status(tree.subtask, "failed")
    assert tree.statuses == ("failed", "failed")
    tree.set_status(tree.subtask, "running")
    assert tree.statuses == ("active", "running")
    tree.set_status(tree.subtask, "completed")
    assert tree.statuses == ("completed", "completed")


def test_a_completed_task_fails_when_its_subtask_is_reported_as_failed_later(
    tree: RequestTree,
) -> None:
    tree.set_status(tree.subtask, "completed")
    tree.set_status(tree.subtask, "failed")
    assert tree.statuses == ("failed", "failed")


def test_a_cancelled_task_stays_cancelled_whatever_its_subtasks_do(tree: RequestTree) -> None:
    tree.api.patch(f"/api/tasks/{tree.task}", status="cancelled")
    tree.add_subtask("write its tests")
    tree.set_status(tree.subtask, "running")
    assert tree.statuses[1] == "cancelled"


# Work from the transcript and from callers


def test_posting_a_request_from_the_transcript_updates_it(api: ApiClient) -> None:
    with api.databases.connect() as db:
        work.add_request(
            db.ledger, 1.0, project="p", session="s1", prompt="login", source="L3",
            metadata={"line": 3},
        )  # fmt: skip
    body = {"session_id": "s1", "prompt": "login", "metadata": {"ticket": 7}, "status": "completed"}
    posted = api.post("/api/requests", **body)
    assert (posted["metadata"], posted["status"]) == ({"line": 3, "ticket": 7}, "completed")
    assert len(api.get("/api/requests")["requests"]) == 1


def test_posting_a_subtask_from_the_transcript_updates_it(tree: RequestTree) -> None:
    with tree.api.databases.connect() as db:
        task = db.ledger.require(TASKS, tree.task)
        from_transcript = work.add_subtask(
            db.ledger, 2.0, task=task, description="review", agent_type="validator", source="L9"
        )
    path = f"/api/subtasks/{from_transcript['id']}"
    fields = {
        "agent_type": "validator", "agent_id": "v1", "priority": 9, "blocked_by": [tree.subtask],
    }  # fmt: skip
    assert tree.add_subtask("review", **fields) == from_transcript["id"]
    row = tree.api.get(path)
    assert {name: row[name] for name in (*fields, "status")} == {**fields, "status": "blocked"}
    tree.set_status(tree.subtask, "completed")
    assert tree.api.get(path)["status"] == "pending"


def test_a_task_belongs_to_the_request_that_it_is_posted_to(tree: RequestTree) -> None:
    from_transcript = tree.add_task_from_transcript(tree.request, "S1", "L4")
    other = tree.api.post("/api/requests", session_id="s1", prompt="logout")["id"]
    posted = [tree.api.post("/api/tasks", request_id=other, name="S1") for _ in range(2)]
    assert [task["request_id"] for task in posted] == [other, other]
    assert len({task["id"] for task in (*posted, from_transcript)}) == 3
    same_name = tree.api.post("/api/tasks", request_id=tree.request, name="s1")
    assert same_name["id"] == from_transcript["id"]
    found_later = tree.add_task_from_transcript(other, "S1", "L9")
    assert found_later["id"] == posted[0]["id"], "the fold finds the task that was posted"


@pytest.mark.parametrize("first", ["fold", "caller"])
def test_a_task_is_stored_once_for_each_request_whichever_reports_it_first(
    tree: RequestTree, first: str
) -> None:
    other = tree.api.post("/api/requests", session_id="s1", prompt="logout")["id"]

    def post() -> None:
        for request in (tree.request, other):
            tree.api.post("/api/tasks", request_id=request, name="S1")

    def fold() -> None:
        for request in (tree.request, other):
            tree.add_task_from_transcript(request, "S1", f"{request}:S1")

    for report in (fold, post) if first == "fold" else (post, fold):
        report()
    tasks = [task for task in tree.api.get("/api/tasks")["tasks"] if task["name"] == "S1"]
    assert sorted(task["request_id"] for task in tasks) == sorted([tree.request, other])


def test_a_posted_task_keeps_its_request_when_the_fold_finds_it_in_a_later_one(
    tree: RequestTree,
) -> None:
    """The fold assigns a plan item to the request in which it changed last."""
    posted = tree.api.post("/api/tasks", request_id=tree.request, name="S1")["id"]
    later = tree.api.post("/api/requests", session_id="s1", prompt="go on")["id"]
    assert tree.add_task_from_transcript(later, "S1", "L9")["id"] == posted
    tree.api.post("/api/tasks", request_id=later, name="S2")
    earlier = tree.add_task_from_transcript(tree.request, "S2", "L10")
    assert earlier["request"] == tree.request, "a task of a later request is another task"


def test_a_task_with_an_id_of_an_older_version_is_found_in_its_request(tree: RequestTree) -> None:
    """Ids of tasks did not contain their request in older versions."""
    old = tree.add_task_from_transcript(tree.request, "S1", "L4")
    with tree.api.databases.connect() as db:
        db.ledger.delete(TASKS, old, 3.0)
        db.ledger.database.run("DELETE FROM dropped")
        db.ledger.write(TASKS, {**old, "id": make_id("tasks", "s1", old["likeness"], 1)})
    posted = tree.api.post("/api/tasks", request_id=tree.request, name="S1")
    assert posted["id"] == make_id("tasks", "s1", old["likeness"], 1)
    other = tree.api.post("/api/requests", session_id="s1", prompt="logout")["id"]
    assert tree.api.post("/api/tasks", request_id=other, name="S1")["request_id"] == other


def test_a_subtask_moves_to_the_task_that_it_is_posted_to(tree: RequestTree) -> None:
    unplanned = tree.add_task_from_transcript(
        tree.request, "Work outside the plan", "L4", status="running"
    )
    with tree.api.databases.connect() as db:
        from_transcript = work.add_subtask(
            db.ledger, 2.0, task=unplanned, description="review", agent_type="qa", source="L5",
            status="running",
        )  # fmt: skip
    posted = tree.api.get(f"/api/subtasks/{tree.add_subtask('review', agent_type='qa')}")
    assert (posted["id"], posted["task_id"], posted["status"]) == (
        from_transcript["id"], tree.task, "running",
    )  # fmt: skip
    assert tree.statuses == ("active", "running")
    assert tree.api.get(f"/api/tasks/{unplanned['id']}")["status"] == "completed", (
        "it has no subtasks left"
    )


def test_a_posted_subtask_is_not_taken_for_a_finished_one_of_another_request(
    tree: RequestTree,
) -> None:
    with tree.api.databases.connect() as db:
        task = db.ledger.require(TASKS, tree.task)
        finished = work.add_subtask(
            db.ledger, 2.0, task=task, description="review", source="L5", status="completed"
        )
    other_request = tree.api.post("/api/requests", session_id="s1", prompt="logout")["id"]
    other_task = tree.api.post("/api/tasks", request_id=other_request, name="Backend")["id"]
    posted = tree.api.post("/api/subtasks", task_id=other_task, description="review")
    assert (posted["task_id"], posted["status"]) == (other_task, "pending")
    assert tree.api.get(f"/api/subtasks/{finished['id']}")["task_id"] == tree.task


def test_tasks_and_subtasks_get_the_project_that_the_fold_finds_for_their_request(
    tree: RequestTree,
) -> None:
    project = tree.api.post("/api/projects", path="/srv/a")["id"]
    with tree.api.databases.connect() as db:
        work.add_request(db.ledger, 2.0, project=project, session="s1", prompt="login", source="L3")
        for table, ident in ((REQUESTS, tree.request), (TASKS, tree.task)):
            assert db.ledger.require(table, ident)["project"] == project
        assert db.ledger.require(SUBTASKS, tree.subtask)["project"] == project
    (request,) = tree.api.get(f"/api/hierarchy/{project}")["requests"]
    assert [subtask["id"] for subtask in request["tasks"][0]["subtasks"]] == [tree.subtask]


# Reading work


def test_the_hierarchy_contains_tasks_that_are_dated_before_their_request(api: ApiClient) -> None:
    """The clocks of the machines that report them may differ."""
    project = api.post("/api/projects", path="/srv/a")["id"]
    with api.databases.connect() as db:
        request = work.add_request(db.ledger, 5000.0, project=project, session="s1", prompt="login")
        task = work.add_task(db.ledger, 1000.0, request=request, name="Backend")
        work.add_subtask(db.ledger, 900.0, task=task, description="model")
    (row,) = api.get(f"/api/hierarchy/{project}")["requests"]
    assert [len(task["subtasks"]) for task in row["tasks"]] == [1]


def test_the_wave_number_of_a_task_without_a_wave_is_null(tree: RequestTree) -> None:
    assert tree.api.get(f"/api/tasks/{tree.task}")["wave_number"] is None


def test_agents_can_be_filtered_by_id_and_status(api: ApiClient) -> None:
    api.post("/api/agents", agent_id="a", session_id="s1", status="running")
    api.post("/api/agents", agent_id="b", session_id="s1", status="idle")
    for filters in ({"agent_id": "b"}, {"status": "idle"}):
        assert [row["agent_id"] for row in api.get("/api/agents", **filters)["agents"]] == ["b"]
