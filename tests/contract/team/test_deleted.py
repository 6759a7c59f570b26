"""A deletion on one machine or at the team deletes nothing of another machine."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.ledger import projects, status, tombstones, work
from holdfast.ledger.repository import Ledger, Row
from holdfast.ledger.schema import PROJECTS, REQUESTS, SUBTASKS, TASKS
from holdfast.store.postgres import PostgresStore

from .machine import Machine


@pytest.fixture
def there(team: PostgresStore) -> Ledger:
    return Ledger(team.database)


@pytest.fixture
def clones(
    machines: tuple[Machine, Machine], monkeypatch: pytest.MonkeyPatch
) -> tuple[Machine, Machine]:
    """Both have a clone of one repository, at paths of their own."""
    monkeypatch.setattr(
        "holdfast.services.team.import_session.find_origin", lambda path: "example.org/app"
    )
    for number, machine in enumerate(machines):
        machine.clone = f"/home/{number}/app-{number}"
        machine.session(f"s{number}", f"work of {number}")
        machine.sync()
    return machines


def drop(ledger: Ledger, table: Any, now: float = 500.0, **named: Any) -> Row:
    row = ledger.find_one(table, **named)
    assert row is not None
    status.delete_with_parts(ledger, table, row, now)
    return row


def prompts(ledger: Ledger) -> list[str]:
    return sorted(row["prompt"] for row in ledger.find(REQUESTS))


# On one machine


def test_a_project_that_another_machine_uses_stays_at_the_team(
    clones: tuple[Machine, Machine], there: Ledger
) -> None:
    one, two = clones
    gone = drop(one.ledger, PROJECTS)
    one.sync()
    assert [row["id"] for row in there.find(PROJECTS)] == [gone["id"]]
    assert prompts(there) == ["work of 1"]
    two.sync()
    assert [row["project"] for row in there.find(REQUESTS)] == [gone["id"]]


def test_a_project_that_no_other_machine_uses_is_deleted(machine: Machine, there: Ledger) -> None:
    machine.session("s1", "add login")
    machine.sync()
    drop(machine.ledger, PROJECTS)
    machine.sync()
    assert there.find(PROJECTS) == there.find(REQUESTS) == []


def test_a_project_deleted_at_the_team_comes_back_with_a_machine_that_uses_it(
    clones: tuple[Machine, Machine], there: Ledger
) -> None:
    (project,) = there.find(PROJECTS)
    there.delete(PROJECTS, project, 500.0)
    before = len(there.list_changes(limit=1000))
    clones[1].session("s1", "work of 1", "and more")
    clones[1].sync()
    assert [row["id"] for row in there.find(PROJECTS)] == [project["id"]]
    assert any(one["kind"] == PROJECTS.name for one in there.list_changes(limit=1000)[before:])
    assert tombstones.find_tombstone(there, project["id"]) is None


def test_a_project_keeps_its_first_path_and_name_in_any_order_of_pushes(
    clones: tuple[Machine, Machine], there: Ledger
) -> None:
    (first,) = there.find(PROJECTS)
    assert (first["path"], first["name"]) == ("/home/0/app-0", "app-0")
    for machine in (clones[1], clones[0], clones[1]):
        projects.ensure_project(machine.ledger, machine.clone, 600.0, metadata={machine.clone: 1})
        machine.sync()
        (row,) = there.find(PROJECTS)
        assert (row["path"], row["name"]) == ("/home/0/app-0", "app-0")
    assert row["metadata"] == {"/home/0/app-0": 1, "/home/1/app-1": 1}
    for number in range(2):
        assert projects.find_by_path(there, f"/home/{number}/app-{number}/src")["id"] == first["id"]


def test_a_given_name_wins_and_of_two_the_first(
    clones: tuple[Machine, Machine], there: Ledger
) -> None:
    seen = []
    for number, name in ((1, "Beta"), (0, "Alpha"), (1, "Gamma")):
        machine = clones[number]
        projects.ensure_project(machine.ledger, machine.clone, machine.now, name=name)
        machine.sync()
        seen.append(there.find(PROJECTS)[0]["name"])
    assert seen == ["Beta", "Alpha", "Alpha"], "who has it at its path may call it otherwise"


# At the team


@pytest.fixture
def planned(machine: Machine, there: Ledger) -> Machine:
    machine.planned("s1", "add login", {"schema": "in_progress"}, "look around")
    machine.sync()
    return machine


def test_rows_deleted_at_the_team_do_not_come_back_when_the_session_continues(
    planned: Machine, there: Ledger
) -> None:
    drop(there, REQUESTS, now=planned.now)
    planned.planned("s1", "add login", {"schema": "completed", "form": "pending"}, "look around")
    planned.sync()
    assert there.find(REQUESTS) == there.find(TASKS) == there.find(SUBTASKS) == []
    assert prompts(planned.ledger) == ["add login"], "it is this machine's still"


def test_a_deleted_project_comes_back_at_the_team_with_new_requests_only(
    planned: Machine, there: Ledger
) -> None:
    gone = drop(there, PROJECTS, now=planned.now)
    planned.sync()
    assert there.find(PROJECTS) == []
    planned.session("s1", "add login", "add logout")
    planned.sync()
    assert [row["id"] for row in there.find(PROJECTS)] == [gone["id"]]
    assert prompts(there) == ["add logout"]


def test_a_row_posted_again_at_the_team_exists_again(planned: Machine, there: Ledger) -> None:
    gone = drop(there, REQUESTS, now=planned.now)
    made = work.add_request(
        there, planned.now + 1, project=gone["project"], session="s1", prompt="add login"
    )
    assert made["id"] == gone["id"]
    planned.session("s1", "add login", "add logout")
    planned.sync()
    assert prompts(there) == ["add login", "add logout"]
    assert there.require(REQUESTS, made["id"])["source"] == gone["source"]


def test_a_row_posted_again_on_the_machine_exists_again_at_the_team(
    machine: Machine, there: Ledger
) -> None:
    machine.session("s1", "add login")
    machine.sync()
    gone = drop(machine.ledger, REQUESTS, now=machine.now)
    machine.sync()
    assert prompts(there) == []
    request = work.add_request(
        machine.ledger, machine.now + 1, project=gone["project"], session="s1", prompt="add login"
    )
    work.add_task(machine.ledger, machine.now + 1, request=request, name="schema")
    machine.sync()
    assert prompts(there) == ["add login"]
    assert [row["request"] for row in there.find(TASKS)] == [request["id"]]


def test_a_deletion_on_a_machine_blocks_no_later_rows_at_the_team(
    machine: Machine, there: Ledger
) -> None:
    request = {"project": "", "session": "d1", "prompt": "go"}
    first, second = (work.add_request(machine.ledger, now, **request) for now in (1.0, 2.0))
    machine.sync()
    status.delete_with_parts(machine.ledger, REQUESTS, first, 3.0)
    machine.sync()
    third = work.add_request(there, 4.0, **request)
    assert third["id"] not in (first["id"], second["id"])
    assert there.count(REQUESTS) == 2


# Where callers and the fold mean the same


def test_a_task_stays_where_callers_posted_it_at_the_team(machine: Machine, there: Ledger) -> None:
    """The fold takes it for one of the request in which it moved last."""
    request = work.add_request(there, 1.0, project="", session="s1", prompt="add login")
    posted = work.add_task(there, 1.0, request=request, name="schema")
    machine.planned("s1", "go on", {"schema": "in_progress"})
    machine.sync()
    (task,) = there.find(TASKS, name="schema")
    assert (task["id"], task["request"], task["status"]) == (
        posted["id"], request["id"], "running",
    )  # fmt: skip
    assert task["source"]


def test_children_are_attached_to_the_team_s_row_of_their_parent(
    machine: Machine, there: Ledger
) -> None:
    request = work.add_request(there, 1.0, project="", session="s1", prompt="add login")
    posted = work.add_task(there, 1.0, request=request, name="schema")
    machine.planned("s1", "go on", {"schema": "in_progress"})
    machine.sync()
    mine = machine.ledger.find_one(TASKS, name="schema")
    assert mine is not None
    assert mine["id"] != posted["id"]
    work.add_subtask(machine.ledger, machine.now, task=mine, description="draw it")
    machine.sync()
    assert [row["task"] for row in there.find(SUBTASKS)] == [posted["id"]]
    drop(machine.ledger, TASKS, now=machine.now + 50, name="schema")
    machine.sync()
    assert there.find(TASKS, name="schema") == there.find(SUBTASKS) == []
