"""Deleted work stays deleted when its session is imported again, and other work stays."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.ledger import projects, status, work
from holdfast.ledger.repository import Ledger, Row
from holdfast.ledger.schema import PROJECTS, REQUESTS, SUBTASKS, TASKS
from holdfast.services.team.import_session import import_session
from holdfast.state.fold import new_state


class Session:
    """A session that is imported into the ledger after every step."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.state = new_state()
        self.now = 10.0

    def import_into_ledger(self) -> None:
        self.now += 10
        import_session(self.ledger, {
            "id": "s1", "host": "claude-code", "project": "/srv/app", "transcript": "",
            "cursor": None, "state": self.state, "revision": 1, "first_line": 1,
            "started_at": 1.0, "seen_at": self.now, "ended_at": None,
        }, self.now)  # fmt: skip

    def _next_line(self) -> int:
        self.state["lines"] += 1
        return self.state["lines"]

    def add_requests(self, *texts: str) -> None:
        for text in texts:
            self.state["requests"].append({"text": text, "line": self._next_line(), "at": ""})
        self.import_into_ledger()

    def add_plan_item(self, text: str, status: str = "in_progress") -> None:
        line = self._next_line()
        self.state["plan"].append(
            {"id": str(line), "text": text, "status": status, "line": line, "source_line": line,
             "blocked_by": [], "wave": 0}
        )  # fmt: skip
        self.import_into_ledger()

    def start_agent(self, agent: str) -> None:
        line = self._next_line()
        self.state["agents"].append(
            {"id": agent, "call": agent, "type": "Explore", "task": agent, "status": "running",
             "result": "", "files": {}, "line": line, "source_line": line}
        )  # fmt: skip
        self.import_into_ledger()

    def delete(self, table: Any, **filters: Any) -> Row:
        row = self.ledger.find_one(table, **filters)
        assert row is not None
        self.now += 1
        status.delete_with_parts(self.ledger, table, row, self.now)
        return row

    def list_work(self) -> tuple[list[str], list[str], list[str]]:
        """The texts of all requests, tasks and subtasks in the ledger."""
        return tuple(  # type: ignore[return-value]
            sorted(str(row[name]) for row in self.ledger.find(table))
            for table, name in ((REQUESTS, "prompt"), (TASKS, "name"), (SUBTASKS, "description"))
        )


@pytest.fixture
def session(ledger: Ledger) -> Session:
    session = Session(ledger)
    session.add_requests("add login")
    session.add_plan_item("schema")
    session.start_agent("look around")
    return session


def test_a_deleted_request_does_not_return_with_the_next_import(session: Session) -> None:
    session.delete(REQUESTS, prompt="add login")
    assert session.list_work() == ([], [], [])
    session.add_requests("add logout")
    assert session.list_work() == (["add logout"], [], [])
    session.state["plan"][0]["status"] = "completed"
    session.import_into_ledger()
    assert session.list_work() == (["add logout"], [], [])


def test_only_a_new_request_creates_a_deleted_project_again(session: Session) -> None:
    deleted = session.delete(PROJECTS)
    session.start_agent("look again")
    assert session.ledger.find(PROJECTS) == []
    assert session.list_work() == ([], [], []), "its request was deleted"
    session.add_requests("add logout")
    assert [row["id"] for row in session.ledger.find(PROJECTS)] == [deleted["id"]]
    assert session.list_work() == (["add logout"], [], [])
    assert projects.find_by_path(session.ledger, "/srv/app/src")["id"] == deleted["id"]


def test_new_work_of_a_deleted_plan_is_added_outside_the_plan(session: Session) -> None:
    session.delete(TASKS, name="schema")
    session.add_requests("add logout")
    session.start_agent("look elsewhere")
    assert session.list_work() == (
        ["add login", "add logout"], ["Work outside the plan"], ["look elsewhere"],
    )  # fmt: skip
    (task,) = session.ledger.find(TASKS)
    assert task["request"] == session.ledger.find_one(REQUESTS, prompt="add logout")["id"]  # type: ignore[index]


def test_a_deleted_subtask_does_not_return_and_new_ones_are_added(session: Session) -> None:
    session.delete(SUBTASKS, description="look around")
    session.start_agent("look again")
    assert session.list_work()[1:] == (["schema"], ["look again"])


def test_a_caller_can_add_a_deleted_request_again(session: Session) -> None:
    deleted = session.delete(REQUESTS, prompt="add login")
    row = work.add_request(
        session.ledger, session.now, project=deleted["project"], session="s1", prompt="Add login"
    )
    assert row["id"] == deleted["id"]
    session.add_requests("add logout")
    assert session.list_work()[0] == ["Add login", "add logout"]
    restored = session.ledger.require(REQUESTS, row["id"])
    assert (restored["source"], restored["status"]) == (deleted["source"], "completed"), (
        "the import must update it again"
    )


def test_a_new_request_with_the_words_of_a_deleted_one_is_added(session: Session) -> None:
    first = session.delete(REQUESTS, prompt="add login")
    session.add_requests("add login")
    (second,) = session.ledger.find(REQUESTS)
    assert second["id"] != first["id"]
    assert second["source"] != first["source"]


def test_deleting_one_of_several_equal_requests_keeps_the_others(
    ledger: Ledger,
) -> None:
    session = Session(ledger)
    session.add_requests("go on", "go on", "go on")
    first, second, third = ledger.find(REQUESTS, newest_first=False)
    status.delete_with_parts(ledger, REQUESTS, first, 50.0)
    session.add_requests("go on")
    sources = [row["source"] for row in ledger.find(REQUESTS, newest_first=False)]
    assert sources[:2] == [second["source"], third["source"]]
    assert len(sources) == 3


# Work that callers add


def add_request(ledger: Ledger, now: float, prompt: str = "go") -> Row:
    return work.add_request(ledger, now, project="p", session="d1", prompt=prompt)


def add_row(ledger: Ledger, table: Any, now: float) -> Row:
    if table is REQUESTS:
        return add_request(ledger, now)
    parent = ledger.find_one(REQUESTS, prompt="login") or add_request(ledger, now, "login")
    if table is TASKS:
        return work.add_task(ledger, now, request=parent, name="go")
    task = ledger.find_one(TASKS, name="T") or work.add_task(ledger, now, request=parent, name="T")
    return work.add_subtask(ledger, now, task=task, description="go")


@pytest.mark.parametrize("table", [REQUESTS, TASKS, SUBTASKS], ids=lambda table: table.name)
def test_work_that_is_added_after_a_deletion_is_kept(ledger: Ledger, table: Any) -> None:
    first, second = add_row(ledger, table, 1.0), add_row(ledger, table, 2.0)
    assert first["id"] != second["id"]
    status.delete_with_parts(ledger, table, first, 3.0)
    third = add_row(ledger, table, 4.0)
    assert third["id"] not in (first["id"], second["id"])
    status.delete_with_parts(ledger, table, third, 5.0)
    status.delete_with_parts(ledger, table, second, 6.0)
    fourth = add_row(ledger, table, 7.0)
    assert ledger.find(table, likeness=first["likeness"]) == [fourth]


def test_work_that_is_added_after_a_deletion_without_a_tombstone_is_kept(ledger: Ledger) -> None:
    first, second = add_request(ledger, 1.0), add_request(ledger, 2.0)
    status.delete_with_parts(ledger, REQUESTS, first, 3.0)
    ledger.database.run("DELETE FROM dropped")
    third = add_request(ledger, 4.0)
    assert third["id"] != second["id"]
    assert ledger.count(REQUESTS) == 2
