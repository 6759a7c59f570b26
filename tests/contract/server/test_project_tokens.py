"""A token for one project: on every route, nothing of another is shown, changed or told of.

Each route has a case here; a route that is added without one fails.
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
from holdfast.server.app import create_routes
from holdfast.server.databases import Connections, Databases
from holdfast.server.event_feed import EventFeed
from holdfast.services.compaction.shared_context import RestoreRequest, build_shared_brief
from tests.contract.server.conftest import Borrowed, a_state

POSTGRES_IS_SLOW = True

SECRET = "quince"
OURS, THEIRS = "/srv/ours", "/srv/theirs"


class World(NamedTuple):
    """What each project has, by the names that cases use."""

    ours: dict[str, str]
    theirs: dict[str, str]
    token: str


def furnish(db: Connections, path: str, word: str) -> dict[str, str]:
    """One of everything, in one project."""
    ledger, session = db.ledger, f"session-{word}"
    project = projects.ensure_project(ledger, path, 1.0)["id"]
    held: dict[str, Any] = {"project": project, "session": session}
    request = work.add_request(ledger, 1.0, prompt=word, prompt_type="user", **held)
    task = work.add_task(ledger, 1.0, request=request, name=word, wave_number=1)
    subtask = work.add_subtask(ledger, 1.0, task=task, description=word)
    action = add_action(ledger, 1.0, ident=f"a-{word}", tool_name="x", **held)
    agents.record_agent(ledger, 1.0, agent_id=f"agent-{word}", agent_type=word, **held)
    agents.record_agent(ledger, 1.0, agent_id=f"other-{word}", agent_type=word, **held)
    saved = contexts.save_snapshot(ledger, session, project, {"context_summary": word}, 1.0)
    message = messages.send(
        ledger, 4e9, ident=f"m-{word}", from_agent_id=f"other-{word}", topic=word,
        to_agent_id=f"agent-{word}", payload={"text": word}, **held,
    )  # fmt: skip
    messages.subscribe(ledger, f"agent-{word}", word, 1.0, project)
    messages.block(ledger, f"agent-{word}", f"other-{word}", word, 1.0, project)
    waves.create_wave(ledger, session, 1, 1.0)
    state = a_state(word)
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
        "context": saved["id"],
    }  # fmt: skip


@pytest.fixture
def world(databases: Databases) -> World:
    with databases.connect() as db:
        ours, theirs = furnish(db, OURS, "plum"), furnish(db, THEIRS, SECRET)
        _, token = tokens.create_token(
            db.ledger, 1.0, name="held", scope="admin", project=ours["project"]
        )
    return World(ours, theirs, token)


@pytest.fixture
def held(
    served: tuple[TestClient[Any], Borrowed], databases: Databases, world: World
) -> Iterator[TestClient[Any]]:
    client, borrowed = served
    borrowed.databases = databases
    client.headers["Authorization"] = f"Bearer {world.token}"
    yield client
    del client.headers["Authorization"]
    borrowed.databases = None


class Case(NamedTuple):
    """A request that is after another project's; `{name}` is put in from what that one has."""

    path: str
    body: dict[str, Any] | None = None
    status: tuple[int, ...] = (404,)


