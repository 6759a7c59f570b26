"""Which project a row belongs to: the given one, else that of its session, subtask or folder."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.cases import report_case
from tests.contract.server.conftest import ApiClient

POSTGRES_IS_SLOW = True

# Routes that take a `project_id`, and the fields that they require.
REQUIRED_FIELDS: dict[str, dict[str, Any]] = {
    "/api/requests": {"session_id": "s1", "prompt": "x"},
    "/api/actions": {"tool_name": "Read"},
    "/api/agents": {"agent_id": "a"},
    "/api/messages": {"from_agent_id": "a"},
    "/api/agent-contexts": {"agent_id": "a", "agent_type": "t"},
    "/api/compact/save": {"session_id": "s1"},
}


def post_status(api: ApiClient, path: str, body: dict[str, Any]) -> int:
    return api.client.post(path, json=body).status_code


@pytest.mark.parametrize("path", REQUIRED_FIELDS)
def test_an_unknown_or_deleted_project_is_not_found(api: ApiClient, path: str) -> None:
    project = api.post("/api/projects", path="/srv/a")["id"]
    fields = REQUIRED_FIELDS[path]
    for _ in range(2):
        assert post_status(api, path, {**fields, "project_id": project}) in (200, 201)
        assert post_status(api, path, {**fields, "project_id": "unknown"}) == 404
    api.delete(f"/api/projects/{project}")
    assert post_status(api, path, {**fields, "project_id": project}) == 404


# Shell hooks send "null" if jq finds no project.
@pytest.mark.parametrize("empty", ["", "null"])
def test_an_empty_or_null_project_id_means_no_project(api: ApiClient, empty: str) -> None:
    for path, body in REQUIRED_FIELDS.items():
        with report_case(path):
            assert api.post(path, **body, project_id=empty).get("project_id") is None


def test_the_subtask_of_an_action_must_exist(api: ApiClient) -> None:
    request = api.post("/api/requests", session_id="s1", prompt="x")["id"]
    task = api.post("/api/tasks", request_id=request, name="x")["id"]
    subtask = api.post("/api/subtasks", task_id=task, description="x")["id"]
    for _ in range(2):
        action = api.post("/api/actions", tool_name="Read", subtask_id=subtask)
        assert action["subtask_id"] == subtask
    api.post("/api/actions", 404, tool_name="Read", subtask_id="unknown")
    assert api.post("/api/actions", tool_name="Read", subtask_id="null")["subtask_id"] is None
    api.delete(f"/api/requests/{request}")
    api.post("/api/actions", 404, tool_name="Read", subtask_id=subtask)


def test_a_save_without_a_project_id_belongs_to_the_project_of_its_folder(api: ApiClient) -> None:
    project = api.post("/api/projects", path="/srv/a")["id"]
    api.post("/api/compact/save", session_id="s0", project_id="null", cwd="")
    api.post("/api/compact/save", session_id="s1", project_id="null", cwd="/srv/a/src")
    (row,) = api.get("/api/agent-contexts", project_id=project)["contexts"]
    assert row["session_id"] == "s1"


# For each route that takes a `session_id`: other required fields, the path that lists its rows, and
# the name of the list.
SESSION_ROWS = {
    "/api/actions": ({"tool_name": "Read"}, "/api/actions", "actions"),
    "/api/agents": ({"agent_id": "a"}, "/api/agents", "agents"),
    "/api/messages": ({"from_agent_id": "a"}, "/api/messages", "messages"),
    "/api/agent-contexts": (
        {"agent_id": "a", "agent_type": "t"}, "/api/agent-contexts", "contexts",
    ),
    "/api/compact/save": ({}, "/api/agent-contexts", "contexts"),
}  # fmt: skip


@pytest.mark.parametrize("path", SESSION_ROWS)
def test_a_row_without_a_project_gets_the_project_of_its_session_once_known(
    api: ApiClient, path: str
) -> None:
    body, list_path, list_name = SESSION_ROWS[path]
    project = api.post("/api/projects", path="/srv/a")["id"]
    for number in range(2):
        fields = {**body, "session_id": "s1", "payload": number, "number": number}
        assert post_status(api, path, fields) in (200, 201)
        rows = api.get(list_path, session_id="s1")[list_name]
        assert rows[0]["project_id"] == (project if number else None)
        api.post("/api/requests", session_id="s1", prompt="x", project_id=project)
    assert len(api.get(list_path, project_id=project)[list_name]) == 1


def test_an_update_without_a_project_keeps_the_project_of_the_row(api: ApiClient) -> None:
    explicit, session_project = (
        api.post("/api/projects", path=path)["id"] for path in ("/srv/a", "/srv/b")
    )
    api.post("/api/requests", session_id="s1", prompt="x", project_id=session_project)
    action = {"tool_name": "Read", "id": "a1", "session_id": "s1"}
    agent = {"agent_id": "a", "session_id": "s1"}
    for path, body in (("/api/actions", action), ("/api/agents", agent)):
        api.post(path, **body, project_id=explicit)
        row = api.client.post(path, json={**body, "exit_code": 1}).json()
        assert row["project_id"] == explicit
        row = api.post(path, **body, project_id=session_project)
        assert row["project_id"] == session_project, "a new project replaces it"


@pytest.mark.parametrize("path", ["/api/actions", "/api/compact/save"])
def test_an_unknown_query_parameter_of_a_post_is_refused(api: ApiClient, path: str) -> None:
    body = {"tool_name": "Read", "session_id": "s1"}
    assert post_status(api, f"{path}?project_id=p", body) == 400


@pytest.mark.parametrize("path", ["/api/actions", "/api/compact/save"])
def test_concurrent_rows_without_a_project_get_the_project_of_their_session(
    api: ApiClient, path: str
) -> None:
    projects = [api.post("/api/projects", path=f"/srv/{number}")["id"] for number in range(3)]
    for number, project in enumerate(projects):
        api.post("/api/agents", agent_id="a", session_id=f"s{number}", project_id=project)
    body, list_path, list_name = SESSION_ROWS[path]
    with ThreadPoolExecutor(9) as pool:
        futures = [
            pool.submit(
                post_status, api, path, {**body, "session_id": f"s{number % 3}", "n": number}
            )
            for number in range(30)
        ]
    assert {future.result() for future in futures} <= {200, 201}
    for number, project in enumerate(projects):
        rows = api.get(list_path, session_id=f"s{number}")[list_name]
        assert [row["project_id"] for row in rows] == [project] * 10


def test_requests_and_actions_get_the_project_of_their_session(api: ApiClient) -> None:
    project = api.post("/api/projects", path="/srv/a")["id"]
    first = api.post("/api/requests", session_id="s1", prompt="x", project_id=project)
    second = api.post("/api/requests", session_id="s1", prompt="y", project_id=None)
    assert (first["project_id"], second["project_id"]) == (project, project)
    for _ in range(3):
        assert api.post("/api/actions", tool_name="Read", session_id="s1")["project_id"] == project
    assert api.post("/api/actions", tool_name="Read", session_id="s2")["project_id"] is None
    assert len(api.get("/api/actions", project_id=project)["actions"]) == 3


def test_an_action_gets_the_project_of_its_subtask(api: ApiClient) -> None:
    project = api.post("/api/projects", path="/srv/a")["id"]
    request = api.post("/api/requests", session_id="s1", prompt="x", project_id=project)["id"]
    task = api.post("/api/tasks", request_id=request, name="x")["id"]
    subtask = api.post("/api/subtasks", task_id=task, description="x")["id"]
    for _ in range(3):
        action = api.post("/api/actions", tool_name="Read", subtask_id=subtask)
        assert (action["project_id"], action["subtask_id"]) == (project, subtask)


def test_rows_of_a_session_with_two_projects_get_neither(api: ApiClient) -> None:
    for path in ("/srv/a", "/srv/b"):
        project = api.post("/api/projects", path=path)["id"]
        api.post("/api/requests", session_id="s1", prompt=path, project_id=project)
    assert api.post("/api/requests", session_id="s1", prompt="x")["project_id"] is None
