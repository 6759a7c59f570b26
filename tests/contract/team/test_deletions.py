"""A deletion on one machine or in the team database keeps the data of other machines."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.ledger import projects, status, tombstones, work
from holdfast.ledger.repository import Ledger, Row
from holdfast.ledger.schema import PROJECTS, REQUESTS, SUBTASKS, TASKS
from holdfast.store.postgres import PostgresStore

from .machine import Machine


@pytest.fixture
def team_ledger(team: PostgresStore) -> Ledger:
    return Ledger(team.database)


@pytest.fixture
def clones(
    machines: tuple[Machine, Machine], monkeypatch: pytest.MonkeyPatch
) -> tuple[Machine, Machine]:
    """Both machines have a clone of the same repository, in different folders."""
    monkeypatch.setattr(
        "holdfast.services.team.import_session.find_origin", lambda path: "example.org/app"
    )
    for number, machine in enumerate(machines):
        machine.clone = f"/home/{number}/app-{number}"
        machine.add_session(f"s{number}", f"work of {number}")
        machine.sync()
    return machines


def delete(ledger: Ledger, table: Any, now: float = 500.0, **filters: Any) -> Row:
    row = ledger.find_one(table, **filters)
    assert row is not None
    status.delete_with_parts(ledger, table, row, now)
    return row


def prompts(ledger: Ledger) -> list[str]:
    return sorted(row["prompt"] for row in ledger.find(REQUESTS))


# Deletions on one machine


def test_a_project_that_another_machine_uses_stays_in_the_team_database(
    clones: tuple[Machine, Machine], team_ledger: Ledger
) -> None:
    first, second = clones
    deleted = delete(first.ledger, PROJECTS)
    first.sync()
    assert [row["id"] for row in team_ledger.find(PROJECTS)] == [deleted["id"]]
    assert prompts(team_ledger) == ["work of 1"]
    second.sync()
    assert [row["project"] for row in team_ledger.find(REQUESTS)] == [deleted["id"]]


def test_a_project_that_no_other_machine_uses_is_deleted(
    machine: Machine, team_ledger: Ledger
) -> None:
    machine.add_session("s1", "add login")
    machine.sync()
    delete(machine.ledger, PROJECTS)
    machine.sync()
    assert team_ledger.find(PROJECTS) == team_ledger.find(REQUESTS) == []


def test_a_machine_that_uses_a_project_creates_it_again_in_the_team_database(
    clones: tuple[Machine, Machine], team_ledger: Ledger
) -> None:
    (project,) = team_ledger.find(PROJECTS)
    team_ledger.delete(PROJECTS, project, 500.0)
    before = len(team_ledger.list_changes(limit=1000))
    clones[1].add_session("s1", "work of 1", "and more")
    clones[1].sync()
    assert [row["id"] for row in team_ledger.find(PROJECTS)] == [project["id"]]
    assert any(
        change["kind"] == PROJECTS.name for change in team_ledger.list_changes(limit=1000)[before:]
    )
    assert tombstones.find_tombstone(team_ledger, project["id"]) is None


def test_a_project_keeps_its_first_path_and_name_in_any_order_of_pushes(
    clones: tuple[Machine, Machine], team_ledger: Ledger
) -> None:
    (first,) = team_ledger.find(PROJECTS)
    assert (first["path"], first["name"]) == ("/home/0/app-0", "app-0")
    for machine in (clones[1], clones[0], clones[1]):
        projects.ensure_project(machine.ledger, machine.clone, 600.0, metadata={machine.clone: 1})
        machine.sync()
        (row,) = team_ledger.find(PROJECTS)
        assert (row["path"], row["name"]) == ("/home/0/app-0", "app-0")
    assert row["metadata"] == {"/home/0/app-0": 1, "/home/1/app-1": 1}
    for number in range(2):
        assert (
            projects.find_by_path(team_ledger, f"/home/{number}/app-{number}/src")["id"]
            == first["id"]
        )


def test_a_given_name_replaces_a_default_name_and_the_first_machine_can_rename_it(
    clones: tuple[Machine, Machine], team_ledger: Ledger
) -> None:
    names = []
    for number, name in ((1, "Beta"), (0, "Alpha"), (1, "Gamma")):
        machine = clones[number]
        projects.ensure_project(machine.ledger, machine.clone, machine.now, name=name)
        machine.sync()
        names.append(team_ledger.find(PROJECTS)[0]["name"])
    assert names == ["Beta", "Alpha", "Alpha"], "the machine with the first path may rename it"


# Deletions in the team database


@pytest.fixture
def planned(machine: Machine, team_ledger: Ledger) -> Machine:
    machine.add_planned_session("s1", "add login", {"schema": "in_progress"}, "look around")
    machine.sync()
    return machine


def test_rows_deleted_in_the_team_database_do_not_return_when_the_session_continues(
    planned: Machine, team_ledger: Ledger
) -> None:
    delete(team_ledger, REQUESTS, now=planned.now)
    planned.add_planned_session(
        "s1", "add login", {"schema": "completed", "form": "pending"}, "look around"
    )
    planned.sync()
    assert team_ledger.find(REQUESTS) == team_ledger.find(TASKS) == team_ledger.find(SUBTASKS) == []
    assert prompts(planned.ledger) == ["add login"], "the machine must keep it"


def test_only_a_new_request_creates_a_deleted_project_again_in_the_team_database(
    planned: Machine, team_ledger: Ledger
) -> None:
    deleted = delete(team_ledger, PROJECTS, now=planned.now)
    planned.sync()
    assert team_ledger.find(PROJECTS) == []
    planned.add_session("s1", "add login", "add logout")
    planned.sync()
    assert [row["id"] for row in team_ledger.find(PROJECTS)] == [deleted["id"]]
    assert prompts(team_ledger) == ["add logout"]


def test_a_row_can_be_posted_again_in_the_team_database(
    planned: Machine, team_ledger: Ledger
) -> None:
    deleted = delete(team_ledger, REQUESTS, now=planned.now)
    row = work.add_request(
        team_ledger, planned.now + 1, project=deleted["project"], session="s1", prompt="add login"
    )
    assert row["id"] == deleted["id"]
    planned.add_session("s1", "add login", "add logout")
    planned.sync()
    assert prompts(team_ledger) == ["add login", "add logout"]
    assert team_ledger.require(REQUESTS, row["id"])["source"] == deleted["source"]


def test_a_row_that_is_posted_again_on_the_machine_is_pushed_again(
    machine: Machine, team_ledger: Ledger
) -> None:
    machine.add_session("s1", "add login")
    machine.sync()
    deleted = delete(machine.ledger, REQUESTS, now=machine.now)
    machine.sync()
    assert prompts(team_ledger) == []
    request = work.add_request(
        machine.ledger,
        machine.now + 1,
        project=deleted["project"],
        session="s1",
        prompt="add login",
    )
    work.add_task(machine.ledger, machine.now + 1, request=request, name="schema")
    machine.sync()
    assert prompts(team_ledger) == ["add login"]
    assert [row["request"] for row in team_ledger.find(TASKS)] == [request["id"]]


def test_a_deletion_on_a_machine_does_not_block_later_rows_in_the_team_database(
    machine: Machine, team_ledger: Ledger
) -> None:
    request = {"project": "", "session": "d1", "prompt": "go"}
    first, second = (work.add_request(machine.ledger, now, **request) for now in (1.0, 2.0))
    machine.sync()
    status.delete_with_parts(machine.ledger, REQUESTS, first, 3.0)
    machine.sync()
    third = work.add_request(team_ledger, 4.0, **request)
    assert third["id"] not in (first["id"], second["id"])
    assert team_ledger.count(REQUESTS) == 2


# The same row from a caller and from the transcript


def test_a_task_keeps_the_request_under_which_a_caller_posted_it(
    machine: Machine, team_ledger: Ledger
) -> None:
    """The import of the session would attach it to the latest request."""
    request = work.add_request(team_ledger, 1.0, project="", session="s1", prompt="add login")
    posted = work.add_task(team_ledger, 1.0, request=request, name="schema")
    machine.add_planned_session("s1", "go on", {"schema": "in_progress"})
    machine.sync()
    (task,) = team_ledger.find(TASKS, name="schema")
    assert (task["id"], task["request"], task["status"]) == (
        posted["id"], request["id"], "running",
    )  # fmt: skip
    assert task["source"]


def test_subtasks_are_attached_to_the_task_in_the_team_database(
    machine: Machine, team_ledger: Ledger
) -> None:
    request = work.add_request(team_ledger, 1.0, project="", session="s1", prompt="add login")
    posted = work.add_task(team_ledger, 1.0, request=request, name="schema")
    machine.add_planned_session("s1", "go on", {"schema": "in_progress"})
    machine.sync()
    local = machine.ledger.find_one(TASKS, name="schema")
    assert local is not None
    assert local["id"] != posted["id"]
    work.add_subtask(machine.ledger, machine.now, task=local, description="draw it")
    machine.sync()
    assert [row["task"] for row in team_ledger.find(SUBTASKS)] == [posted["id"]]
    delete(machine.ledger, TASKS, now=machine.now + 50, name="schema")
    machine.sync()
    assert team_ledger.find(TASKS, name="schema") == team_ledger.find(SUBTASKS) == []