HIDDEN, LISTED, REFUSED = (404,), (200,), (403, 404)
PUBLIC = {"GET /health", "GET /docs", "GET /docs/page.js", "GET /docs/page.css"}
PUBLIC |= {"GET /openapi", "GET /openapi/{path:str}", "GET /openapi/openapi.json"}
# Endless answers: test_events_of_another_project_are_refused.
STREAMS = {"GET /api/events"}
# Says only what it is not.
NAMED: dict[str, Any] = {"session_id": "{session}", "project_id": "{project}"}
CASES: dict[str, Case] = {
    "GET /stats": Case("/stats", None, LISTED),
    "POST /api/projects": Case("/api/projects", {"path": "{path}", "name": "mine"}, REFUSED),
    "GET /api/projects": Case("/api/projects", None, LISTED),
    "GET /api/projects/by-path": Case("/api/projects/by-path?path={path}"),
    "GET /api/projects/{ident:str}": Case("/api/projects/{project}"),
    "DELETE /api/projects/{ident:str}": Case("/api/projects/{project}"),
    "GET /api/hierarchy/{project_id:str}": Case("/api/hierarchy/{project}"),
    "POST /api/requests": Case("/api/requests", {"prompt": "x", **NAMED}, REFUSED),
    "GET /api/requests": Case("/api/requests?project_id={project}", None, LISTED),
    "GET /api/requests/{ident:str}": Case("/api/requests/{request}"),
    "PATCH /api/requests/{ident:str}": Case("/api/requests/{request}", {"status": "failed"}),
    "DELETE /api/requests/{ident:str}": Case("/api/requests/{request}"),
    "POST /api/tasks": Case("/api/tasks", {"request_id": "{request}", "name": "x"}),
    "GET /api/tasks": Case("/api/tasks?session_id={session}", None, LISTED),
    "GET /api/tasks/{ident:str}": Case("/api/tasks/{task}"),
    "PATCH /api/tasks/{ident:str}": Case("/api/tasks/{task}", {"status": "failed"}),
    "DELETE /api/tasks/{ident:str}": Case("/api/tasks/{task}"),
    "POST /api/subtasks": Case("/api/subtasks", {"task_id": "{task}", "description": "x"}),
    "GET /api/subtasks": Case("/api/subtasks?task_id={task}", None, LISTED),
    "GET /api/subtasks/{ident:str}": Case("/api/subtasks/{subtask}"),
    "PATCH /api/subtasks/{ident:str}": Case("/api/subtasks/{subtask}", {"status": "failed"}),
    "DELETE /api/subtasks/{ident:str}": Case("/api/subtasks/{subtask}"),
    "POST /api/actions": Case(
        "/api/actions", {"tool_name": "x", "session_id": "{session}", "id": "{action}"}, REFUSED
    ),
    "GET /api/actions": Case("/api/actions?session_id={session}", None, LISTED),
    "GET /api/actions/{ident:str}": Case("/api/actions/{action}"),
    "DELETE /api/actions/{ident:str}": Case("/api/actions/{action}"),
    "POST /api/agents": Case("/api/agents", {"agent_id": "{agent}", **NAMED}, REFUSED),
    "GET /api/agents": Case("/api/agents?session_id={session}", None, LISTED),
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
        "/api/waves/{session}/transition", {"force": True}, LISTED
    ),
    "GET /api/waves/{session_id:str}/current": Case("/api/waves/{session}/current", None, LISTED),
    "GET /api/waves/{session_id:str}/history": Case("/api/waves/{session}/history", None, LISTED),
    "POST /api/messages": Case(
        "/api/messages",
        {
            "from_agent_id": "{other}", "to_agent_id": "{agent}", "id": "{message}",
            "topic": "{topic}", "payload": {"text": "{topic}"}, "session_id": "{session}",
        },
        REFUSED,
    ),
    "GET /api/messages": Case("/api/messages?topic={topic}", None, LISTED),
    "GET /api/messages/{ident:str}": Case("/api/messages/{agent}?mark_read=true", None, LISTED),
    "POST /api/messages/{ident:str}/read": Case(
        "/api/messages/{message}/read", {"agent_id": "{agent}"}
    ),
    "POST /api/subscribe": Case("/api/subscribe", {"agent_id": "{agent}", "topic": "x"}, REFUSED),
    "POST /api/unsubscribe": Case(
        "/api/unsubscribe", {"agent_id": "{agent}", "topic": "{topic}"}, LISTED
    ),
    "GET /api/subscriptions": Case("/api/subscriptions?agent_id={agent}", None, LISTED),
    "POST /api/blocking": Case(
        "/api/blocking", {"blocked_id": "{agent}", "blocker_id": "{other}"}, REFUSED
    ),
    "POST /api/unblock": Case("/api/unblock", {"blocked_id": "{agent}"}, LISTED),
    "GET /api/blocking/check": Case("/api/blocking/check?blocked_id={agent}", None, LISTED),
    "GET /api/blocking/{ident:str}": Case("/api/blocking/{agent}", None, LISTED),
    "DELETE /api/blocking/{ident:str}": Case("/api/blocking/{agent}", None, (204,)),
    "POST /api/compact/save": Case("/api/compact/save", {"session_id": "{session}"}, REFUSED),
    "POST /api/compact/restore": Case("/api/compact/restore", {"session_id": "{session}"}, LISTED),
    "GET /api/compact/status/{session_id:str}": Case(
        "/api/compact/status/{session}", None, LISTED
    ),
    "GET /api/compact/snapshot/{session_id:str}": Case("/api/compact/snapshot/{session}"),
    "POST /api/agent-contexts": Case(
        "/api/agent-contexts", {"agent_id": "x", "agent_type": "x", **NAMED}, REFUSED
    ),
    "GET /api/agent-contexts/{ident:str}": Case("/api/agent-contexts/{context}"),
    "GET /api/agent-contexts": Case("/api/agent-contexts?session_id={session}", None, LISTED),
    "GET /api/recall": Case("/api/recall?q={topic}&session_id={session}"),
    "POST /api/recall": Case(
        "/api/recall", {"query": "{topic}", "project_id": "{project}"}, REFUSED
    ),
    "GET /api/recall/{ref:str}": Case("/api/recall/{session}:L1"),
    "GET /api/sessions": Case("/api/sessions?project_path={path}", None, LISTED),
    "GET /api/sessions/{ident:str}": Case("/api/sessions/{session}"),
    "GET /api/compactions": Case("/api/compactions?session_id={session}"),
    "GET /api/compactions/{number:int}/losses": Case(
        "/api/compactions/1/losses?session_id={session}"
    ),
}  # fmt: skip
# These sessions have no transcript to open a line of.
NOTHING_WRITTEN = ("GET /api/recall/{ref:str}",)
# Lists that say nothing of what is asked for still hold everything that there is.
WHOLE_LISTS = [name for name, case in CASES.items() if case.status == LISTED and "?" in case.path]


