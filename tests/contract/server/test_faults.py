"""Writes that are too large, too deep, of the wrong kind, about nothing, or made twice at once."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from holdfast.server.app import MAX_BODY_BYTES
from holdfast.server.http_rules import MAX_NESTING, is_too_deep
from tests.cases import case
from tests.contract.server.conftest import Caller
from tests.contract.server.test_guard import is_problem

POSTGRES_IS_SLOW = True

# Every route that takes anything, with what it needs besides.
FREE: list[tuple[str, str, dict[str, Any]]] = [
    ("/api/actions", "input", {"tool_name": "x"}),
    ("/api/actions", "metadata", {"tool_name": "x"}),
    ("/api/messages", "payload", {"from_agent_id": "a"}),
    ("/api/compact/save", "key_decisions", {"session_id": "s1"}),
    ("/api/agent-contexts", "role_context", {"agent_id": "a", "agent_type": "b"}),
    ("/api/requests", "metadata", {"session_id": "s1", "prompt": "x"}),
    ("/api/projects", "metadata", {"path": "/srv/a"}),
]
UNKNOWN = [
    ("GET", "/api/projects/nobody", None),
    ("DELETE", "/api/projects/nobody", None),
    ("GET", "/api/hierarchy/nobody", None),
    ("GET", "/api/requests/nobody", None),
    ("PATCH", "/api/requests/nobody", {"status": "completed"}),
    ("DELETE", "/api/requests/nobody", None),
    ("GET", "/api/tasks/nobody", None),
    ("PATCH", "/api/tasks/nobody", {"status": "completed"}),
    ("DELETE", "/api/tasks/nobody", None),
    ("POST", "/api/tasks", {"request_id": "nobody", "name": "x"}),
    ("GET", "/api/subtasks/nobody", None),
    ("PATCH", "/api/subtasks/nobody", {"status": "completed"}),
    ("DELETE", "/api/subtasks/nobody", None),
    ("POST", "/api/subtasks", {"task_id": "nobody", "description": "x"}),
    ("DELETE", "/api/actions/nobody", None),
    ("POST", "/api/messages/nobody/read", {"agent_id": "a"}),
    ("GET", "/api/capacity/nobody", None),
    ("POST", "/api/capacity/nobody/reset", None),
    ("GET", "/api/compact/snapshot/nobody", None),
    ("GET", "/api/sessions/nobody", None),
    ("GET", "/api/compactions?session_id=nobody", None),
    ("GET", "/api/compactions/1/losses?session_id=nobody", None),
]


def nested(levels: int) -> bytes:
    return b'{"a":' * levels + b"1" + b"}" * levels


def send(api: Caller, path: str, field: str, value: bytes, besides: dict[str, Any]) -> Any:
    rest = b"".join(b'"%s":"%s",' % (k.encode(), v.encode()) for k, v in besides.items())
    body = b'{%s"%s":%s}' % (rest, field.encode(), value)
    return api.client.post(path, content=body, headers={"Content-Type": "application/json"})


def test_what_is_nested_too_deeply_is_refused_and_what_is_taken_can_be_read(api: Caller) -> None:
    for path, field, besides in FREE:
        for levels in (MAX_NESTING, 900, 5000, 100_000):
            assert is_problem(send(api, path, field, nested(levels), besides), 400), (field, levels)
        taken = send(api, path, field, nested(MAX_NESTING - 1), besides)
        assert taken.status_code in (200, 201), (path, field)
        restored = api.client.post("/api/compact/restore", json={"session_id": "s1"})
        assert restored.status_code == 200, (path, field)
        for listed in ("actions", "messages", "agent-contexts", "requests", "projects"):
            assert api.client.get(f"/api/{listed}").status_code == 200, (path, field, listed)


def test_brackets_count_where_they_nest_and_not_in_text() -> None:
    cases = [
        (b"[" * 200 + b"]" * 200, False),
        (b"[" * 201 + b"]" * 201, True),
        (b"[" + b"[]," * 1000 + b"[]]", False),
        (b'["' + b"[" * 1000 + b'"]', False),
        (b'["\\"' + b"{" * 1000 + b'"]', False),
        (b'["\\\\",' + b"[" * 200 + b"]" * 201, True),
        (b"", False),
    ]
    for body, deep in cases:
        assert is_too_deep(body) is deep, body


def test_every_body_has_the_same_limit(local: Caller) -> None:
    for path, field, besides in FREE:
        value = b'"' + b"x" * MAX_BODY_BYTES + b'"'
        assert is_problem(send(local, path, field, value, besides), 413), (path, field)


def test_a_body_of_unknown_length_has_a_limit_too(local: Caller) -> None:
    def parts() -> Iterator[bytes]:
        yield b'{"tool_name": "x", "input": "'
        for _ in range(MAX_BODY_BYTES // 65536 + 1):
            yield b"x" * 65536
        yield b'"}'

    headers = {"Content-Type": "application/json"}
    assert is_problem(local.client.post("/api/actions", content=parts(), headers=headers), 413)


def test_what_is_not_there_is_not_found(api: Caller) -> None:
    for method, path, body in UNKNOWN:
        assert is_problem(api.client.request(method, path, json=body), 404), (method, path)


@pytest.mark.parametrize(("path", "body"), [
    ("/api/projects", {"path": "/srv/a"}),
    ("/api/actions", {"tool_name": "x", "id": "a1"}),
    ("/api/actions", {"tool_name": "x", "session_id": "s1", "tool_use_id": "toolu_1"}),
    ("/api/messages", {"from_agent_id": "a", "id": "m1"}),
    ("/api/subscribe", {"agent_id": "a", "topic": "t"}),
    ("/api/blocking", {"blocked_id": "a", "blocker_id": "b"}),
    ("/api/agents", {"agent_id": "a", "session_id": "s1"}),
    ("/api/agent-contexts", {"agent_id": "a", "agent_type": "b", "session_id": "s1"}),
    ("/api/compact/save", {"session_id": "s1", "context_summary": "so far"}),
])  # fmt: skip
def test_the_same_said_many_times_at_once_is_there_once(
    api: Caller, path: str, body: dict[str, Any]
) -> None:
    made = at_once(lambda: api.client.post(path, json=body))
    assert {one.status_code for one in made} <= {200, 201}
    with api.databases.connect() as db:
        table = {
            "/api/projects": "projects", "/api/actions": "actions", "/api/messages": "messages",
            "/api/subscribe": "subscriptions", "/api/blocking": "blockings",
            "/api/agents": "agents", "/api/agent-contexts": "agent_contexts",
            "/api/compact/save": "agent_contexts",
        }[path]  # fmt: skip
        assert db.ledger.database.run(f"SELECT count(*) AS n FROM {table}")[0] == [{"n": 1}]


def test_a_subtask_that_many_finish_at_once_is_finished_and_its_wave_goes_on(api: Caller) -> None:
    request = api.post("/api/requests", session_id="s1", prompt="login")["id"]
    first, _ = (
        api.post("/api/tasks", request_id=request, name=name, wave_number=number)["id"]
        for number, name in enumerate(("schema", "routes"))
    )
    subtask = api.post("/api/subtasks", task_id=first, description="x")["id"]
    api.post("/api/waves/s1/start")
    body = {"status": "completed"}
    made = at_once(lambda: api.client.patch(f"/api/subtasks/{subtask}", json=body))
    assert {one.status_code for one in made} == {200}
    assert api.get("/api/waves/s1/current")["wave"]["wave_number"] == 1
    history = api.get("/api/waves/s1/history")["waves"]
    assert [one["status"] for one in history] == ["completed", "running"]


def test_a_cursor_that_was_made_up_is_no_bug(api: Caller) -> None:
    places = ["[1" + "0" * 400 + ',"a"]', '[1,"² a"]', '[1,"' + "9" * 20 + ' a"]', "[NaN,1]", "[]"]
    for path in ["actions", "waves/s/history", "messages/x", "agent-contexts"]:
        for place in places:
            with case(path, place):
                word = base64.urlsafe_b64encode(place.encode()).decode().rstrip("=")
                assert api.client.get(f"/api/{path}?page={word}").status_code in (200, 400)


# Numbers and truth as text, and the field that is wrong.
TEXTS: list[tuple[str, dict[str, Any], str]] = [
    ("/api/actions", {"tool_name": "x", "exit_code": "0"}, "exit_code"),
    ("/api/actions", {"tool_name": "x", "duration_ms": "5"}, "duration_ms"),
    ("/api/subtasks", {"description": "x", "priority": "5"}, "priority"),
    ("/api/messages", {"from_agent_id": "a", "ttl_ms": "5"}, "ttl_ms"),
    ("/api/compact/restore", {"session_id": "s1", "max_tokens": "2000"}, "max_tokens"),
    ("/api/waves/s1/transition", {"force": "true"}, "force"),
    ("/api/waves/s1/create", {"wave_number": "1"}, "wave_number"),
    ("/api/tokens/track", {"agent_id": "a", "input_tokens": "9"}, "input_tokens"),
    ("/api/recall", {"query": "x", "all_projects": "true"}, "all_projects"),
    ("/api/compact/save", {"session_id": 5}, "session_id"),
]


def test_a_text_in_a_body_is_no_number_and_not_true(local: Caller) -> None:
    for path, body, field in TEXTS:
        answer = local.client.post(path, json=body)
        assert is_problem(answer, 400), (path, body)
        assert field in answer.json()["detail"], (path, body)


def test_in_a_query_everything_is_text(local: Caller) -> None:
    assert local.get("/api/messages/a", unread="false", limit="5")["messages"] == []


@pytest.mark.parametrize("number", ["-1", "10001", "9" * 20])
def test_a_wave_that_cannot_be_is_refused(api: Caller, number: str) -> None:
    assert api.client.get(f"/api/tasks?wave_number={number}").status_code == 400


def test_a_message_s_id_does_not_become_another_message_s(api: Caller) -> None:
    told = {"id": "m1", "from_agent_id": "a", "payload": "first"}
    api.post("/api/messages", to_agent_id="x", **told)
    api.post("/api/messages", 409, to_agent_id="y", **told)
    api.post("/api/messages", to_agent_id="x", **told)
    assert [one["payload"] for one in api.get("/api/messages/x")["messages"]] == ["first"]
    assert api.get("/api/messages/y")["messages"] == []


def test_who_deletes_the_same_as_others_finds_it_deleted(api: Caller) -> None:
    made = api.post("/api/actions", tool_name="Read")["id"]
    answers = at_once(lambda: api.client.delete(f"/api/actions/{made}"))
    assert {one.status_code for one in answers} == {204, 404}


def at_once(call: Callable[[], Any]) -> list[Any]:
    with ThreadPoolExecutor(8) as callers:
        return [one.result() for one in [callers.submit(call) for _ in range(16)]]
