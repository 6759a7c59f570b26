"""Projects, requests, tasks, subtasks, actions, agents and messages over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.server.conftest import Caller, a_state


def a_task(api: Caller, name: str = "Backend", wave: int | None = 1, session: str = "s1") -> Any:
    known = api.get("/api/requests", session_id=session)["requests"]
    request = known[0] if known else api.post("/api/requests", session_id=session, prompt="login")
    return api.post("/api/tasks", request_id=request["id"], name=name, wave_number=wave)


def test_the_tree_of_a_project_has_the_shape_that_callers_know(api: Caller) -> None:
    project = api.post("/api/projects", path="/home/user/project", name="My Project")
    found = api.get("/api/projects/by-path", path="/home/user/project")
    assert found == project
    request = api.post(
        "/api/requests", session_id="s1", project_id=project["id"], prompt="Add authentication"
    )
    task = api.post("/api/tasks", request_id=request["id"], name="Backend Auth", wave_number=1)
    subtask = api.post(
        "/api/subtasks", task_list_id=task["id"], agent_type="backend-laravel",
        description="Create User model", status="running",
    )  # fmt: skip
    api.patch(f"/api/subtasks/{subtask['id']}", status="completed", result={"files": 2})
    tree = api.get(f"/api/hierarchy/{project['id']}")
    assert tree["project"]["name"] == "My Project"
    (one,) = tree["requests"]
    assert (one["prompt"], one["status"]) == ("Add authentication", "completed")
    (two,) = one["tasks"]
    assert (two["name"], two["wave_number"]) == ("Backend Auth", 1)
    (three,) = two["subtasks"]
    assert (three["agent_type"], three["status"]) == ("backend-laravel", "completed")
    assert three["result"] == {"files": 2}


def test_an_unknown_project_is_not_found(api: Caller) -> None:
    for path in ("/api/hierarchy/null", "/api/projects/by-path?path=/nowhere", "/api/projects/x"):
        assert api.get(path, 404)["status"] == 404


def test_session_filters_really_filter(api: Caller) -> None:
    for session in ("s1", "s10", "s1"):
        api.post("/api/actions", session_id=session, tool_name="Write", file_paths=["/a.php"])
    found = api.get("/api/actions", limit=100, session_id="s1")["actions"]
    assert [one["session_id"] for one in found] == ["s1", "s1"]
    assert found[0]["file_paths"] == ["/a.php"]
    assert len(api.get("/api/actions")["actions"]) == 3
    for kind in ("actions", "requests", "tasks", "subtasks", "messages", "agents"):
        assert api.get(f"/api/{kind}", session_id="s")[kind] == []


def test_an_action_with_the_host_s_call_id_is_told_once(api: Caller) -> None:
    made = [
        api.post("/api/actions", session_id="s1", tool_name="Bash", tool_use_id="toolu_1")
        for _ in range(2)
    ]
    assert made[0]["id"] == made[1]["id"]
    assert len(api.get("/api/actions")["actions"]) == 1


def test_lists_come_page_by_page(api: Caller) -> None:
    made = [api.post("/api/actions", tool_name="Read")["id"] for _ in range(5)]
    seen: list[str] = []
    page: str | None = ""
    while page is not None:
        told = api.get("/api/actions", limit=2, page=page)
        seen += [one["id"] for one in told["actions"]]
        page = told["next"]
    assert sorted(seen) == sorted(made)
    assert api.get("/api/actions", 400, page="nonsense")["detail"]


def test_a_wave_starts_when_the_one_before_is_done(api: Caller) -> None:
    first, _ = a_task(api, "schema", 0), a_task(api, "routes", 1)
    assert api.post("/api/waves/s1/start")["wave"]["wave_number"] == 0
    assert api.post("/api/waves/s1/transition", 409)["status"] == 409
    api.patch(f"/api/tasks/{first['id']}", status="completed")
    current = api.get("/api/waves/s1/current")["wave"]
    assert (current["wave_number"], current["status"]) == (1, "running")
    history = api.get("/api/waves/s1/history")["waves"]
    assert [one["status"] for one in history] == ["completed", "running"]
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
def test_every_list_comes_page_by_page_without_gaps(api: Caller, path: str, name: str) -> None:
    project = api.post("/api/projects", path="/srv/a")["id"]
    for number in range(5):
        api.post("/api/messages", from_agent_id="boss", to_agent_id="me", priority=number % 2)
        api.post("/api/waves/s1/create", wave_number=number)
        api.post("/api/requests", session_id="s1", project_id=project, prompt=f"do {number}")
        api.post("/api/blocking", blocked_id="me", blocker_id=f"a{number}")
    state = a_state("login")
    state["compactions"] = [
        {"id": f"c{n}", "line": n, "trigger": "auto", "before": 9, "after": 1, "summary_line": 1,
         "reply_line": 1, "deliveries": []}
        for n in range(5)
    ]  # fmt: skip
    with api.databases.connect() as db:
        for number in range(1, 6):
            # Two were seen at the same time.
            db.store.save_session(
                session=f"s{number}", host="codex", project="/srv/a", transcript="", cursor=None,
                state=state, revision=0, now=float(number // 2),
            )  # fmt: skip
    path = path.format(project=project)
    whole = api.client.get(path).json()
    assert (len(whole[name]), whole["next"]) == (5, None)
    seen: list[Any] = []
    page: str | None = ""
    while page is not None:
        told = api.client.get(path, params={**_query(path), "limit": "2", "page": page}).json()
        # A tree has its newest requests on its first page, each page in their order.
        seen = [*told[name], *seen] if name == "requests" else [*seen, *told[name]]
        page = told["next"]
    assert seen == whole[name]


def _query(path: str) -> dict[str, str]:
    return {"session_id": "s1"} if "session_id" in path else {}


def test_filters_that_callers_know_by_other_names_filter_too(api: Caller) -> None:
    tasks = [a_task(api, name, wave) for wave, name in enumerate("ab")]
    for task in tasks:
        api.post("/api/subtasks", task_id=task["id"], description="x")
    api.post("/api/agents", agent_id="a")
    assert [one["name"] for one in api.get("/api/tasks", wave_number=0)["tasks"]] == ["a"]
    found = api.get("/api/subtasks", task_list_id=tasks[1]["id"])["subtasks"]
    assert [one["task_id"] for one in found] == [tasks[1]["id"]]
    assert api.get("/api/agents", project_id="p2")["agents"] == []


def history(api: Caller) -> list[tuple[int, str, int, int, int]]:
    found = api.get("/api/waves/s1/history")["waves"]
    names = ("wave_number", "status", "total_tasks", "completed_tasks", "failed_tasks")
    return [tuple(one[name] for name in names) for one in found]


def test_a_wave_waits_for_all_that_come_before_it(api: Caller) -> None:
    first, second, _ = (a_task(api, name, wave) for wave, name in enumerate("abc"))
    api.post("/api/waves/s1/start")
    api.patch(f"/api/tasks/{second['id']}", status="completed")
    assert [one[1] for one in history(api)] == ["running", "completed", "pending"]
    api.patch(f"/api/tasks/{first['id']}", status="completed")
    assert [one[1] for one in history(api)] == ["completed", "completed", "running"]


def test_a_wave_that_failed_goes_on_when_its_task_is_tried_again(api: Caller) -> None:
    first, _ = a_task(api, "a", 0), a_task(api, "b", 1)
    seen = []
    for status in ("failed", "running", "completed"):
        api.patch(f"/api/tasks/{first['id']}", status=status)
        seen.append([one[1] for one in history(api)])
    assert seen == [["failed", "pending"], ["running", "pending"], ["completed", "running"]]


def test_what_is_told_after_it_was_done_counts_and_what_comes_later_opens_the_wave_again(
    api: Caller,
) -> None:
    request = api.post("/api/requests", session_id="s1", prompt="login")["id"]
    told = {"request_id": request, "wave_number": 0}
    done = api.post("/api/tasks", name="a", status="completed", **told)
    assert done["completed_at"]
    assert history(api) == [(0, "completed", 1, 1, 0)]
    more = api.post("/api/tasks", name="b", **told)
    assert history(api) == [(0, "running", 2, 1, 0)]
    part = {"task_id": more["id"], "description": "x", "status": "completed"}
    assert api.post("/api/subtasks", **part)["completed_at"]
    assert api.get(f"/api/tasks/{more['id']}")["status"] == "running"
    api.delete(f"/api/tasks/{more['id']}")
    assert history(api) == [(0, "completed", 1, 1, 0)]


def test_a_subtask_waits_for_one_of_another_session_and_not_for_one_that_is_deleted(
    api: Caller,
) -> None:
    other, mine = a_task(api, session="s2"), a_task(api)
    blockers = [
        api.post("/api/subtasks", task_id=other["id"], description=name)["id"] for name in "ab"
    ]
    told = {"task_id": mine["id"], "description": "c", "blocked_by": blockers}
    waiting = f"/api/subtasks/{api.post('/api/subtasks', **told)['id']}"
    api.patch(f"/api/subtasks/{blockers[0]}", status="completed")
    assert api.get(waiting)["status"] == "blocked"
    api.delete(f"/api/subtasks/{blockers[1]}")
    assert (api.get(waiting)["status"], api.get(waiting)["blocked_by"]) == ("pending", blockers[:1])
    api.post("/api/subtasks", 404, **{**told, "blocked_by": ["nobody"]})


def test_a_subtask_is_unblocked_by_what_it_waited_for(api: Caller) -> None:
    task = a_task(api)
    first = api.post("/api/subtasks", task_id=task["id"], description="a")
    last = api.post("/api/subtasks", task_id=task["id"], description="b", blocked_by=[first["id"]])
    assert last["status"] == "blocked"
    api.patch(f"/api/subtasks/{first['id']}", status="completed")
    assert api.get(f"/api/subtasks/{last['id']}")["status"] == "pending"


def test_what_hangs_on_nothing_is_refused(api: Caller) -> None:
    api.post("/api/tasks", 404, request_id="nobody", name="x")
    api.post("/api/subtasks", 404, task_id="nobody", description="x")
    api.patch("/api/tasks/nobody", 404, status="completed")
    api.delete("/api/tasks/nobody", 404)
    assert api.get("/api/tasks")["tasks"] == api.get("/api/subtasks")["subtasks"] == []


@pytest.mark.parametrize("kind", ["requests", "tasks", "subtasks", "actions"])
def test_what_is_deleted_is_gone(api: Caller, kind: str) -> None:
    task = a_task(api)
    made = {
        "requests": lambda: api.get("/api/requests")["requests"][0],
        "tasks": lambda: task,
        "subtasks": lambda: api.post("/api/subtasks", task_id=task["id"], description="x"),
        "actions": lambda: api.post("/api/actions", tool_name="Read"),
    }[kind]()
    api.delete(f"/api/{kind}/{made['id']}")
    api.delete(f"/api/{kind}/{made['id']}", 404)
    assert api.get(f"/api/{kind}")[kind] == []


def test_what_hangs_on_something_is_deleted_with_it(api: Caller) -> None:
    project = api.post("/api/projects", path="/app")
    kept, gone = (
        api.post("/api/requests", session_id="s1", prompt=name, project_id=project["id"])
        for name in ("kept", "gone")
    )
    tasks = [
        api.post("/api/tasks", request_id=one["id"], name=one["prompt"], wave_number=1)
        for one in (kept, gone)
    ]
    mine, other = (
        api.post("/api/subtasks", task_id=task["id"], description=task["name"]) for task in tasks
    )
    waiting = api.post(
        "/api/subtasks", task_id=tasks[0]["id"], description="waits", blocked_by=[other["id"]]
    )
    api.post("/api/actions", tool_name="Read", session_id="s1", project_id=project["id"])
    api.delete(f"/api/requests/{gone['id']}")
    assert [one["id"] for one in api.get("/api/tasks")["tasks"]] == [tasks[0]["id"]]
    left = {one["id"]: one["status"] for one in api.get("/api/subtasks")["subtasks"]}
    assert left == {mine["id"]: "pending", waiting["id"]: "pending"}
    assert history(api) == [(1, "pending", 1, 0, 0)]
    api.delete(f"/api/projects/{project['id']}")
    for kind in ("projects", "requests", "tasks", "subtasks"):
        assert api.get(f"/api/{kind}")[kind] == []
    assert api.get("/api/actions")["actions"], "what happened has happened"
    again = api.post("/api/projects", path="/app")
    assert api.get(f"/api/hierarchy/{again['id']}")["requests"] == []


def test_messages_reach_who_they_are_for_and_are_read_once(api: Caller) -> None:
    api.post(
        "/api/messages", from_agent_id="backend-laravel", to_agent_id="frontend-react",
        topic="api_endpoint_created", payload={"endpoint": "/api/login"}, priority=5,
    )  # fmt: skip
    api.post("/api/messages", from_agent_id="backend-laravel", topic="any_topic", priority=9)
    listed = api.get("/api/messages", limit=50)["messages"]
    assert [one["topic"] for one in listed] == ["any_topic", "api_endpoint_created"]
    assert listed[1]["payload"] == {"endpoint": "/api/login"}
    mine = api.get("/api/messages/frontend-react", mark_read=True)["messages"]
    assert [one["priority"] for one in mine] == [9, 5]
    assert mine[0]["read_by"] == ["frontend-react"]
    assert api.get("/api/messages/frontend-react")["messages"] == []
    assert len(api.get("/api/messages/frontend-react", unread=False)["messages"]) == 2
    ident = listed[0]["id"]
    told = api.post(f"/api/messages/{ident}/read", agent_id="qa")
    assert told["read_by"] == ["frontend-react", "qa"]
    api.post("/api/messages/nobody/read", 404, agent_id="qa")


def test_a_broadcast_stays_in_its_project(api: Caller) -> None:
    first, second = (api.post("/api/projects", path=path)["id"] for path in ("/a", "/b"))
    for agent, project in (("fe", first), ("be", second)):
        api.post("/api/agents", agent_id=agent, project_id=project)
    for ident, project in (("m1", first), ("m2", second), ("m3", None)):
        api.post("/api/messages", from_agent_id="boss", id=ident, project_id=project)

    def heard(agent: str, **where: str) -> list[str]:
        return sorted(one["id"] for one in api.get(f"/api/messages/{agent}", **where)["messages"])

    assert (heard("fe"), heard("be")) == (["m1", "m3"], ["m2", "m3"])
    assert heard("stranger") == ["m3"], "whose it is, nobody knows"
    assert heard("stranger", project_id=first) == ["m1", "m3"]
    api.post("/api/requests", session_id="s2", prompt="x", project_id=second)
    assert heard("stranger", session_id="s2") == ["m2", "m3"]
    assert heard("fe", session_id="s2") == ["m2", "m3"], "it says where it is"
    assert heard("fe", session_id="nobody's") == ["m1", "m3"]
    assert heard("stranger", project_id="null", session_id="null") == ["m3"]
    api.get("/api/messages/fe", 404, project_id="nope")
    assert api.post("/api/messages", 409, from_agent_id="mallory", id="m1")["status"] == 409


def test_a_message_that_is_sent_again_in_another_session_is_another(api: Caller) -> None:
    told = {"from_agent_id": "a", "topic": "x", "id": "m1"}
    assert api.post("/api/messages", **told, session_id="s1")["id"] == "m1"
    assert api.post("/api/messages", **told, session_id="s1")["id"] == "m1"
    api.post("/api/messages", 409, **told, session_id="s2")


def test_how_important_a_subtask_is_can_be_changed(api: Caller) -> None:
    request = api.post("/api/requests", session_id="s1", prompt="x")["id"]
    task = api.post("/api/tasks", request_id=request, name="x")["id"]
    subtask = api.post("/api/subtasks", task_id=task, description="x")["id"]
    told = api.patch(f"/api/subtasks/{subtask}", priority=9)
    assert (told["priority"], told["status"]) == (9, "pending")


def test_whatever_an_event_names_can_be_asked_for(api: Caller) -> None:
    action = api.post("/api/actions", tool_name="Read")["id"]
    assert api.get(f"/api/actions/{action}")["tool_name"] == "Read"
    context = api.post("/api/agent-contexts", agent_id="a", agent_type="t")["id"]
    assert api.get(f"/api/agent-contexts/{context}")["agent_id"] == "a"
    agent = api.post("/api/agents", agent_id="a")["id"]
    assert [one["agent_id"] for one in api.get("/api/agents", id=agent)["agents"]] == ["a"]
    message = api.post("/api/messages", from_agent_id="a", to_agent_id="b")["id"]
    api.post("/api/messages", from_agent_id="a")
    assert [one["id"] for one in api.get("/api/messages", id=message)["messages"]] == [message]
    for kind in ("actions", "agent-contexts"):
        api.get(f"/api/{kind}/nope", 404)


def test_topics_can_be_chosen(api: Caller) -> None:
    api.post("/api/subscribe", agent_id="qa", topic="tests")
    api.post("/api/messages", from_agent_id="dev", topic="gossip")
    assert api.get("/api/messages/qa")["messages"] == []
    assert len(api.get("/api/subscriptions", agent_id="qa")["subscriptions"]) == 1
    assert api.post("/api/unsubscribe", agent_id="qa", topic="tests") == {"removed": True}
    assert len(api.get("/api/messages/qa")["messages"]) == 1


def test_agents_can_wait_for_each_other(api: Caller) -> None:
    api.post("/api/blocking", blocked_id="front", blocker_id="back", reason="needs the API")
    told = api.get("/api/blocking/check", blocked_id="front", blocker_id="back")
    assert told == {"blocked": True, "blocked_by": ["back"]}
    assert len(api.get("/api/blocking/front")["blocking"]) == 1
    assert api.post("/api/unblock", blocked_id="front", blocker_id="back") == {"removed": 1}
    assert api.get("/api/blocking/check", blocked_id="front")["blocked"] is False


def test_agents_of_the_same_name_choose_and_wait_in_their_own_project(api: Caller) -> None:
    one, two = (api.post("/api/projects", path=path)["id"] for path in ("/a", "/b"))
    for project in (one, two):
        api.post("/api/agents", agent_id="qa", session_id=f"s {project}", project_id=project)
        api.post("/api/messages", from_agent_id="dev", topic="gossip", project_id=project)
    api.post("/api/subscribe", agent_id="qa", topic="tests", project_id=one)
    assert api.get("/api/messages/qa", project_id=one)["messages"] == []
    assert len(api.get("/api/messages/qa", project_id=two)["messages"]) == 1
    assert [told["project_id"] for told in api.get("/api/messages/qa")["messages"]] == [two]
    api.post("/api/blocking", blocked_id="qa", blocker_id="dev", project_id=one)
    api.post("/api/blocking", blocked_id="dev", blocker_id="qa", project_id=two)
    api.post("/api/blocking", 409, blocked_id="dev", blocker_id="qa", project_id=one)
    assert api.get("/api/blocking/check", blocked_id="qa", project_id=two)["blocked"] is False
    assert api.get("/api/blocking/check", blocked_id="qa", project_id=one)["blocked"] is True
    assert api.post("/api/unblock", blocked_id="qa", project_id=two) == {"removed": 0}
    assert api.post("/api/unblock", blocked_id="qa") == {"removed": 0}, "which of both?"
    assert api.post("/api/unblock", blocked_id="qa", project_id=one) == {"removed": 1}
    assert api.post("/api/unsubscribe", agent_id="qa", topic="tests") == {"removed": False}


def test_what_was_chosen_before_the_agent_was_known_can_be_left_again(api: Caller) -> None:
    api.post("/api/subscribe", agent_id="qa", topic="tests")
    api.post("/api/blocking", blocked_id="qa", blocker_id="dev")
    project = api.post("/api/projects", path="/a")["id"]
    api.post("/api/agents", agent_id="qa", project_id=project)
    assert api.post("/api/unsubscribe", agent_id="qa", topic="tests") == {"removed": True}
    assert api.client.delete("/api/blocking/qa").status_code == 204
    assert api.get("/api/blocking/qa")["blocking"] == []


def test_what_an_agent_chooses_is_of_the_only_project_that_knows_it(api: Caller) -> None:
    project = api.post("/api/projects", path="/a")["id"]
    api.post("/api/agents", agent_id="qa", project_id=project)
    told = api.post("/api/subscribe", agent_id="qa", topic="tests")
    assert told["project_id"] == project
    assert api.post("/api/subscribe", agent_id="qa", topic="tests") == told
    assert api.post("/api/subscribe", agent_id="stranger", topic="tests")["project_id"] is None
    assert len(api.get("/api/subscriptions", project_id=project)["subscriptions"]) == 1
    api.post("/api/subscribe", 404, agent_id="qa", topic="tests", project_id="nope")


def test_the_reason_that_was_given_last_counts(api: Caller) -> None:
    pair = {"blocked_id": "front", "blocker_id": "back"}
    api.post("/api/blocking", **pair, reason="needs the API")
    assert api.post("/api/blocking", **pair, reason="needs a login")["reason"] == "needs a login"
    assert api.post("/api/blocking", **pair)["reason"] == "needs a login"
    (one,) = api.get("/api/blocking/front")["blocking"]
    assert one["reason"] == "needs a login"


def test_an_agent_s_window_is_told_in_zones(api: Caller) -> None:
    api.post("/api/agents", agent_id="dev", session_id="s1", max_capacity=1000, current_usage=600)
    told = api.post("/api/tokens/track", agent_id="dev", session_id="s1", input_tokens=300)
    assert (told["current_usage"], told["zone"], told["usage_percent"]) == (900, "red", 90.0)
    assert api.get("/api/capacity/dev")["remaining"] == 100
    told = api.post("/api/capacity/dev/reset")
    assert (told["zone"], told["compact_count"]) == ("green", 1)
    assert [one["agent_id"] for one in api.get("/api/agents")["agents"]] == ["dev"]
    api.get("/api/capacity/nobody", 404)


def test_what_agents_know_is_listed_by_agent_and_type(api: Caller) -> None:
    api.post(
        "/api/agent-contexts", agent_id="backend-laravel-123", agent_type="backend-laravel",
        role_context={"progress": "60%"}, skills_to_restore=["eloquent"], tools_used=["Read"],
    )  # fmt: skip
    (one,) = api.get("/api/agent-contexts", agent_id="backend-laravel-123")["contexts"]
    assert one["role_context"] == {"progress": "60%"}
    assert {"skills_to_restore", "tools_used", "last_updated"} < set(one)
    assert api.get("/api/agent-contexts", agent_id="backend-laravel")["contexts"] == []


def test_health_and_stats_answer(api: Caller) -> None:
    api.post("/api/actions", tool_name="Read")
    assert api.get("/health")["status"] == "healthy"
    assert api.get("/stats")["actions"] == 1


def test_a_subtask_that_is_over_is_over_whatever_it_waited_for(api: Caller) -> None:
    request = api.post("/api/requests", session_id="s1", prompt="x")["id"]
    task = api.post("/api/tasks", request_id=request, name="x")["id"]
    other = api.post("/api/subtasks", task_id=task, description="first")["id"]
    waits = {"task_id": task, "blocked_by": [other]}
    done = api.post("/api/subtasks", description="done", status="completed", **waits)
    assert done["status"] == "completed"
    assert done["completed_at"]
    refused = api.post("/api/subtasks", 409, description="early", status="running", **waits)
    assert "early" in refused["detail"]
    later = api.post("/api/subtasks", description="later", **waits)
    assert (later["status"], later["started_at"]) == ("blocked", None)
    assert len(api.get("/api/subtasks")["subtasks"]) == 3


def test_a_request_with_a_new_task_is_active_again(api: Caller) -> None:
    request = api.post("/api/requests", session_id="s1", prompt="x")["id"]
    first = api.post("/api/tasks", request_id=request, name="one")["id"]
    api.patch(f"/api/tasks/{first}", status="completed")
    assert api.get(f"/api/requests/{request}")["status"] == "completed"
    api.post("/api/tasks", request_id=request, name="over", status="completed")
    assert api.get(f"/api/requests/{request}")["status"] == "completed"
    api.post("/api/tasks", request_id=request, name="two")
    assert api.get(f"/api/requests/{request}")["status"] == "active"


def test_a_message_that_is_sent_again_is_the_same_or_refused(api: Caller) -> None:
    told = {"id": "m1", "from_agent_id": "a", "to_agent_id": "b", "payload": {"n": 1}}
    first = api.post("/api/messages", **told, ttl_seconds=60)
    api.get("/api/messages/b", mark_read=True)
    assert api.post("/api/messages", **told) == first
    for other in ({"payload": {"n": 2}}, {"topic": "x"}, {"priority": 9}, {"to_agent_id": "c"}):
        api.post("/api/messages", 409, **{**told, **other})
    (kept,) = api.get("/api/messages")["messages"]
    assert kept["payload"] == {"n": 1}


def test_nobody_waits_for_itself(api: Caller) -> None:
    api.post("/api/blocking", 409, blocked_id="x", blocker_id="x")
    api.post("/api/blocking", blocked_id="x", blocker_id="y")
    api.post("/api/blocking", blocked_id="y", blocker_id="z")
    api.post("/api/blocking", 409, blocked_id="z", blocker_id="x")
    api.post("/api/blocking", blocked_id="x", blocker_id="z")
    assert not api.get("/api/blocking/check", blocked_id="z")["blocked"]


def test_events_after_what_is_none_are_refused(api: Caller) -> None:
    told = api.get("/api/events", 400, after="01a1e8a609c5")
    assert "not the id of an event" in told["detail"]