def routes(app: Litestar) -> set[str]:
    found = set()
    for route in app.routes:
        assert isinstance(route, HTTPRoute), f"say here how {route.path} holds a project's token"
        found |= {f"{method} {route.path}" for method in route.methods - {"OPTIONS", "HEAD"}}
    return found


def filled(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, str):
        return value.format(**names)
    if isinstance(value, dict):
        return {key: filled(one, names) for key, one in value.items()}
    return value


def asked(client: TestClient[Any], name: str, names: dict[str, str]) -> Any:
    case = CASES[name]
    method, body = name.partition(" ")[0], filled(case.body, names)
    return client.request(method, filled(case.path, names), json=body)


def everything(ledger: Ledger) -> dict[str, list[dict[str, Any]]]:
    return {name: ledger.find(table) for name, table in ALL_TABLES.items() if table is not TOKENS}


def test_every_route_has_a_case(databases: Databases) -> None:
    known = CASES.keys() | PUBLIC | STREAMS
    assert routes(create_routes(EventFeed(databases))) - known == set(), "add what it must not show"
    assert known - routes(create_routes(EventFeed(databases))) == set(), "a case without its route"


def test_another_project_is_not_shown_and_not_changed(
    held: TestClient[Any], databases: Databases, world: World
) -> None:
    with databases.connect() as db:
        before = everything(db.ledger)
    for name, expected in CASES.items():
        answer = asked(held, name, world.theirs)
        assert answer.status_code in expected.status, (name, answer.text)
        sent = str(filled(expected.path, world.theirs)) + str(filled(expected.body, world.theirs))
        # What was asked for may be named in the answer; nothing else of theirs.
        hidden = [known for known in world.theirs.values() if known not in sent]
        assert [known for known in hidden if known in answer.text] == [], name
        with databases.connect() as db:
            assert everything(db.ledger) == before, name


