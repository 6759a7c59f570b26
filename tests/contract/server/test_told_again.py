"""Work that was over and goes on, and work of which more is said later."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.ledger import work
from holdfast.ledger.schema import REQUESTS, SUBTASKS, TASKS, make_id
from tests.contract.server.conftest import Caller


class Work:
    """A request with a task and a subtask, and how far they are."""

    def __init__(self, api: Caller) -> None:
        self.api = api
        self.request = api.post("/api/requests", session_id="s1", prompt="login")["id"]
        self.task = api.post("/api/tasks", request_id=self.request, name="Backend")["id"]
        self.subtask = self.more("write the model")

    def more(self, description: str, **told: Any) -> str:
        path = "/api/subtasks"
        told = {"task_list_id": self.task, "description": description, **told}
        return str(self.api.post(path, **told)["id"])

    def move(self, subtask: str, status: str) -> None:
        self.api.patch(f"/api/subtasks/{subtask}", status=status)

    @property
    def stand(self) -> tuple[str, str]:
        task = self.api.get(f"/api/tasks/{self.task}")
        request = self.api.get(f"/api/requests/{self.request}")
        assert (task["completed_at"] is None) == (task["status"] not in work.FINISHED_STATUSES)
        return request["status"], task["status"]


@pytest.fixture
def told(api: Caller) -> Work:
    return Work(api)


def test_a_task_that_was_done_goes_on_when_more_is_to_do(told: Work) -> None:
    told.move(told.subtask, "completed")
    assert told.stand == ("completed", "completed")
    second = told.more("write its tests")
    assert told.stand == ("active", "running")
    told.move(second, "completed")
    assert told.stand == ("completed", "completed")


def test_a_task_that_was_done_stays_so_when_more_is_told_that_was_done(told: Work) -> None:
    told.move(told.subtask, "completed")
    told.more("wrote its tests too", status="completed")
    assert told.stand == ("completed", "completed")


def test_what_failed_is_done_after_all_when_it_was_tried_again(told: Work) -> None:
    told.move(told.subtask, "failed")
    assert told.stand == ("failed", "failed")
    told.move(told.subtask, "running")
    assert told.stand == ("active", "running")
    told.move(told.subtask, "completed")
    assert told.stand == ("completed", "completed")


def test_what_is_told_to_have_failed_after_all_has(told: Work) -> None:
    told.move(told.subtask, "completed")
    told.move(told.subtask, "failed")
    assert told.stand == ("failed", "failed")


def test_what_was_called_off_stays_so(told: Work) -> None:
    told.api.patch(f"/api/tasks/{told.task}", status="cancelled")
    told.more("write its tests")
    told.move(told.subtask, "running")
    assert told.stand[1] == "cancelled"


def test_what_a_caller_says_of_a_request_that_was_found_counts(api: Caller) -> None:
    with api.databases.connect() as db:
        work.add_request(
            db.ledger, 1.0, project="p", session="s1", prompt="login", source="L3",
            metadata={"line": 3},
        )  # fmt: skip
    told = {"session_id": "s1", "prompt": "login", "metadata": {"ticket": 7}, "status": "completed"}
    made = api.post("/api/requests", **told)
    assert (made["metadata"], made["status"]) == ({"line": 3, "ticket": 7}, "completed")
    assert len(api.get("/api/requests")["requests"]) == 1


def test_what_a_caller_says_of_a_subtask_that_was_found_counts(told: Work) -> None:
    with told.api.databases.connect() as db:
        task = db.ledger.require(TASKS, told.task)
        found = work.add_subtask(
            db.ledger, 2.0, task=task, description="review", agent_type="validator", source="L9"
        )
    say = {"agent_type": "validator", "agent_id": "v1", "priority": 9, "blocked_by": [told.subtask]}
    assert told.more("review", **say) == found["id"]
    told_of = told.api.get(f"/api/subtasks/{found['id']}")
    assert {name: told_of[name] for name in (*say, "status")} == {**say, "status": "blocked"}
    told.move(told.subtask, "completed")
    assert told.api.get(f"/api/subtasks/{found['id']}")["status"] == "pending"


def found(told: Work, request: str, name: str, line: str, **more: Any) -> Any:
    """A task as the fold finds it."""
    with told.api.databases.connect() as db:
        above = db.ledger.require(REQUESTS, request)
        return work.add_task(db.ledger, 2.0, request=above, name=name, source=line, **more)


def test_a_task_belongs_to_the_request_that_it_is_posted_to(told: Work) -> None:
    mine = found(told, told.request, "S1", "L4")
    other = told.api.post("/api/requests", session_id="s1", prompt="logout")["id"]
    posted = [told.api.post("/api/tasks", request_id=other, name="S1") for _ in range(2)]
    assert [one["request_id"] for one in posted] == [other, other]
    assert len({one["id"] for one in (*posted, mine)}) == 3
    assert told.api.post("/api/tasks", request_id=told.request, name="s1")["id"] == mine["id"]
    again = found(told, other, "S1", "L9")
    assert again["id"] == posted[0]["id"], "the fold's of the same request is the same"


@pytest.mark.parametrize("first", ["fold", "caller"])
def test_a_task_is_told_once_of_each_request_whoever_is_first(told: Work, first: str) -> None:
    other = told.api.post("/api/requests", session_id="s1", prompt="logout")["id"]

    def post() -> None:
        for request in (told.request, other):
            told.api.post("/api/tasks", request_id=request, name="S1")

    def fold() -> None:
        for request in (told.request, other):
            found(told, request, "S1", f"{request}:S1")

    for tell in (fold, post) if first == "fold" else (post, fold):
        tell()
    rows = [one for one in told.api.get("/api/tasks")["tasks"] if one["name"] == "S1"]
    assert sorted(one["request_id"] for one in rows) == sorted([told.request, other])


def test_an_item_of_the_plan_that_moved_later_is_where_a_caller_had_put_it(told: Work) -> None:
    """The fold takes it for one of the request in which it moved last."""
    posted = told.api.post("/api/tasks", request_id=told.request, name="S1")["id"]
    later = told.api.post("/api/requests", session_id="s1", prompt="go on")["id"]
    assert found(told, later, "S1", "L9")["id"] == posted
    told.api.post("/api/tasks", request_id=later, name="S2")
    early = found(told, told.request, "S2", "L10")
    assert early["request"] == told.request, "before it was asked for it was not there"


def test_a_task_from_before_requests_counted_is_met_in_its_request(told: Work) -> None:
    old = found(told, told.request, "S1", "L4")
    with told.api.databases.connect() as db:
        db.ledger.delete(TASKS, old, 3.0)
        db.ledger.database.run("DELETE FROM dropped")
        db.ledger.write(TASKS, {**old, "id": make_id("tasks", "s1", old["likeness"], 1)})
    posted = told.api.post("/api/tasks", request_id=told.request, name="S1")
    assert posted["id"] == make_id("tasks", "s1", old["likeness"], 1)
    other = told.api.post("/api/requests", session_id="s1", prompt="logout")["id"]
    assert told.api.post("/api/tasks", request_id=other, name="S1")["request_id"] == other


def test_a_subtask_belongs_to_the_task_that_it_is_posted_to(told: Work) -> None:
    outside = found(told, told.request, "Work outside the plan", "L4", status="running")
    with told.api.databases.connect() as db:
        agent = work.add_subtask(
            db.ledger, 2.0, task=outside, description="review", agent_type="qa", source="L5",
            status="running",
        )  # fmt: skip
    posted = told.api.get(f"/api/subtasks/{told.more('review', agent_type='qa')}")
    assert (posted["id"], posted["task_id"], posted["status"]) == (
        agent["id"], told.task, "running",
    )  # fmt: skip
    assert told.stand == ("active", "running")
    assert told.api.get(f"/api/tasks/{outside['id']}")["status"] == "completed", "it has no parts"


def test_what_is_to_be_done_for_a_request_is_not_what_was_done_for_another(told: Work) -> None:
    with told.api.databases.connect() as db:
        task = db.ledger.require(TASKS, told.task)
        done = work.add_subtask(
            db.ledger, 2.0, task=task, description="review", source="L5", status="completed"
        )
    other = told.api.post("/api/requests", session_id="s1", prompt="logout")["id"]
    above = told.api.post("/api/tasks", request_id=other, name="Backend")["id"]
    part = {"task_id": above, "description": "review"}
    fresh = told.api.post("/api/subtasks", **part)
    assert (fresh["task_id"], fresh["status"]) == (above, "pending")
    assert told.api.get(f"/api/subtasks/{done['id']}")["task_id"] == told.task


def test_parts_belong_to_the_project_that_the_fold_finds_their_request_in(told: Work) -> None:
    project = told.api.post("/api/projects", path="/srv/a")["id"]
    with told.api.databases.connect() as db:
        work.add_request(db.ledger, 2.0, project=project, session="s1", prompt="login", source="L3")
        for table, ident in ((REQUESTS, told.request), (TASKS, told.task)):
            assert db.ledger.require(table, ident)["project"] == project
        assert db.ledger.require(SUBTASKS, told.subtask)["project"] == project
    (one,) = told.api.get(f"/api/hierarchy/{project}")["requests"]
    assert [part["id"] for part in one["tasks"][0]["subtasks"]] == [told.subtask]


def test_a_task_is_in_the_tree_though_its_machine_s_clock_is_behind(api: Caller) -> None:
    project = api.post("/api/projects", path="/srv/a")["id"]
    with api.databases.connect() as db:
        request = work.add_request(db.ledger, 5000.0, project=project, session="s1", prompt="login")
        task = work.add_task(db.ledger, 1000.0, request=request, name="Backend")
        work.add_subtask(db.ledger, 900.0, task=task, description="model")
    (one,) = api.get(f"/api/hierarchy/{project}")["requests"]
    assert [len(part["subtasks"]) for part in one["tasks"]] == [1]


def test_a_task_of_no_wave_is_told_as_such(told: Work) -> None:
    assert told.api.get(f"/api/tasks/{told.task}")["wave_number"] is None


def test_agents_are_found_by_name_and_by_how_far_they_are(api: Caller) -> None:
    api.post("/api/agents", agent_id="a", session_id="s1", status="running")
    api.post("/api/agents", agent_id="b", session_id="s1", status="idle")
    for asked in ({"agent_id": "b"}, {"status": "idle"}):
        assert [one["agent_id"] for one in api.get("/api/agents", **asked)["agents"]] == ["b"]
