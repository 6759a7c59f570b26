"""Requests that are too large, too deep, of the wrong type, for unknown ids, or concurrent."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from holdfast.server.app import MAX_BODY_BYTES
from holdfast.server.http_rules import MAX_NESTING, is_too_deep
from tests.cases import report_case
from tests.contract.server.conftest import ApiClient, is_problem

POSTGRES_IS_SLOW = True

# Path, a field that takes any JSON, and the other fields that the route requires.
FREE_FORM_FIELDS: list[tuple[str, str, dict[str, Any]]] = [
    ("/api/actions", "input", {"tool_name": "x"}),
    ("/api/actions", "metadata", {"tool_name": "x"}),
    ("/api/messages", "payload", {"from_agent_id": "a"}),
    ("/api/compact/save", "key_decisions", {"session_id": "s1"}),
    ("/api/agent-contexts", "role_context", {"agent_id": "a", "agent_type": "b"}),
    ("/api/requests", "metadata", {"session_id": "s1", "prompt": "x"}),
    ("/api/projects", "metadata", {"path": "/srv/a"}),
]
UNKNOWN_IDS = [
    ("GET", "/api/projects/unknown", None),
    ("DELETE", "/api/projects/unknown", None),
    ("GET", "/api/hierarchy/unknown", None),
    ("GET", "/api/requests/unknown", None),
    ("PATCH", "/api/requests/unknown", {"status": "completed"}),
    ("DELETE", "/api/requests/unknown", None),
    ("GET", "/api/tasks/unknown", None),
    ("PATCH", "/api/tasks/unknown", {"status": "completed"}),
    ("DELETE", "/api/tasks/unknown", None),
    ("POST", "/api/tasks", {"request_id": "unknown", "name": "x"}),
    ("GET", "/api/subtasks/unknown", None),
    ("PATCH", "/api/subtasks/unknown", {"status": "completed"}),
    ("DELETE", "/api/subtasks/unknown", None),
    ("POST", "/api/subtasks", {"task_id": "unknown", "description": "x"}),
    ("DELETE", "/api/actions/unknown", None),
    ("POST", "/api/messages/unknown/read", {"agent_id": "a"}),
    ("GET", "/api/capacity/unknown", None),
    ("POST", "/api/capacity/unknown/reset", None),
    ("GET", "/api/compact/snapshot/unknown", None),
    ("GET", "/api/sessions/unknown", None),
    ("GET", "/api/compactions?session_id=unknown", None),
    ("GET", "/api/compactions/1/losses?session_id=unknown", None),
]


def make_nested_json(levels: int) -> bytes:
    return b'{"a":' * levels + b"1" + b"}" * levels


def post_field(
    api: ApiClient, path: str, field: str, value: bytes, other_fields: dict[str, Any]
) -> Any:
    encoded_fields = b"".join(
        b'"%s":"%s",' % (name.encode(), text.encode()) for name, text in other_fields.items()
    )
    body = b'{%s"%s":%s}' % (encoded_fields, field.encode(), value)
    return api.client.post(path, content=body, headers={"Content-Type": "application/json"})


def test_json_that_is_nested_too_deeply_is_refused_before_it_is_stored(api: ApiClient) -> None:
    for path, field, other_fields in FREE_FORM_FIELDS:
        for levels in (MAX_NESTING, 900, 5000, 100_000):
            refused = post_field(api, path, field, make_nested_json(levels), other_fields)
            assert is_problem(refused, 400), (field, levels)
        accepted = post_field(api, path, field, make_nested_json(MAX_NESTING - 1), other_fields)
        assert accepted.status_code in (200, 201), (path, field)
        restored = api.client.post("/api/compact/restore", json={"session_id": "s1"})
        assert restored.status_code == 200, (path, field)
        for kind in ("actions", "messages", "agent-contexts", "requests", "projects"):
            assert api.client.get(f"/api/{kind}").status_code == 200, (path, field, kind)


def test_nesting_counts_open_brackets_outside_of_strings() -> None:
    cases = [
        (b"[" * 200 + b"]" * 200, False),
        (b"[" * 201 + b"]" * 201, True),
        (b"[" + b"[]," * 1000 + b"[]]", False),
        (b'["' + b"[" * 1000 + b'"]', False),
        (b'["\\"' + b"{" * 1000 + b'"]', False),
        (b'["\\\\",' + b"[" * 200 + b"]" * 201, True),
        (b"", False),
    ]
    for body, is_deep in cases:
        assert is_too_deep(body) is is_deep, body


def test_every_route_limits_the_size_of_the_body(sqlite_api: ApiClient) -> None:
    for path, field, other_fields in FREE_FORM_FIELDS:
        value = b'"' + b"x" * MAX_BODY_BYTES + b'"'
        response = post_field(sqlite_api, path, field, value, other_fields)
        assert is_problem(response, 413), (path, field)


def test_the_size_limit_applies_to_a_chunked_body(sqlite_api: ApiClient) -> None:
    def chunks() -> Iterator[bytes]:
        yield b'{"tool_name": "x", "input": "'
        for _ in range(MAX_BODY_BYTES // 65536 + 1):
            yield b"x" * 65536
        yield b'"}'

    headers = {"Content-Type": "application/json"}
    response = sqlite_api.client.post("/api/actions", content=chunks(), headers=headers)
    assert is_problem(response, 413)


def test_unknown_ids_are_not_found(api: ApiClient) -> None:
    for method, path, body in UNKNOWN_IDS:
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
def test_identical_concurrent_requests_create_one_row(
    api: ApiClient, path: str, body: dict[str, Any]
) -> None:
    responses = call_concurrently(lambda: api.client.post(path, json=body))
    assert {response.status_code for response in responses} <= {200, 201}
    with api.databases.connect() as db:
        table = {
            "/api/projects": "projects", "/api/actions": "actions", "/api/messages": "messages",
            "/api/subscribe": "subscriptions", "/api/blocking": "blockings",
            "/api/agents": "agents", "/api/agent-contexts": "agent_contexts",
            "/api/compact/save": "agent_contexts",
        }[path]  # fmt: skip
        assert db.ledger.database.run(f"SELECT count(*) AS n FROM {table}")[0] == [{"n": 1}]


def test_concurrent_completions_of_a_subtask_advance_the_wave_once(api: ApiClient) -> None:
    request = api.post("/api/requests", session_id="s1", prompt="login")["id"]
    first, _ = (
        api.post("/api/tasks", request_id=request, name=name, wave_number=number)["id"]
        for number, name in enumerate(("schema", "routes"))
    )
    subtask = api.post("/api/subtasks", task_id=first, description="x")["id"]
    api.post("/api/waves/s1/start")
    body = {"status": "completed"}
    responses = call_concurrently(lambda: api.client.patch(f"/api/subtasks/{subtask}", json=body))
    assert {response.status_code for response in responses} == {200}
    assert api.get("/api/waves/s1/current")["wave"]["wave_number"] == 1
    history = api.get("/api/waves/s1/history")["waves"]
    assert [wave["status"] for wave in history] == ["completed", "running"]


def test_an_invented_cursor_causes_no_server_error(api: ApiClient) -> None:
    positions = [
        "[1" + "0" * 400 + ',"a"]',
        '[1,"² a"]',
        '[1,"' + "9" * 20 + ' a"]',
        "[NaN,1]",
        "[]",
    ]
    for path in ["actions", "waves/s/history", "messages/x", "agent-contexts"]:
        for position in positions:
            with report_case(path, position):
                cursor = base64.urlsafe_b64encode(position.encode()).decode().rstrip("=")
                assert api.client.get(f"/api/{path}?page={cursor}").status_code in (200, 400)


# Path, body, and the field whose type is wrong.
WRONG_TYPES: list[tuple[str, dict[str, Any], str]] = [
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


def test_the_error_for_a_value_of_the_wrong_type_names_its_field(sqlite_api: ApiClient) -> None:
    for path, body, field in WRONG_TYPES:
        response = sqlite_api.client.post(path, json=body)
        assert is_problem(response, 400), (path, body)
        assert field in response.json()["detail"], (path, body)


def test_query_parameters_are_parsed_from_text(sqlite_api: ApiClient) -> None:
    assert sqlite_api.get("/api/messages/a", unread="false", limit="5")["messages"] == []


@pytest.mark.parametrize("number", ["-1", "10001", "9" * 20])
def test_a_wave_number_out_of_range_is_refused(api: ApiClient, number: str) -> None:
    assert api.client.get(f"/api/tasks?wave_number={number}").status_code == 400


def test_the_id_of_a_message_cannot_be_reused_for_another_recipient(api: ApiClient) -> None:
    message = {"id": "m1", "from_agent_id": "a", "payload": "first"}
    api.post("/api/messages", to_agent_id="x", **message)
    api.post("/api/messages", 409, to_agent_id="y", **message)
    api.post("/api/messages", to_agent_id="x", **message)
    assert [row["payload"] for row in api.get("/api/messages/x")["messages"]] == ["first"]
    assert api.get("/api/messages/y")["messages"] == []


def test_a_row_that_was_deleted_concurrently_is_not_found(api: ApiClient) -> None:
    action = api.post("/api/actions", tool_name="Read")["id"]
    responses = call_concurrently(lambda: api.client.delete(f"/api/actions/{action}"))
    assert {response.status_code for response in responses} == {204, 404}


def call_concurrently(call: Callable[[], Any]) -> list[Any]:
    """The results of 16 calls in 8 threads."""
    with ThreadPoolExecutor(8) as pool:
        return [future.result() for future in [pool.submit(call) for _ in range(16)]]
