"""What a caller names must be there; whoever names nothing says so in several ways."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.cases import case
from tests.contract.server.conftest import Caller

POSTGRES_IS_SLOW = True

NAMING: dict[str, dict[str, Any]] = {
    "/api/requests": {"session_id": "s1", "prompt": "x"},
    "/api/actions": {"tool_name": "Read"},
    "/api/agents": {"agent_id": "a"},
    "/api/messages": {"from_agent_id": "a"},
    "/api/agent-contexts": {"agent_id": "a", "agent_type": "t"},
    "/api/compact/save": {"session_id": "s1"},
}


def status(api: Caller, path: str, body: dict[str, Any]) -> int:
    return api.client.post(path, json=body).status_code


@pytest.mark.parametrize("path", NAMING)
def test_a_project_that_is_not_there_is_not_found(api: Caller, path: str) -> None:
    project = api.post("/api/projects", path="/srv/a")["id"]
    for _ in range(2):
        assert status(api, path, {**NAMING[path], "project_id": project}) in (200, 201)
        assert status(api, path, {**NAMING[path], "project_id": "nope"}) == 404
    api.delete(f"/api/projects/{project}")
    assert status(api, path, {**NAMING[path], "project_id": project}) == 404


@pytest.mark.parametrize("none", ["", "null"])
def test_no_project_is_none_however_it_is_said(api: Caller, none: str) -> None:
    for path, body in NAMING.items():
        with case(path):
            assert api.post(path, **body, project_id=none).get("project_id") is None


def test_an_action_s_subtask_must_be_there(api: Caller) -> None:
    request = api.post("/api/requests", session_id="s1", prompt="x")["id"]
    task = api.post("/api/tasks", request_id=request, name="x")["id"]
    subtask = api.post("/api/subtasks", task_id=task, description="x")["id"]
    for _ in range(2):
        told = api.post("/api/actions", tool_name="Read", subtask_id=subtask)
        assert told["subtask_id"] == subtask
    api.post("/api/actions", 404, tool_name="Read", subtask_id="nope")
    assert api.post("/api/actions", tool_name="Read", subtask_id="null")["subtask_id"] is None
    api.delete(f"/api/requests/{request}")
    api.post("/api/actions", 404, tool_name="Read", subtask_id=subtask)


def test_a_save_with_a_project_that_jq_did_not_find_is_its_folder_s(api: Caller) -> None:
    project = api.post("/api/projects", path="/srv/a")["id"]
    api.post("/api/compact/save", session_id="s0", project_id="null", cwd="")
    api.post("/api/compact/save", session_id="s1", project_id="null", cwd="/srv/a/src")
    (row,) = api.get("/api/agent-contexts", project_id=project)["contexts"]
    assert row["session_id"] == "s1"


IN_A_SESSION = {
    "/api/actions": ({"tool_name": "Read"}, "/api/actions", "actions"),
    "/api/agents": ({"agent_id": "a"}, "/api/agents", "agents"),
    "/api/messages": ({"from_agent_id": "a"}, "/api/messages", "messages"),
    "/api/agent-contexts": (
        {"agent_id": "a", "agent_type": "t"}, "/api/agent-contexts", "contexts",
    ),
    "/api/compact/save": ({}, "/api/agent-contexts", "contexts"),
}  # fmt: skip


@pytest.mark.parametrize("path", IN_A_SESSION)
def test_what_names_no_project_is_its_session_s_as_soon_as_that_is_known(
    api: Caller, path: str
) -> None:
    body, where, name = IN_A_SESSION[path]
    project = api.post("/api/projects", path="/srv/a")["id"]
    for number in range(2):
        said = {**body, "session_id": "s1", "payload": number, "number": number}
        assert status(api, path, said) in (200, 201)
        found = api.get(where, session_id="s1")[name]
        assert found[0]["project_id"] == (project if number else None)
        api.post("/api/requests", session_id="s1", prompt="x", project_id=project)
    assert len(api.get(where, project_id=project)[name]) == 1


def test_a_project_that_was_said_stays_when_it_is_not_said_again(api: Caller) -> None:
    said, led_in = (api.post("/api/projects", path=path)["id"] for path in ("/srv/a", "/srv/b"))
    api.post("/api/requests", session_id="s1", prompt="x", project_id=led_in)
    call = {"tool_name": "Read", "id": "a1", "session_id": "s1"}
    agent = {"agent_id": "a", "session_id": "s1"}
    for path, body in (("/api/actions", call), ("/api/agents", agent)):
        api.post(path, **body, project_id=said)
        told = api.client.post(path, json={**body, "exit_code": 1}).json()
        assert told["project_id"] == said
        assert api.post(path, **body, project_id=led_in)["project_id"] == led_in, "said anew"


@pytest.mark.parametrize("path", ["/api/actions", "/api/compact/save"])
def test_an_unknown_query_parameter_of_a_post_is_refused(api: Caller, path: str) -> None:
    body = {"tool_name": "Read", "session_id": "s1"}
    assert status(api, f"{path}?project_id=p", body) == 400


@pytest.mark.parametrize("path", ["/api/actions", "/api/compact/save"])
def test_many_who_name_no_project_are_each_their_session_s(api: Caller, path: str) -> None:
    ours = [api.post("/api/projects", path=f"/srv/{number}")["id"] for number in range(3)]
    for number, project in enumerate(ours):
        api.post("/api/agents", agent_id="a", session_id=f"s{number}", project_id=project)
    body, where, name = IN_A_SESSION[path]
    with ThreadPoolExecutor(9) as pool:
        told = [
            pool.submit(status, api, path, {**body, "session_id": f"s{number % 3}", "n": number})
            for number in range(30)
        ]
    assert {one.result() for one in told} <= {200, 201}
    for number, project in enumerate(ours):
        found = api.get(where, session_id=f"s{number}")[name]
        assert [one["project_id"] for one in found] == [project] * 10


def test_work_of_a_session_whose_project_is_known_is_that_project_s(api: Caller) -> None:
    project = api.post("/api/projects", path="/srv/a")["id"]
    first = api.post("/api/requests", session_id="s1", prompt="x", project_id=project)
    again = api.post("/api/requests", session_id="s1", prompt="y", project_id=None)
    assert (first["project_id"], again["project_id"]) == (project, project)
    for _ in range(3):
        assert api.post("/api/actions", tool_name="Read", session_id="s1")["project_id"] == project
    assert api.post("/api/actions", tool_name="Read", session_id="s2")["project_id"] is None
    assert len(api.get("/api/actions", project_id=project)["actions"]) == 3


def test_an_action_is_its_subtask_s_project_s(api: Caller) -> None:
    project = api.post("/api/projects", path="/srv/a")["id"]
    request = api.post("/api/requests", session_id="s1", prompt="x", project_id=project)["id"]
    task = api.post("/api/tasks", request_id=request, name="x")["id"]
    subtask = api.post("/api/subtasks", task_id=task, description="x")["id"]
    for _ in range(3):
        told = api.post("/api/actions", tool_name="Read", subtask_id=subtask)
        assert (told["project_id"], told["subtask_id"]) == (project, subtask)


def test_a_session_of_two_projects_is_neither_s(api: Caller) -> None:
    for path in ("/srv/a", "/srv/b"):
        project = api.post("/api/projects", path=path)["id"]
        api.post("/api/requests", session_id="s1", prompt=path, project_id=project)
    assert api.post("/api/requests", session_id="s1", prompt="x")["project_id"] is None
