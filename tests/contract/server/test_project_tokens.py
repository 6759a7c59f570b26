"""A token for one project: no route shows or changes anything of another project.

Every route must have a case here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from litestar import Litestar
from litestar.routes import HTTPRoute
from litestar.testing import TestClient

from holdfast.ledger import agents, contexts, messages, projects, tokens, waves, work
from holdfast.ledger.actions import add_action
from holdfast.ledger.repository import Ledger, Row
from holdfast.ledger.schema import ALL_TABLES, SUBSCRIPTIONS, SUBTASKS, TASKS, TOKENS
from holdfast.server.app import create_litestar_app
from holdfast.server.auth import PROJECT_PREFIXES
from holdfast.server.databases import Connections, Databases
from holdfast.server.event_feed import EventFeed
from holdfast.services.compaction.shared_context import RestoreRequest, build_shared_brief
from tests.contract.server.conftest import SwitchableDatabases, make_state

POSTGRES_IS_SLOW = True

THEIR_WORD = "quince"
OUR_PATH, THEIR_PATH = "/srv/ours", "/srv/theirs"


class TwoProjects(NamedTuple):
    """The ids of the rows of each project, by the names that cases use, and a token for `ours`."""

    ours: dict[str, str]
    theirs: dict[str, str]
    token: str


def fill_project(db: Connections, path: str, word: str) -> dict[str, str]:
    """Add one row of each kind to a project, named after `word`, and return the ids."""
    ledger, session = db.ledger, f"session-{word}"
    project = projects.ensure_project(ledger, path, 1.0)["id"]
    owner: dict[str, Any] = {"project": project, "session": session}
    request = work.add_request(ledger, 1.0, prompt=word, prompt_type="user", **owner)
    task = work.add_task(ledger, 1.0, request=request, name=word, wave_number=1)
    subtask = work.add_subtask(ledger, 1.0, task=task, description=word)
    action = add_action(ledger, 1.0, ident=f"a-{word}", tool_name="x", **owner)
    agents.record_agent(ledger, 1.0, agent_id=f"agent-{word}", agent_type=word, **owner)
    agents.record_agent(ledger, 1.0, agent_id=f"other-{word}", agent_type=word, **owner)
    context = contexts.save_snapshot(ledger, session, project, {"context_summary": word}, 1.0)
    message = messages.send(
        ledger, 4e9, ident=f"m-{word}", from_agent_id=f"other-{word}", topic=word,
        to_agent_id=f"agent-{word}", payload={"text": word}, **owner,
    )  # fmt: skip
    messages.subscribe(ledger, f"agent-{word}", word, 1.0, project)
    messages.block(ledger, f"agent-{word}", f"other-{word}", word, 1.0, project)
    waves.create_wave(ledger, session, 1, 1.0)
    state = make_state(word)
    state["compactions"] = [{
        "id": "c", "line": 1, "trigger": "auto", "before": 9, "after": 1, "summary_line": 1,
        "reply_line": 1, "deliveries": [],
    }]  # fmt: skip
    db.store.save_session(
        session=session, host="claude-code", project=path, transcript="", cursor=None, state=state,
        revision=0, now=1.0,
    )  # fmt: skip
    snapshot = db.store.add_snapshot(session, "auto", state, 1.0)
    db.store.open_compaction(session, 1, trigger="auto", snapshot=snapshot, now=1.0)
    db.store.note_summary(session, 1, word)
    return {
        "project": project, "session": session, "request": request["id"], "task": task["id"],
        "subtask": subtask["id"], "action": action["id"], "agent": f"agent-{word}",
        "other": f"other-{word}", "message": message["id"], "path": path, "topic": word,
        "context": context["id"],
    }  # fmt: skip


@pytest.fixture
def two_projects(databases: Databases) -> TwoProjects:
    with databases.connect() as db:
        ours, theirs = fill_project(db, OUR_PATH, "plum"), fill_project(db, THEIR_PATH, THEIR_WORD)
        _, token = tokens.create_token(
            db.ledger, 1.0, name="ours", scope="admin", project=ours["project"]
        )
    return TwoProjects(ours, theirs, token)


@pytest.fixture
def client(
    shared_app: tuple[TestClient[Any], SwitchableDatabases],
    databases: Databases,
    two_projects: TwoProjects,
) -> Iterator[TestClient[Any]]:
    shared_client, switchable = shared_app
    switchable.databases = databases
    shared_client.headers["Authorization"] = f"Bearer {two_projects.token}"
    yield shared_client
    del shared_client.headers["Authorization"]
    switchable.databases = None


class Case(NamedTuple):
    """A request for rows of another project, and the statuses that are allowed.

    `{name}` in the path and the body stands for an id of that project.
    """

    path: str
    body: dict[str, Any] | None = None
    status: tuple[int, ...] = (404,)


OK, REFUSED = (200,), (403, 404)
PUBLIC = {"GET /health", "GET /docs", "GET /docs/page.js", "GET /docs/page.css"}
PUBLIC |= {"GET /openapi", "GET /openapi/{path:str}", "GET /openapi/openapi.json"}
# Streams have a test of their own: test_events_of_another_project_are_refused.
STREAMS = {"GET /api/events"}
SESSION_AND_PROJECT: dict[str, Any] = {"session_id": "{session}", "project_id": "{project}"}
CASES: dict[str, Case] = {
    "GET /stats": Case("/stats", None, OK),
    "POST /api/projects": Case("/api/projects", {"path": "{path}", "name": "mine"}, REFUSED),
    "GET /api/projects": Case("/api/projects", None, OK),
    "GET /api/projects/by-path": Case("/api/projects/by-path?path={path}"),
    "GET /api/projects/{ident:str}": Case("/api/projects/{project}"),
    "DELETE /api/projects/{ident:str}": Case("/api/projects/{project}"),
    "GET /api/hierarchy/{project_id:str}": Case("/api/hierarchy/{project}"),
    "POST /api/requests": Case("/api/requests", {"prompt": "x", **SESSION_AND_PROJECT}, REFUSED),
    "GET /api/requests": Case("/api/requests?project_id={project}", None, OK),
    "GET /api/requests/{ident:str}": Case("/api/requests/{request}"),
    "PATCH /api/requests/{ident:str}": Case("/api/requests/{request}", {"status": "failed"}),
    "DELETE /api/requests/{ident:str}": Case("/api/requests/{request}"),
    "POST /api/tasks": Case("/api/tasks", {"request_id": "{request}", "name": "x"}),
    "GET /api/tasks": Case("/api/tasks?session_id={session}", None, OK),
    "GET /api/tasks/{ident:str}": Case("/api/tasks/{task}"),
    "PATCH /api/tasks/{ident:str}": Case("/api/tasks/{task}", {"status": "failed"}),
    "DELETE /api/tasks/{ident:str}": Case("/api/tasks/{task}"),
    "POST /api/subtasks": Case("/api/subtasks", {"task_id": "{task}", "description": "x"}),
    "GET /api/subtasks": Case("/api/subtasks?task_id={task}", None, OK),
    "GET /api/subtasks/{ident:str}": Case("/api/subtasks/{subtask}"),
    "PATCH /api/subtasks/{ident:str}": Case("/api/subtasks/{subtask}", {"status": "failed"}),
    "DELETE /api/subtasks/{ident:str}": Case("/api/subtasks/{subtask}"),
    "POST /api/actions": Case(
        "/api/actions", {"tool_name": "x", "session_id": "{session}", "id": "{action}"}, REFUSED
    ),
    "GET /api/actions": Case("/api/actions?session_id={session}", None, OK),
    "GET /api/actions/{ident:str}": Case("/api/actions/{action}"),
    "DELETE /api/actions/{ident:str}": Case("/api/actions/{action}"),
    "POST /api/agents": Case(
        "/api/agents", {"agent_id": "{agent}", **SESSION_AND_PROJECT}, REFUSED
    ),
    "GET /api/agents": Case("/api/agents?session_id={session}", None, OK),
    "GET /api/capacity/{ident:str}": Case("/api/capacity/{agent}"),
    "POST /api/capacity/{ident:str}/reset": Case("/api/capacity/{agent}/reset", {}),
    "POST /api/tokens/track": Case(
        "/api/tokens/track",
        {"agent_id": "{agent}", "session_id": "{session}", "input_tokens": 9},
        REFUSED,
    ),
    "POST /api/waves/{session_id:str}/create": Case("/api/waves/{session}/create", {}, REFUSED),
    "POST /api/waves/{session_id:str}/start": Case("/api/waves/{session}/start", {}, REFUSED),
    "POST /api/waves/{session_id:str}/transition": Case(
        "/api/waves/{session}/transition", {"force": True}, OK
    ),
    "GET /api/waves/{session_id:str}/current": Case("/api/waves/{session}/current", None, OK),
    "GET /api/waves/{session_id:str}/history": Case("/api/waves/{session}/history", None, OK),
    "POST /api/messages": Case(
        "/api/messages",
        {
            "from_agent_id": "{other}", "to_agent_id": "{agent}", "id": "{message}",
            "topic": "{topic}", "payload": {"text": "{topic}"}, "session_id": "{session}",
        },
        REFUSED,
    ),
    "GET /api/messages": Case("/api/messages?topic={topic}", None, OK),
    "GET /api/messages/{ident:str}": Case("/api/messages/{agent}?unread=true", None, OK),
    "POST /api/messages/{ident:str}/receive": Case("/api/messages/{agent}/receive", None, OK),
    "POST /api/messages/{ident:str}/read": Case(
        "/api/messages/{message}/read", {"agent_id": "{agent}"}
    ),
    "POST /api/subscribe": Case("/api/subscribe", {"agent_id": "{agent}", "topic": "x"}, REFUSED),
    "POST /api/unsubscribe": Case(
        "/api/unsubscribe", {"agent_id": "{agent}", "topic": "{topic}"}, OK
    ),
    "GET /api/subscriptions": Case("/api/subscriptions?agent_id={agent}", None, OK),
    "POST /api/blocking": Case(
        "/api/blocking", {"blocked_id": "{agent}", "blocker_id": "{other}"}, REFUSED
    ),
    "POST /api/unblock": Case("/api/unblock", {"blocked_id": "{agent}"}, OK),
    "GET /api/blocking/check": Case("/api/blocking/check?blocked_id={agent}", None, OK),
    "GET /api/blocking/{ident:str}": Case("/api/blocking/{agent}", None, OK),
    "DELETE /api/blocking/{ident:str}": Case("/api/blocking/{agent}", None, (204,)),
    "POST /api/compact/save": Case("/api/compact/save", {"session_id": "{session}"}, REFUSED),
    "POST /api/compact/restore": Case("/api/compact/restore", {"session_id": "{session}"}, OK),
    "GET /api/compact/status/{session_id:str}": Case(
        "/api/compact/status/{session}", None, OK
    ),
    "GET /api/compact/snapshot/{session_id:str}": Case("/api/compact/snapshot/{session}"),
    "POST /api/agent-contexts": Case(
        "/api/agent-contexts", {"agent_id": "x", "agent_type": "x", **SESSION_AND_PROJECT}, REFUSED
    ),
    "GET /api/agent-contexts/{ident:str}": Case("/api/agent-contexts/{context}"),
    "GET /api/agent-contexts": Case("/api/agent-contexts?session_id={session}", None, OK),
    "GET /api/recall": Case("/api/recall?q={topic}&session_id={session}"),
    "POST /api/recall": Case(
        "/api/recall", {"query": "{topic}", "project_id": "{project}"}, REFUSED
    ),
    "GET /api/recall/{ref:str}": Case("/api/recall/{session}:L1"),
    "GET /api/sessions": Case("/api/sessions?project_path={path}", None, OK),
    "GET /api/sessions/{ident:str}": Case("/api/sessions/{session}"),
    "GET /api/compactions": Case("/api/compactions?session_id={session}"),
    "GET /api/compactions/{number:int}/losses": Case(
        "/api/compactions/1/losses?session_id={session}"
    ),
}  # fmt: skip
# The sessions of these tests have no transcript.
NEEDS_TRANSCRIPT = ("GET /api/recall/{ref:str}",)
# Lists with a filter in their case, which are also read without it.
FILTERED_LISTS = [name for name, case in CASES.items() if case.status == OK and "?" in case.path]


def list_routes(app: Litestar) -> set[str]:
    names = set()
    for route in app.routes:
        assert isinstance(route, HTTPRoute), f"add a test for project tokens on {route.path}"
        names |= {f"{method} {route.path}" for method in route.methods - {"OPTIONS", "HEAD"}}
    return names


def is_page(route: str) -> bool:
    """Whether a route belongs to the page for people, which shows all projects."""
    return not route.partition(" ")[2].startswith(PROJECT_PREFIXES)


def fill_in(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, str):
        return value.format(**names)
    if isinstance(value, dict):
        return {key: fill_in(item, names) for key, item in value.items()}
    return value


def send_case(client: TestClient[Any], name: str, names: dict[str, str]) -> Any:
    case = CASES[name]
    method, body = name.partition(" ")[0], fill_in(case.body, names)
    return client.request(method, fill_in(case.path, names), json=body)


def read_all_tables(ledger: Ledger) -> dict[str, list[dict[str, Any]]]:
    return {name: ledger.find(table) for name, table in ALL_TABLES.items() if table is not TOKENS}


def test_every_route_has_a_case(databases: Databases) -> None:
    tested = CASES.keys() | PUBLIC | STREAMS
    routes = list_routes(create_litestar_app(EventFeed(databases)))
    routes = {route for route in routes if not is_page(route)}
    assert routes - tested == set(), "add a case for each new route"
    assert tested - routes == set(), "remove cases of deleted routes"


def test_the_page_is_closed_to_a_token_for_one_project(
    client: TestClient[Any], databases: Databases
) -> None:
    pages = filter(is_page, list_routes(create_litestar_app(EventFeed(databases))))
    for method, path in (route.split(" ") for route in pages):
        if not path.startswith("/static"):
            assert client.request(method, path.replace("{", "").replace("}", "")).status_code == 403


def test_every_route_hides_and_protects_other_projects(
    client: TestClient[Any], databases: Databases, two_projects: TwoProjects
) -> None:
    with databases.connect() as db:
        before = read_all_tables(db.ledger)
    for name, expected in CASES.items():
        response = send_case(client, name, two_projects.theirs)
        assert response.status_code in expected.status, (name, response.text)
        sent = str(fill_in({"path": expected.path, "body": expected.body}, two_projects.theirs))
        # The response may repeat values of the request, but nothing else of the other project.
        hidden = [value for value in two_projects.theirs.values() if value not in sent]
        assert [value for value in hidden if value in response.text] == [], name
        with databases.connect() as db:
            assert read_all_tables(db.ledger) == before, name


def test_lists_without_a_filter_contain_nothing_of_other_projects(
    client: TestClient[Any], two_projects: TwoProjects
) -> None:
    for name in FILTERED_LISTS:
        path = CASES[name].path.partition("?")[0]
        response = client.get(fill_in(path, two_projects.theirs))
        assert THEIR_WORD not in response.text.replace(two_projects.theirs["agent"], ""), name


def test_every_route_works_for_the_own_project(
    client: TestClient[Any], two_projects: TwoProjects
) -> None:
    for name in CASES:
        if not name.startswith("DELETE") and name not in NEEDS_TRANSCRIPT:
            response = send_case(client, name, two_projects.ours)
            assert response.status_code in (200, 201), (name, response.text)


def test_a_session_of_another_project_is_not_restored(
    client: TestClient[Any], databases: Databases, two_projects: TwoProjects
) -> None:
    """Not even after a client that may see it has restored it."""
    with databases.connect() as db:
        their_request = RestoreRequest(two_projects.theirs["session"])
        their_brief = build_shared_brief(db.store, db.ledger, their_request, 1.0)
    responses = [
        client.post("/api/compact/restore", json={"session_id": ids["session"]}).json()
        for ids in (two_projects.ours, two_projects.theirs)
    ]
    assert "plum" in responses[0]["additionalContext"]
    assert THEIR_WORD in their_brief
    assert responses[1] == {"additionalContext": ""}


def test_an_agent_may_only_wait_for_agents_of_its_project(client: TestClient[Any]) -> None:
    body = {"blocked_id": "agent-plum", "blocker_id": "other-plum"}
    assert client.post("/api/blocking", json=body).status_code == 201
    other_project = {**body, "blocker_id": f"other-{THEIR_WORD}"}
    assert client.post("/api/blocking", json=other_project).status_code in REFUSED


def test_agents_of_the_same_id_in_two_projects_are_separate(
    client: TestClient[Any], two_projects: TwoProjects, databases: Databases
) -> None:
    """Subscriptions, blockings and broadcasts of one neither hide nor show those of the other."""
    ours, theirs = two_projects.ours["project"], two_projects.theirs["project"]
    name, other = two_projects.ours["agent"], two_projects.ours["other"]
    with databases.connect() as db:
        for agent in (name, other):
            agents.record_agent(db.ledger, 2.0, agent_id=agent, session=THEIR_WORD, project=theirs)
        messages.subscribe(db.ledger, name, THEIR_WORD, 2.0, theirs)
        messages.block(db.ledger, name, THEIR_WORD, THEIR_WORD, 2.0, theirs)
        messages.block(db.ledger, other, name, THEIR_WORD, 2.0, theirs)
        for project in (ours, theirs):
            for topic in (THEIR_WORD, "plum"):
                messages.send(
                    db.ledger, 4e9, ident=f"{project} {topic}", from_agent_id="x", topic=topic,
                    project=project,
                )  # fmt: skip
    subscriptions = client.get("/api/subscriptions", params={"agent_id": name}).json()[
        "subscriptions"
    ]
    assert [row["topic"] for row in subscriptions] == ["plum"]
    blockings = client.get(f"/api/blocking/{name}").json()["blocking"]
    assert [row["blocker_id"] for row in blockings] == [other]
    inbox = client.get(f"/api/messages/{name}").json()["messages"]
    assert {row["id"] for row in inbox} == {two_projects.ours["message"], f"{ours} plum"}
    assert client.post("/api/unblock", json={"blocked_id": name}).json() == {"removed": 1}
    blocking = {"blocked_id": name, "blocker_id": other, "reason": "again"}
    response = client.post("/api/blocking", json=blocking)
    assert response.status_code == 201, "the opposite blocking in the other project is no cycle"
    subscription = {"agent_id": name, "topic": THEIR_WORD}
    assert client.post("/api/unsubscribe", json=subscription).json() == {"removed": False}
    with databases.connect() as db:
        kept = db.ledger.find(SUBSCRIPTIONS, project=theirs, agent_id=name)
    assert [row["topic"] for row in kept] == [THEIR_WORD]


def test_a_subtask_unblocks_those_of_other_projects_that_wait_for_it(
    client: TestClient[Any], two_projects: TwoProjects, databases: Databases
) -> None:
    """A client that sees all projects has linked them; the token sees only the blocker."""
    with databases.connect() as db:
        task = db.ledger.require(TASKS, two_projects.theirs["task"])
        subtask = two_projects.ours["subtask"]
        waiting = work.add_subtask(
            db.ledger, 1.0, task=task, description="waits", blocked_by=[subtask]
        )
    assert client.patch(f"/api/subtasks/{subtask}", json={"status": "completed"}).status_code == 200
    assert get_status(databases, waiting) == "pending"
    assert client.patch(f"/api/subtasks/{subtask}", json={"status": "running"}).status_code == 200
    assert get_status(databases, waiting) == "blocked"
    assert client.delete(f"/api/subtasks/{subtask}").status_code == 204
    assert get_status(databases, waiting) == "pending"


def test_a_dependency_cycle_through_another_project_is_refused(
    client: TestClient[Any], two_projects: TwoProjects, databases: Databases
) -> None:
    with databases.connect() as db:
        ours, theirs = (
            db.ledger.require(TASKS, ids["task"])
            for ids in (two_projects.ours, two_projects.theirs)
        )
        first = work.add_subtask(db.ledger, 1.0, task=ours, description="first")
        middle = work.add_subtask(
            db.ledger, 1.0, task=theirs, description="middle", blocked_by=[first["id"]]
        )
        last = work.add_subtask(
            db.ledger, 1.0, task=ours, description="last", blocked_by=[middle["id"]]
        )
    body = {"blocked_by": [last["id"]]}
    assert client.patch(f"/api/subtasks/{first['id']}", json=body).status_code == 409


def test_subscriptions_without_a_project_can_be_listed_and_removed_for_own_agents(
    client: TestClient[Any], two_projects: TwoProjects, databases: Databases
) -> None:
    """They apply to the agents of that id in every project."""
    name = two_projects.ours["agent"]
    with databases.connect() as db:
        messages.subscribe(db.ledger, name, "all", 2.0)
        messages.subscribe(db.ledger, "another-agent", "else", 2.0)
    listed = client.get("/api/subscriptions").json()["subscriptions"]
    assert {row["topic"] for row in listed} == {"plum", "all"}
    subscription = {"agent_id": name, "topic": "all"}
    assert client.post("/api/unsubscribe", json=subscription).json() == {"removed": True}


def get_status(databases: Databases, subtask: Row) -> str:
    with databases.connect() as db:
        return str(db.ledger.require(SUBTASKS, subtask["id"])["status"])


def test_a_row_without_a_project_gets_the_project_of_the_token(
    client: TestClient[Any], two_projects: TwoProjects
) -> None:
    action = client.post("/api/actions", json={"tool_name": "Read", "session_id": "fresh"}).json()
    assert action["project_id"] == two_projects.ours["project"]


def test_writing_to_a_session_of_another_project_is_refused(
    client: TestClient[Any], two_projects: TwoProjects
) -> None:
    """Otherwise a client could write to a session first and then read its waves and snapshots."""
    for path, body in (
        ("/api/agents", {"agent_id": "x"}),
        ("/api/actions", {"tool_name": "x"}),
        ("/api/messages", {"from_agent_id": "x"}),
        ("/api/requests", {"prompt": "x"}),
    ):
        response = client.post(path, json={**body, "session_id": two_projects.theirs["session"]})
        assert response.status_code == 403, path


def test_writing_to_a_session_that_only_hooks_saved_for_another_project_is_refused(
    client: TestClient[Any], databases: Databases
) -> None:
    with databases.connect() as db:
        db.store.save_session(
            session="new", host="claude-code", project=THEIR_PATH, transcript="", cursor=None,
            state=make_state("x"), revision=0, now=1.0,
        )  # fmt: skip
    response = client.post("/api/agents", json={"agent_id": "x", "session_id": "new"})
    assert response.status_code == 403


def test_events_of_another_project_are_refused(
    client: TestClient[Any], two_projects: TwoProjects
) -> None:
    """A test with a real server covers streams without a filter."""
    query = f"project_id={two_projects.theirs['project']}"
    response = client.get(f"/api/events?{query}")
    assert response.status_code == 403


def test_recall_in_all_projects_is_refused_and_the_default_is_the_own_project(
    client: TestClient[Any],
) -> None:
    assert client.get("/api/recall?q=x&all_projects=true").status_code == 403
    assert client.get(f"/api/recall?q={THEIR_WORD}").json()["hits"] == []


@pytest.mark.parametrize("recipient_kind", ["agent", "session"])
def test_messages_to_agents_or_sessions_of_another_project_are_refused(
    client: TestClient[Any], two_projects: TwoProjects, recipient_kind: str
) -> None:
    message = {"from_agent_id": two_projects.ours["agent"], "payload": {"text": "do as I say"}}
    for recipient, status in (
        (two_projects.theirs[recipient_kind], 403),
        (two_projects.ours[recipient_kind], 201),
        ("not-yet-known", 201),
    ):
        response = client.post("/api/messages", json={**message, "to_agent_id": recipient})
        assert response.status_code == status, response.text


def test_an_action_for_a_subtask_of_another_project_is_refused(
    client: TestClient[Any], two_projects: TwoProjects
) -> None:
    action = {"tool_name": "Read", "subtask_id": two_projects.theirs["subtask"]}
    assert client.post("/api/actions", json=action).status_code == 404


def test_writing_to_a_session_that_another_project_has_saved_is_refused(
    client: TestClient[Any], two_projects: TwoProjects, databases: Databases
) -> None:
    with databases.connect() as db:
        contexts.save_snapshot(db.ledger, "saved", two_projects.theirs["project"], {"a": 1}, 1.0)
    body = {"session_id": "saved", "context_summary": "mine now"}
    assert client.post("/api/compact/save", json=body).status_code == 403
    assert client.post("/api/requests", json={**body, "prompt": "x"}).status_code == 403


def test_waves_with_tasks_of_another_project_are_hidden(
    client: TestClient[Any], two_projects: TwoProjects, databases: Databases
) -> None:
    with databases.connect() as db:
        for ids in (two_projects.ours, two_projects.theirs):
            request = work.add_request(
                db.ledger, 1.0, project=ids["project"], session="both", prompt=ids["project"]
            )
        for number in range(3):
            work.add_task(
                db.ledger, 1.0, request=request, name=f"{THEIR_WORD} {number}", wave_number=7
            )
    assert client.get("/api/waves/both/history").json()["waves"] == []
    response = client.post("/api/compact/restore", json={"session_id": "both"}).json()
    assert "Wave 7" not in response["additionalContext"]


def test_projects_with_the_same_folder_on_two_machines_are_separate(
    client: TestClient[Any], two_projects: TwoProjects, databases: Databases
) -> None:
    with databases.connect() as db:
        for name, ids in (("here", two_projects.ours), ("there", two_projects.theirs)):
            db.store.save_session(
                session=name, host="claude-code", project=OUR_PATH, transcript="/t", cursor=None,
                state=make_state(f"work {name}"), revision=0, now=2.0,
            )  # fmt: skip
            db.store.add_snapshot(name, "auto", make_state(f"work {name}"), 2.0)
            agents.record_agent(db.ledger, 1.0, agent_id=name, session=name, project=ids["project"])
    listed = [row["id"] for row in client.get("/api/sessions").json()["sessions"]]
    assert "here" in listed
    assert "there" not in listed
    assert client.get("/api/sessions/there").status_code == 404
    response = client.post("/api/compact/restore", json={"session_id": "there"}).json()
    assert response == {"additionalContext": ""}
    assert "work there" not in client.get("/api/agent-contexts").text
    assert client.get("/api/sessions/here").status_code == 200