def test_a_list_of_everything_holds_nothing_of_others(held: TestClient[Any], world: World) -> None:
    for name in WHOLE_LISTS:
        path = CASES[name].path.partition("?")[0]
        answer = held.get(filled(path, world.theirs))
        assert SECRET not in answer.text.replace(world.theirs["agent"], ""), name


def test_its_own_project_is_shown_and_can_be_changed(held: TestClient[Any], world: World) -> None:
    for name in CASES:
        if not name.startswith("DELETE") and name not in NOTHING_WRITTEN:
            answer = asked(held, name, world.ours)
            assert answer.status_code in (200, 201), (name, answer.text)


def test_another_project_s_session_is_not_restored(
    held: TestClient[Any], databases: Databases, world: World
) -> None:
    """Also not from what somebody who may see it has asked for before."""
    with databases.connect() as db:
        theirs = RestoreRequest(world.theirs["session"])
        whole = build_shared_brief(db.store, db.ledger, theirs, 1.0)
    answers = [
        held.post("/api/compact/restore", json={"session_id": one["session"]}).json()
        for one in (world.ours, world.theirs)
    ]
    assert "plum" in answers[0]["additionalContext"]
    assert SECRET in whole
    assert answers[1] == {"additionalContext": ""}


def test_agents_of_the_project_may_wait_for_each_other(held: TestClient[Any]) -> None:
    body = {"blocked_id": "agent-plum", "blocker_id": "other-plum"}
    assert held.post("/api/blocking", json=body).status_code == 201
    elsewhere = {**body, "blocker_id": f"other-{SECRET}"}
    assert held.post("/api/blocking", json=elsewhere).status_code in REFUSED


def test_an_agent_s_name_may_be_another_project_s_too(
    held: TestClient[Any], world: World, databases: Databases
) -> None:
    """What the one listens to and waits for is hidden by nobody, and shown to nobody else."""
    ours, theirs = world.ours["project"], world.theirs["project"]
    name, other = world.ours["agent"], world.ours["other"]
    with databases.connect() as db:
        for agent in (name, other):
            agents.record_agent(db.ledger, 2.0, agent_id=agent, session=SECRET, project=theirs)
        messages.subscribe(db.ledger, name, SECRET, 2.0, theirs)
        messages.block(db.ledger, name, SECRET, SECRET, 2.0, theirs)
        messages.block(db.ledger, other, name, SECRET, 2.0, theirs)
        for project in (ours, theirs):
            for topic in (SECRET, "plum"):
                messages.send(
                    db.ledger, 4e9, ident=f"{project} {topic}", from_agent_id="x", topic=topic,
                    project=project,
                )  # fmt: skip
    topics = held.get("/api/subscriptions", params={"agent_id": name}).json()["subscriptions"]
    assert [one["topic"] for one in topics] == ["plum"]
    waits = held.get(f"/api/blocking/{name}").json()["blocking"]
    assert [one["blocker_id"] for one in waits] == [other]
    heard = held.get(f"/api/messages/{name}").json()["messages"]
    assert {one["id"] for one in heard} == {world.ours["message"], f"{ours} plum"}
    assert held.post("/api/unblock", json={"blocked_id": name}).json() == {"removed": 1}
    told = {"blocked_id": name, "blocker_id": other, "reason": "again"}
    assert held.post("/api/blocking", json=told).status_code == 201, "theirs is the other way"
    asked = {"agent_id": name, "topic": SECRET}
    assert held.post("/api/unsubscribe", json=asked).json() == {"removed": False}
    with databases.connect() as db:
        kept = db.ledger.find(SUBSCRIPTIONS, project=theirs, agent_id=name)
    assert [one["topic"] for one in kept] == [SECRET]


