"""What was deleted stays deleted, though the log still tells of it, and takes nobody else along."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.ledger import projects, status, work
from holdfast.ledger.repository import Ledger, Row
from holdfast.ledger.schema import PROJECTS, REQUESTS, SUBTASKS, TASKS
from holdfast.services.team.import_session import import_session
from holdfast.state.fold import new_state


class Session:
    """A session that goes on, and is folded into the ledger at every step."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.state = new_state()
        self.now = 10.0

    def fold(self) -> None:
        self.now += 10
        import_session(self.ledger, {
            "id": "s1", "host": "claude-code", "project": "/srv/app", "transcript": "",
            "cursor": None, "state": self.state, "revision": 1, "first_line": 1,
            "started_at": 1.0, "seen_at": self.now, "ended_at": None,
        }, self.now)  # fmt: skip

    def _line(self) -> int:
        self.state["lines"] += 1
        return self.state["lines"]

    def asks(self, *texts: str) -> None:
        for text in texts:
            self.state["requests"].append({"text": text, "line": self._line(), "at": ""})
        self.fold()

    def plans(self, text: str, status: str = "in_progress") -> None:
        line = self._line()
        self.state["plan"].append(
            {"id": str(line), "text": text, "status": status, "line": line, "told": line,
             "blocked_by": [], "wave": 0}
        )  # fmt: skip
        self.fold()

    def starts(self, agent: str) -> None:
        line = self._line()
        self.state["agents"].append(
            {"id": agent, "call": agent, "type": "Explore", "task": agent, "status": "running",
             "result": "", "files": {}, "line": line, "told": line}
        )  # fmt: skip
        self.fold()

    def drop(self, table: Any, **named: Any) -> Row:
        row = self.ledger.find_one(table, **named)
        assert row is not None
        self.now += 1
        status.delete_with_parts(self.ledger, table, row, self.now)
        return row

    def told(self) -> tuple[list[str], list[str], list[str]]:
        """What there is of requests, tasks and subtasks."""
        return tuple(  # type: ignore[return-value]
            sorted(str(row[name]) for row in self.ledger.find(table))
            for table, name in ((REQUESTS, "prompt"), (TASKS, "name"), (SUBTASKS, "description"))
        )


@pytest.fixture
def session(ledger: Ledger) -> Session:
    made = Session(ledger)
    made.asks("add login")
    made.plans("schema")
    made.starts("look around")
    return made


def test_a_deleted_request_does_not_come_back_with_the_next_prompt(session: Session) -> None:
    session.drop(REQUESTS, prompt="add login")
    assert session.told() == ([], [], [])
    session.asks("add logout")
    assert session.told() == (["add logout"], [], [])
    session.state["plan"][0]["status"] = "completed"
    session.fold()
    assert session.told() == (["add logout"], [], [])


def test_a_deleted_project_is_made_again_by_new_requests_only(session: Session) -> None:
    gone = session.drop(PROJECTS)
    session.starts("look again")
    assert session.ledger.find(PROJECTS) == []
    assert session.told() == ([], [], []), "it hangs on a request that is gone"
    session.asks("add logout")
    assert [row["id"] for row in session.ledger.find(PROJECTS)] == [gone["id"]]
    assert session.told() == (["add logout"], [], [])
    assert projects.find_by_path(session.ledger, "/srv/app/src")["id"] == gone["id"]


def test_new_work_has_its_place_though_the_plan_it_was_part_of_is_gone(session: Session) -> None:
    session.drop(TASKS, name="schema")
    session.asks("add logout")
    session.starts("look elsewhere")
    assert session.told() == (
        ["add login", "add logout"], ["Work outside the plan"], ["look elsewhere"],
    )  # fmt: skip
    (task,) = session.ledger.find(TASKS)
    assert task["request"] == session.ledger.find_one(REQUESTS, prompt="add logout")["id"]  # type: ignore[index]


def test_a_deleted_subtask_stays_away_and_the_others_stay(session: Session) -> None:
    session.drop(SUBTASKS, description="look around")
    session.starts("look again")
    assert session.told()[1:] == (["schema"], ["look again"])


def test_a_caller_who_tells_of_it_again_gets_it_again(session: Session) -> None:
    gone = session.drop(REQUESTS, prompt="add login")
    made = work.add_request(
        session.ledger, session.now, project=gone["project"], session="s1", prompt="Add login"
    )
    assert made["id"] == gone["id"]
    session.asks("add logout")
    assert session.told()[0] == ["Add login", "add logout"]
    again = session.ledger.require(REQUESTS, made["id"])
    assert (again["source"], again["status"]) == (gone["source"], "completed"), "the fold goes on"


def test_what_is_asked_again_in_the_same_words_is_another_request(session: Session) -> None:
    first = session.drop(REQUESTS, prompt="add login")
    session.asks("add login")
    (second,) = session.ledger.find(REQUESTS)
    assert second["id"] != first["id"]
    assert second["source"] != first["source"]


def test_of_two_that_were_said_alike_the_one_that_is_deleted_takes_no_other_along(
    ledger: Ledger,
) -> None:
    session = Session(ledger)
    session.asks("go on", "go on", "go on")
    first, second, third = ledger.find(REQUESTS, newest_first=False)
    status.delete_with_parts(ledger, REQUESTS, first, 50.0)
    session.asks("go on")
    rest = [row["source"] for row in ledger.find(REQUESTS, newest_first=False)]
    assert rest[:2] == [second["source"], third["source"]]
    assert len(rest) == 3


# Callers


def request(ledger: Ledger, now: float, prompt: str = "go") -> Row:
    return work.add_request(ledger, now, project="p", session="d1", prompt=prompt)


def make(ledger: Ledger, table: Any, now: float) -> Row:
    if table is REQUESTS:
        return request(ledger, now)
    above = ledger.find_one(REQUESTS, prompt="login") or request(ledger, now, "login")
    if table is TASKS:
        return work.add_task(ledger, now, request=above, name="go")
    task = ledger.find_one(TASKS, name="T") or work.add_task(ledger, now, request=above, name="T")
    return work.add_subtask(ledger, now, task=task, description="go")


@pytest.mark.parametrize("table", [REQUESTS, TASKS, SUBTASKS], ids=lambda table: table.name)
def test_nothing_that_is_told_after_a_deletion_is_swallowed(ledger: Ledger, table: Any) -> None:
    first, second = make(ledger, table, 1.0), make(ledger, table, 2.0)
    assert first["id"] != second["id"]
    status.delete_with_parts(ledger, table, first, 3.0)
    third = make(ledger, table, 4.0)
    assert third["id"] not in (first["id"], second["id"])
    status.delete_with_parts(ledger, table, third, 5.0)
    status.delete_with_parts(ledger, table, second, 6.0)
    fourth = make(ledger, table, 7.0)
    assert ledger.find(table, likeness=first["likeness"]) == [fourth]


def test_what_was_deleted_before_deletions_were_remembered_swallows_nothing(ledger: Ledger) -> None:
    first, second = request(ledger, 1.0), request(ledger, 2.0)
    status.delete_with_parts(ledger, REQUESTS, first, 3.0)
    ledger.database.run("DELETE FROM dropped")
    third = request(ledger, 4.0)
    assert third["id"] != second["id"]
    assert ledger.count(REQUESTS) == 2
