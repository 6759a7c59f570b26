"""Projects, requests, tasks, subtasks, actions, agents and messages over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.server.conftest import ApiClient, make_state


def add_task(
    api: ApiClient, name: str = "Backend", wave: int | None = 1, session: str = "s1"
) -> Any:
    requests = api.get("/api/requests", session_id=session)["requests"]
    if requests:
        request = requests[0]
    else:
        request = api.post("/api/requests", session_id=session, prompt="login")
    return api.post("/api/tasks", request_id=request["id"], name=name, wave_number=wave)


def test_the_hierarchy_of_a_project_contains_requests_tasks_and_subtasks(api: ApiClient) -> None:
    project = api.post("/api/projects", path="/home/user/project", name="My Project")
    by_path = api.get("/api/projects/by-path", path="/home/user/project")
    assert by_path == project
    request = api.post(
        "/api/requests", session_id="s1", project_id=project["id"], prompt="Add authentication"
    )
    task = api.post("/api/tasks", request_id=request["id"], name="Backend Auth", wave_number=1)
    subtask = api.post(
        "/api/subtasks", task_list_id=task["id"], agent_type="backend-laravel",
        description="Create User model", status="running",
    )  # fmt: skip
    api.patch(f"/api/subtasks/{subtask['id']}", status="completed", result={"files": 2})
    hierarchy = api.get(f"/api/hierarchy/{project['id']}")
    assert hierarchy["project"]["name"] == "My Project"
    (request_row,) = hierarchy["requests"]
    assert (request_row["prompt"], request_row["status"]) == ("Add authentication", "completed")
    (task_row,) = request_row["tasks"]
    assert (task_row["name"], task_row["wave_number"]) == ("Backend Auth", 1)
    (subtask_row,) = task_row["subtasks"]
    assert (subtask_row["agent_type"], subtask_row["status"]) == ("backend-laravel", "completed")
    assert subtask_row["result"] == {"files": 2}


def test_an_unknown_project_is_not_found(api: ApiClient) -> None:
    for path in ("/api/hierarchy/null", "/api/projects/by-path?path=/unknown", "/api/projects/x"):
        assert api.get(path, 404)["status"] == 404


def test_session_filters_match_the_whole_id(api: ApiClient) -> None:
    for session in ("s1", "s10", "s1"):
        api.post("/api/actions", session_id=session, tool_name="Write", file_paths=["/a.php"])
    actions = api.get("/api/actions", limit=100, session_id="s1")["actions"]
    assert [row["session_id"] for row in actions] == ["s1", "s1"]
    assert actions[0]["file_paths"] == ["/a.php"]
    assert len(api.get("/api/actions")["actions"]) == 3
    for kind in ("actions", "requests", "tasks", "subtasks", "messages", "agents"):
        assert api.get(f"/api/{kind}", session_id="s")[kind] == []


def test_an_action_with_the_same_tool_use_id_is_stored_once(api: ApiClient) -> None:
    posted = [
        api.post("/api/actions", session_id="s1", tool_name="Bash", tool_use_id="toolu_1")
        for _ in range(2)
    ]
    assert posted[0]["id"] == posted[1]["id"]
    assert len(api.get("/api/actions")["actions"]) == 1


def test_a_list_can_be_read_page_by_page(api: ApiClient) -> None:
    posted = [api.post("/api/actions", tool_name="Read")["id"] for _ in range(5)]
    ids: list[str] = []
    page: str | None = ""
    while page is not None:
        response = api.get("/api/actions", limit=2, page=page)
        ids += [row["id"] for row in response["actions"]]
        page = response["next"]
    assert sorted(ids) == sorted(posted)
    assert api.get("/api/actions", 400, page="nonsense")["detail"]


def test_a_wave_starts_when_the_one_before_is_completed(api: ApiClient) -> None:
    first, _ = add_task(api, "schema", 0), add_task(api, "routes", 1)
    assert api.post("/api/waves/s1/start")["wave"]["wave_number"] == 0
    assert api.post("/api/waves/s1/transition", 409)["status"] == 409
    api.patch(f"/api/tasks/{first['id']}", status="completed")
    current = api.get("/api/waves/s1/current")["wave"]
    assert (current["wave_number"], current["status"]) == (1, "running")
    history = api.get("/api/waves/s1/history")["waves"]
    assert [wave["status"] for wave in history] == ["completed", "running"]
    assert api.post("/api/waves/s1/create")["wave"]["wave_number"] == 2
    assert api.get("/api/waves/other/current")["wave"] is None


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/api/sessions", "sessions"),
        ("/api/messages/me", "messages"),
        ("/api/waves/s1/history", "waves"),
        ("/api/compactions?session_id=s1", "compactions"),
        ("/api/hierarchy/{project}", "requests"),
        ("/api/blocking/me", "blocking"),
    ],
)
def test_the_pages_of_every_list_add_up_to_the_whole_list(
    api: ApiClient, path: str, name: str
) -> None:
    project = api.post("/api/projects", path="/srv/a")["id"]
    for number in range(5):
        api.post("/api/messages", from_agent_id="boss", to_agent_id="me", priority=number % 2)
        api.post("/api/waves/s1/create", wave_number=number)
        api.post("/api/requests", session_id="s1", project_id=project, prompt=f"do {number}")
        api.post("/api/blocking", blocked_id="me", blocker_id=f"a{number}")
    state = make_state("login")
    state["compactions"] = [
        {"id": f"c{n}", "line": n, "trigger": "auto", "before": 9, "after": 1, "summary_line": 1,
         "reply_line": 1, "deliveries": []}
        for n in range(5)
    ]  # fmt: skip
    with api.databases.connect() as db:
        for number in range(1, 6):
            # Some sessions have the same time, so a cursor needs more than the time.
            db.store.save_session(
                session=f"s{number}", host="codex", project="/srv/a", transcript="", cursor=None,
                state=state, revision=0, now=float(number // 2),
            )  # fmt: skip
    path = path.format(project=project)
    whole = api.client.get(path).json()
    assert (len(whole[name]), whole["next"]) == (5, None)
    rows: list[Any] = []
    page: str | None = ""
    while page is not None:
        query = {**_session_filter(path), "limit": "2", "page": page}
        response = api.client.get(path, params=query).json()
        # The first page of a hierarchy has the newest requests; each page is in ascending order.
        rows = [*response[name], *rows] if name == "requests" else [*rows, *response[name]]
        page = response["next"]
    assert rows == whole[name]


def _session_filter(path: str) -> dict[str, str]:
    return {"session_id": "s1"} if "session_id" in path else {}


def test_tasks_subtasks_and_agents_can_be_filtered(api: ApiClient) -> None:
    tasks = [add_task(api, name, wave) for wave, name in enumerate("ab")]
    for task in tasks:
        api.post("/api/subtasks", task_id=task["id"], description="x")
    api.post("/api/agents", agent_id="a")
    assert [row["name"] for row in api.get("/api/tasks", wave_number=0)["tasks"]] == ["a"]
    subtasks = api.get("/api/subtasks", task_list_id=tasks[1]["id"])["subtasks"]
    assert [row["task_id"] for row in subtasks] == [tasks[1]["id"]]
    assert api.get("/api/agents", project_id="p2")["agents"] == []


def list_waves(api: ApiClient) -> list[tuple[int, str, int, int, int]]:
    """Number, status, and task counts (all, completed, failed) of each wave."""
    waves = api.get("/api/waves/s1/history")["waves"]
    names = ("wave_number", "status", "total_tasks", "completed_tasks", "failed_tasks")
    return [tuple(wave[name] for name in names) for wave in waves]


def test_a_wave_waits_for_all_earlier_waves(api: ApiClient) -> None:
    first, second, _ = (add_task(api, name, wave) for wave, name in enumerate("abc"))
    api.post("/api/waves/s1/start")
    api.patch(f"/api/tasks/{second['id']}", status="completed")
    assert [wave[1] for wave in list_waves(api)] == ["running", "completed", "pending"]
    api.patch(f"/api/tasks/{first['id']}", status="completed")
    assert [wave[1] for wave in list_waves(api)] == ["completed", "completed", "running"]


def test_retrying_a_task_reopens_its_failed_wave(api: ApiClient) -> None:
    first, _ = add_task(api, "a", 0), add_task(api, "b", 1)
    statuses = []
    for status in ("failed", "running", "completed"):
        api.patch(f"/api/tasks/{first['id']}", status=status)
        statuses.append([wave[1] for wave in list_waves(api)])
    assert statuses == [["failed", "pending"], ["running", "pending"], ["completed", "running"]]


def test_a_completed_task_counts_in_its_wave_and_a_later_task_reopens_it(
    api: ApiClient,
) -> None:
    request = api.post("/api/requests", session_id="s1", prompt="login")["id"]
    fields = {"request_id": request, "wave_number": 0}
    completed = api.post("/api/tasks", name="a", status="completed", **fields)
    assert completed["completed_at"]
    assert list_waves(api) == [(0, "completed", 1, 1, 0)]
    pending = api.post("/api/tasks", name="b", **fields)
    assert list_waves(api) == [(0, "running", 2, 1, 0)]
    subtask = {"task_id": pending["id"], "description": "x", "status": "completed"}
    assert api.post("/api/subtasks", **subtask)["completed_at"]
    assert api.get(f"/api/tasks/{pending['id']}")["status"] == "running"
    api.delete(f"/api/tasks/{pending['id']}")
    assert list_waves(api) == [(0, "completed", 1, 1, 0)]


def test_a_subtask_waits_for_blockers_in_other_sessions_until_they_are_deleted(
    api: ApiClient,
) -> None:
    other, mine = add_task(api, session="s2"), add_task(api)
    blockers = [
        api.post("/api/subtasks", task_id=other["id"], description=name)["id"] for name in "ab"
    ]
    body = {"task_id": mine["id"], "description": "c", "blocked_by": blockers}
    path = f"/api/subtasks/{api.post('/api/subtasks', **body)['id']}"
    api.patch(f"/api/subtasks/{blockers[0]}", status="completed")
    assert api.get(path)["status"] == "blocked"
    api.delete(f"/api/subtasks/{blockers[1]}")
    assert (api.get(path)["status"], api.get(path)["blocked_by"]) == ("pending", blockers[:1])
    api.post("/api/subtasks", 404, **{**body, "blocked_by": ["unknown"]})


def test_a_subtask_is_unblocked_when_its_blocker_is_completed(api: ApiClient) -> None:
    task = add_task(api)
    first = api.post("/api/subtasks", task_id=task["id"], description="a")
    last = api.post("/api/subtasks", task_id=task["id"], description="b", blocked_by=[first["id"]])
    assert last["status"] == "blocked"
    api.patch(f"/api/subtasks/{first['id']}", status="completed")
    assert api.get(f"/api/subtasks/{last['id']}")["status"] == "pending"


def test_tasks_and_subtasks_without_an_existing_parent_are_refused(api: ApiClient) -> None:
    api.post("/api/tasks", 404, request_id="unknown", name="x")
    api.post("/api/subtasks", 404, task_id="unknown", description="x")
    api.patch("/api/tasks/unknown", 404, status="completed")
    api.delete("/api/tasks/unknown", 404)
    assert api.get("/api/tasks")["tasks"] == api.get("/api/subtasks")["subtasks"] == []


@pytest.mark.parametrize("kind", ["requests", "tasks", "subtasks", "actions"])
def test_a_deleted_row_is_no_longer_listed(api: ApiClient, kind: str) -> None:
    task = add_task(api)
    row = {
        "requests": lambda: api.get("/api/requests")["requests"][0],
        "tasks": lambda: task,
        "subtasks": lambda: api.post("/api/subtasks", task_id=task["id"], description="x"),
        "actions": lambda: api.post("/api/actions", tool_name="Read"),
    }[kind]()
    api.delete(f"/api/{kind}/{row['id']}")
    api.delete(f"/api/{kind}/{row['id']}", 404)
    assert api.get(f"/api/{kind}")[kind] == []


def test_deleting_a_request_or_project_deletes_its_children(api: ApiClient) -> None:
    project = api.post("/api/projects", path="/app")
    kept, deleted = (
        api.post("/api/requests", session_id="s1", prompt=name, project_id=project["id"])
        for name in ("kept", "deleted")
    )
    tasks = [
        api.post("/api/tasks", request_id=request["id"], name=request["prompt"], wave_number=1)
        for request in (kept, deleted)
    ]
    kept_subtask, deleted_subtask = (
        api.post("/api/subtasks", task_id=task["id"], description=task["name"]) for task in tasks
    )
    blocked_subtask = api.post(
        "/api/subtasks", task_id=tasks[0]["id"], description="waits",
        blocked_by=[deleted_subtask["id"]],
    )  # fmt: skip
    api.post("/api/actions", tool_name="Read", session_id="s1", project_id=project["id"])
    api.delete(f"/api/requests/{deleted['id']}")
    assert [task["id"] for task in api.get("/api/tasks")["tasks"]] == [tasks[0]["id"]]
    statuses = {row["id"]: row["status"] for row in api.get("/api/subtasks")["subtasks"]}
    assert statuses == {kept_subtask["id"]: "pending", blocked_subtask["id"]: "pending"}
    assert list_waves(api) == [(1, "pending", 1, 0, 0)]
    api.delete(f"/api/projects/{project['id']}")
    for kind in ("projects", "requests", "tasks", "subtasks"):
        assert api.get(f"/api/{kind}")[kind] == []
    assert api.get("/api/actions")["actions"], "actions are kept as history"
    recreated = api.post("/api/projects", path="/app")
    assert api.get(f"/api/hierarchy/{recreated['id']}")["requests"] == []


def test_an_agent_gets_its_messages_and_broadcasts_until_it_has_read_them(api: ApiClient) -> None:
    api.post(
        "/api/messages", from_agent_id="backend-laravel", to_agent_id="frontend-react",
        topic="api_endpoint_created", payload={"endpoint": "/api/login"}, priority=5,
    )  # fmt: skip
    api.post("/api/messages", from_agent_id="backend-laravel", topic="any_topic", priority=9)
    listed = api.get("/api/messages", limit=50)["messages"]
    assert [row["topic"] for row in listed] == ["any_topic", "api_endpoint_created"]
    assert listed[1]["payload"] == {"endpoint": "/api/login"}
    unread = api.get("/api/messages/frontend-react")["messages"]
    assert [row["read_by"] for row in unread] == [[], []]
    inbox = api.post("/api/messages/frontend-react/receive")["messages"]
    assert [row["priority"] for row in inbox] == [9, 5]
    assert inbox[0]["read_by"] == ["frontend-react"]
    assert api.get("/api/messages/frontend-react")["messages"] == []
    assert len(api.get("/api/messages/frontend-react", unread=False)["messages"]) == 2
    ident = listed[0]["id"]
    message = api.post(f"/api/messages/{ident}/read", agent_id="qa")
    assert message["read_by"] == ["frontend-react", "qa"]
    api.post("/api/messages/unknown/read", 404, agent_id="qa")


def test_a_broadcast_with_a_project_reaches_only_agents_of_the_project(api: ApiClient) -> None:
    first, second = (api.post("/api/projects", path=path)["id"] for path in ("/a", "/b"))
    for agent, project in (("fe", first), ("be", second)):
        api.post("/api/agents", agent_id=agent, project_id=project)
    for ident, project in (("m1", first), ("m2", second), ("m3", None)):
        api.post("/api/messages", from_agent_id="boss", id=ident, project_id=project)

    def list_inbox_ids(agent: str, **filters: str) -> list[str]:
        return sorted(row["id"] for row in api.get(f"/api/messages/{agent}", **filters)["messages"])

    assert (list_inbox_ids("fe"), list_inbox_ids("be")) == (["m1", "m3"], ["m2", "m3"])
    assert list_inbox_ids("stranger") == ["m3"], "its project is unknown"
    assert list_inbox_ids("stranger", project_id=first) == ["m1", "m3"]
    api.post("/api/requests", session_id="s2", prompt="x", project_id=second)
    assert list_inbox_ids("stranger", session_id="s2") == ["m2", "m3"]
    assert list_inbox_ids("fe", session_id="s2") == ["m2", "m3"], "the given session decides"
    assert list_inbox_ids("fe", session_id="unknown") == ["m1", "m3"]
    assert list_inbox_ids("stranger", project_id="null", session_id="null") == ["m3"]
    api.get("/api/messages/fe", 404, project_id="unknown")
    assert api.post("/api/messages", 409, from_agent_id="mallory", id="m1")["status"] == 409


def test_the_id_of_a_message_cannot_be_reused_in_another_session(api: ApiClient) -> None:
    message = {"from_agent_id": "a", "topic": "x", "id": "m1"}
    assert api.post("/api/messages", **message, session_id="s1")["id"] == "m1"
    assert api.post("/api/messages", **message, session_id="s1")["id"] == "m1"
    api.post("/api/messages", 409, **message, session_id="s2")


def test_the_priority_of_a_subtask_can_be_changed(api: ApiClient) -> None:
    request = api.post("/api/requests", session_id="s1", prompt="x")["id"]
    task = api.post("/api/tasks", request_id=request, name="x")["id"]
    subtask = api.post("/api/subtasks", task_id=task, description="x")["id"]
    row = api.patch(f"/api/subtasks/{subtask}", priority=9)
    assert (row["priority"], row["status"]) == (9, "pending")


def test_rows_that_events_name_can_be_read_by_id(api: ApiClient) -> None:
    action = api.post("/api/actions", tool_name="Read")["id"]
    assert api.get(f"/api/actions/{action}")["tool_name"] == "Read"
    context = api.post("/api/agent-contexts", agent_id="a", agent_type="t")["id"]
    assert api.get(f"/api/agent-contexts/{context}")["agent_id"] == "a"
    agent = api.post("/api/agents", agent_id="a")["id"]
    assert [row["agent_id"] for row in api.get("/api/agents", id=agent)["agents"]] == ["a"]
    message = api.post("/api/messages", from_agent_id="a", to_agent_id="b")["id"]
    api.post("/api/messages", from_agent_id="a")
    assert [row["id"] for row in api.get("/api/messages", id=message)["messages"]] == [message]
    for kind in ("actions", "agent-contexts"):
        api.get(f"/api/{kind}/unknown", 404)


def test_an_agent_with_subscriptions_gets_only_broadcasts_on_its_topics(api: ApiClient) -> None:
    api.post("/api/subscribe", agent_id="qa", topic="tests")
    api.post("/api/messages", from_agent_id="dev", topic="gossip")
    assert api.get("/api/messages/qa")["messages"] == []
    assert len(api.get("/api/subscriptions", agent_id="qa")["subscriptions"]) == 1
    assert api.post("/api/unsubscribe", agent_id="qa", topic="tests") == {"removed": True}
    assert len(api.get("/api/messages/qa")["messages"]) == 1


def test_a_blocking_can_be_recorded_checked_and_removed(api: ApiClient) -> None:
    api.post("/api/blocking", blocked_id="front", blocker_id="back", reason="needs the API")
    check = api.get("/api/blocking/check", blocked_id="front", blocker_id="back")
    assert check == {"blocked": True, "blocked_by": ["back"]}
    assert len(api.get("/api/blocking/front")["blocking"]) == 1
    assert api.post("/api/unblock", blocked_id="front", blocker_id="back") == {"removed": 1}
    assert api.get("/api/blocking/check", blocked_id="front")["blocked"] is False


def test_subscriptions_and_blockings_are_separate_for_agents_of_the_same_id_in_two_projects(
    api: ApiClient,
) -> None:
    first, second = (api.post("/api/projects", path=path)["id"] for path in ("/a", "/b"))
    for project in (first, second):
        api.post("/api/agents", agent_id="qa", session_id=f"s {project}", project_id=project)
        api.post("/api/messages", from_agent_id="dev", topic="gossip", project_id=project)
    api.post("/api/subscribe", agent_id="qa", topic="tests", project_id=first)
    assert api.get("/api/messages/qa", project_id=first)["messages"] == []
    assert len(api.get("/api/messages/qa", project_id=second)["messages"]) == 1
    (message,) = api.get("/api/messages/qa")["messages"]
    assert message["project_id"] == second
    api.post("/api/blocking", blocked_id="qa", blocker_id="dev", project_id=first)
    api.post("/api/blocking", blocked_id="dev", blocker_id="qa", project_id=second)
    api.post("/api/blocking", 409, blocked_id="dev", blocker_id="qa", project_id=first)
    assert api.get("/api/blocking/check", blocked_id="qa", project_id=second)["blocked"] is False
    assert api.get("/api/blocking/check", blocked_id="qa", project_id=first)["blocked"] is True
    assert api.post("/api/unblock", blocked_id="qa", project_id=second) == {"removed": 0}
    unblocked = api.post("/api/unblock", blocked_id="qa")
    assert unblocked == {"removed": 0}, "two projects have such an agent"
    assert api.post("/api/unblock", blocked_id="qa", project_id=first) == {"removed": 1}
    assert api.post("/api/unsubscribe", agent_id="qa", topic="tests") == {"removed": False}


def test_subscriptions_and_blockings_from_before_an_agent_had_a_project_can_be_removed(
    api: ApiClient,
) -> None:
    api.post("/api/subscribe", agent_id="qa", topic="tests")
    api.post("/api/blocking", blocked_id="qa", blocker_id="dev")
    project = api.post("/api/projects", path="/a")["id"]
    api.post("/api/agents", agent_id="qa", project_id=project)
    assert api.post("/api/unsubscribe", agent_id="qa", topic="tests") == {"removed": True}
    assert api.client.delete("/api/blocking/qa").status_code == 204
    assert api.get("/api/blocking/qa")["blocking"] == []


def test_a_subscription_gets_the_only_project_of_its_agent(api: ApiClient) -> None:
    project = api.post("/api/projects", path="/a")["id"]
    api.post("/api/agents", agent_id="qa", project_id=project)
    subscription = api.post("/api/subscribe", agent_id="qa", topic="tests")
    assert subscription["project_id"] == project
    assert api.post("/api/subscribe", agent_id="qa", topic="tests") == subscription
    assert api.post("/api/subscribe", agent_id="stranger", topic="tests")["project_id"] is None
    assert len(api.get("/api/subscriptions", project_id=project)["subscriptions"]) == 1
    api.post("/api/subscribe", 404, agent_id="qa", topic="tests", project_id="unknown")


def test_a_repeated_blocking_updates_its_reason(api: ApiClient) -> None:
    blocking = {"blocked_id": "front", "blocker_id": "back"}
    api.post("/api/blocking", **blocking, reason="needs the API")
    updated = api.post("/api/blocking", **blocking, reason="needs a login")
    assert updated["reason"] == "needs a login"
    assert api.post("/api/blocking", **blocking)["reason"] == "needs a login"
    (row,) = api.get("/api/blocking/front")["blocking"]
    assert row["reason"] == "needs a login"


def test_the_capacity_of_an_agent_is_reported_with_a_zone(api: ApiClient) -> None:
    api.post("/api/agents", agent_id="dev", session_id="s1", max_capacity=1000, current_usage=600)
    capacity = api.post("/api/tokens/track", agent_id="dev", session_id="s1", input_tokens=300)
    assert (capacity["current_usage"], capacity["zone"]) == (900, "red")
    assert capacity["usage_percent"] == 90.0
    assert api.get("/api/capacity/dev")["remaining"] == 100
    capacity = api.post("/api/capacity/dev/reset")
    assert (capacity["zone"], capacity["compact_count"]) == ("green", 1)
    assert [row["agent_id"] for row in api.get("/api/agents")["agents"]] == ["dev"]
    api.get("/api/capacity/unknown", 404)


def test_agent_contexts_can_be_filtered_by_agent(api: ApiClient) -> None:
    api.post(
        "/api/agent-contexts", agent_id="backend-laravel-123", agent_type="backend-laravel",
        role_context={"progress": "60%"}, skills_to_restore=["eloquent"], tools_used=["Read"],
    )  # fmt: skip
    (context,) = api.get("/api/agent-contexts", agent_id="backend-laravel-123")["contexts"]
    assert context["role_context"] == {"progress": "60%"}
    assert {"skills_to_restore", "tools_used", "last_updated"} < set(context)
    assert api.get("/api/agent-contexts", agent_id="backend-laravel")["contexts"] == []


def test_health_and_stats_return_status_and_row_counts(api: ApiClient) -> None:
    api.post("/api/actions", tool_name="Read")
    assert api.get("/health")["status"] == "healthy"
    assert api.get("/stats")["actions"] == 1


def test_a_new_subtask_with_open_blockers_may_be_completed_but_not_running(api: ApiClient) -> None:
    request = api.post("/api/requests", session_id="s1", prompt="x")["id"]
    task = api.post("/api/tasks", request_id=request, name="x")["id"]
    blocker = api.post("/api/subtasks", task_id=task, description="first")["id"]
    fields = {"task_id": task, "blocked_by": [blocker]}
    completed = api.post("/api/subtasks", description="done", status="completed", **fields)
    assert completed["status"] == "completed"
    assert completed["completed_at"]
    problem = api.post("/api/subtasks", 409, description="early", status="running", **fields)
    assert "early" in problem["detail"]
    later = api.post("/api/subtasks", description="later", **fields)
    assert (later["status"], later["started_at"]) == ("blocked", None)
    assert len(api.get("/api/subtasks")["subtasks"]) == 3


def test_a_new_unfinished_task_reopens_a_completed_request(api: ApiClient) -> None:
    request = api.post("/api/requests", session_id="s1", prompt="x")["id"]
    first = api.post("/api/tasks", request_id=request, name="one")["id"]
    api.patch(f"/api/tasks/{first}", status="completed")
    assert api.get(f"/api/requests/{request}")["status"] == "completed"
    api.post("/api/tasks", request_id=request, name="over", status="completed")
    assert api.get(f"/api/requests/{request}")["status"] == "completed"
    api.post("/api/tasks", request_id=request, name="two")
    assert api.get(f"/api/requests/{request}")["status"] == "active"


def test_a_repeated_message_is_returned_unchanged_and_a_different_one_is_refused(
    api: ApiClient,
) -> None:
    message = {"id": "m1", "from_agent_id": "a", "to_agent_id": "b", "payload": {"n": 1}}
    first = api.post("/api/messages", **message, ttl_seconds=60)
    api.post("/api/messages/b/receive")
    assert api.post("/api/messages", **message) == first
    for change in ({"payload": {"n": 2}}, {"topic": "x"}, {"priority": 9}, {"to_agent_id": "c"}):
        api.post("/api/messages", 409, **{**message, **change})
    (stored,) = api.get("/api/messages")["messages"]
    assert stored["payload"] == {"n": 1}


def test_blockings_cannot_form_a_cycle(api: ApiClient) -> None:
    api.post("/api/blocking", 409, blocked_id="x", blocker_id="x")
    api.post("/api/blocking", blocked_id="x", blocker_id="y")
    api.post("/api/blocking", blocked_id="y", blocker_id="z")
    api.post("/api/blocking", 409, blocked_id="z", blocker_id="x")
    api.post("/api/blocking", blocked_id="x", blocker_id="z")
    assert not api.get("/api/blocking/check", blocked_id="z")["blocked"]


def test_an_event_stream_after_an_invalid_event_id_is_refused(api: ApiClient) -> None:
    problem = api.get("/api/events", 400, after="01a1e8a609c5")
    assert "not the id of an event" in problem["detail"]