def test_work_that_waits_for_another_project_s_goes_on(
    held: TestClient[Any], world: World, databases: Databases
) -> None:
    """Whoever may see everything has put it so; who finishes it may not see who waits."""
    with databases.connect() as db:
        task = db.ledger.require(TASKS, world.theirs["task"])
        subtask = world.ours["subtask"]
        waits = work.add_subtask(
            db.ledger, 1.0, task=task, description="waits", blocked_by=[subtask]
        )
    assert held.patch(f"/api/subtasks/{subtask}", json={"status": "completed"}).status_code == 200
    assert status_of(databases, waits) == "pending"
    assert held.patch(f"/api/subtasks/{subtask}", json={"status": "running"}).status_code == 200
    assert status_of(databases, waits) == "blocked"
    assert held.delete(f"/api/subtasks/{subtask}").status_code == 204
    assert status_of(databases, waits) == "pending"


def test_nobody_waits_for_itself_by_way_of_another_project(
    held: TestClient[Any], world: World, databases: Databases
) -> None:
    with databases.connect() as db:
        ours, theirs = (db.ledger.require(TASKS, one["task"]) for one in (world.ours, world.theirs))
        first = work.add_subtask(db.ledger, 1.0, task=ours, description="first")
        middle = work.add_subtask(
            db.ledger, 1.0, task=theirs, description="middle", blocked_by=[first["id"]]
        )
        last = work.add_subtask(
            db.ledger, 1.0, task=ours, description="last", blocked_by=[middle["id"]]
        )
    body = {"blocked_by": [last["id"]]}
    assert held.patch(f"/api/subtasks/{first['id']}", json=body).status_code == 409


def test_what_was_chosen_for_an_agent_of_no_project_can_be_seen_and_left(
    held: TestClient[Any], world: World, databases: Databases
) -> None:
    """It counts for all who have such an agent."""
    name = world.ours["agent"]
    with databases.connect() as db:
        messages.subscribe(db.ledger, name, "all", 2.0)
        messages.subscribe(db.ledger, "somebody", "else", 2.0)
    listed = held.get("/api/subscriptions").json()["subscriptions"]
    assert {one["topic"] for one in listed} == {"plum", "all"}
    asked = {"agent_id": name, "topic": "all"}
    assert held.post("/api/unsubscribe", json=asked).json() == {"removed": True}


def status_of(databases: Databases, subtask: Row) -> str:
    with databases.connect() as db:
        return str(db.ledger.require(SUBTASKS, subtask["id"])["status"])


def test_what_names_no_project_becomes_its_own(held: TestClient[Any], world: World) -> None:
    made = held.post("/api/actions", json={"tool_name": "Read", "session_id": "fresh"}).json()
    assert made["project_id"] == world.ours["project"]


def test_a_session_of_another_project_cannot_be_taken_over(
    held: TestClient[Any], world: World
) -> None:
    """Else its waves and snapshots could be read by first writing into it."""
    for path, body in (
        ("/api/agents", {"agent_id": "x"}),
        ("/api/actions", {"tool_name": "x"}),
        ("/api/messages", {"from_agent_id": "x"}),
        ("/api/requests", {"prompt": "x"}),
    ):
        answer = held.post(path, json={**body, "session_id": world.theirs["session"]})
        assert answer.status_code == 403, path


def test_a_session_that_only_the_store_knows_cannot_be_taken_over_either(
    held: TestClient[Any], databases: Databases
) -> None:
    with databases.connect() as db:
        db.store.save_session(
            session="new", host="claude-code", project=THEIRS, transcript="", cursor=None,
            state=a_state("x"), revision=0, now=1.0,
        )  # fmt: skip
    answer = held.post("/api/agents", json={"agent_id": "x", "session_id": "new"})
    assert answer.status_code == 403


def test_events_of_another_project_are_refused(held: TestClient[Any], world: World) -> None:
    """That a stream without a filter tells of none of them is tried on a real server."""
    theirs = f"project_id={world.theirs['project']}"
    answer = held.get(f"/api/events?{theirs}")
    assert answer.status_code == 403


def test_a_lookup_everywhere_is_refused_and_one_that_says_nothing_is_within_it(
    held: TestClient[Any],
) -> None:
    assert held.get("/api/recall?q=x&all_projects=true").status_code == 403
    assert held.get(f"/api/recall?q={SECRET}").json()["hits"] == []


@pytest.mark.parametrize("addressee", ["agent", "session"])
def test_nobody_of_another_project_can_be_written_to(
    held: TestClient[Any], world: World, addressee: str
) -> None:
    told = {"from_agent_id": world.ours["agent"], "payload": {"text": "do as I say"}}
    answer = held.post("/api/messages", json={**told, "to_agent_id": world.theirs[addressee]})
    assert answer.status_code == 403, answer.text
    for mine in (world.ours[addressee], "somebody-yet-to-come"):
        assert held.post("/api/messages", json={**told, "to_agent_id": mine}).status_code == 201


def test_a_call_cannot_be_hung_on_another_project_s_subtask(
    held: TestClient[Any], world: World
) -> None:
    call = {"tool_name": "Read", "subtask_id": world.theirs["subtask"]}
    assert held.post("/api/actions", json=call).status_code == 404


def test_a_session_that_another_project_has_only_saved_is_that_project_s(
    held: TestClient[Any], world: World, databases: Databases
) -> None:
    with databases.connect() as db:
        contexts.save_snapshot(db.ledger, "saved", world.theirs["project"], {"a": 1}, 1.0)
    body = {"session_id": "saved", "context_summary": "mine now"}
    assert held.post("/api/compact/save", json=body).status_code == 403
    assert held.post("/api/requests", json={**body, "prompt": "x"}).status_code == 403


def test_waves_that_count_another_project_s_tasks_are_not_shown(
    held: TestClient[Any], world: World, databases: Databases
) -> None:
    with databases.connect() as db:
        for who in (world.ours, world.theirs):
            request = work.add_request(
                db.ledger, 1.0, project=who["project"], session="both", prompt=who["project"]
            )
        for number in range(3):
            work.add_task(db.ledger, 1.0, request=request, name=f"{SECRET} {number}", wave_number=7)
    assert held.get("/api/waves/both/history").json()["waves"] == []
    told = held.post("/api/compact/restore", json={"session_id": "both"}).json()
    assert "Wave 7" not in told["additionalContext"]


def test_of_two_projects_in_one_folder_on_two_machines_each_sees_its_own(
    held: TestClient[Any], world: World, databases: Databases
) -> None:
    with databases.connect() as db:
        for name, who in (("here", world.ours), ("there", world.theirs)):
            db.store.save_session(
                session=name, host="claude-code", project=OURS, transcript="/t", cursor=None,
                state=a_state(f"work {name}"), revision=0, now=2.0,
            )  # fmt: skip
            db.store.add_snapshot(name, "auto", a_state(f"work {name}"), 2.0)
            agents.record_agent(db.ledger, 1.0, agent_id=name, session=name, project=who["project"])
    listed = [one["id"] for one in held.get("/api/sessions").json()["sessions"]]
    assert "here" in listed
    assert "there" not in listed
    assert held.get("/api/sessions/there").status_code == 404
    told = held.post("/api/compact/restore", json={"session_id": "there"}).json()
    assert told == {"additionalContext": ""}
    assert "work there" not in held.get("/api/agent-contexts").text
    assert held.get("/api/sessions/here").status_code == 200
