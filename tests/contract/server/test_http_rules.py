"""What the server checks in every request, whatever its route, and how it refuses one."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from litestar.testing import TestClient

from holdfast.errors import StoreUnavailable
from holdfast.ledger.schema import ACTIONS
from holdfast.server.app import MAX_BODY_BYTES, create_app
from holdfast.server.auth import accept_all
from holdfast.server.databases import Databases
from tests.contract.server.conftest import BASE_URL, ApiClient, is_problem

POSTGRES_IS_SLOW = True

ACTION = {"tool_name": "Read"}


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "10.0.0.1:3847"])
def test_a_request_with_an_unknown_host_name_is_refused(sqlite_api: ApiClient, host: str) -> None:
    assert is_problem(sqlite_api.client.get("/health", headers={"Host": host}), 421)


@pytest.mark.parametrize("host", ["localhost:80@evil.example", "[::1].evil.example", "localhost:x"])
def test_a_host_header_that_only_starts_like_an_allowed_name_is_refused(
    sqlite_api: ApiClient, host: str
) -> None:
    assert is_problem(sqlite_api.client.get("/health", headers={"Host": host}), 421)


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:3847", "127.0.0.1:1", "[::1]:3847"])
def test_loopback_host_names_are_accepted(sqlite_api: ApiClient, host: str) -> None:
    assert sqlite_api.client.get("/health", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("headers", [
    {"Origin": "http://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://127.0.0.1:9999"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
])  # fmt: skip
def test_requests_from_pages_of_other_sites_are_refused(
    sqlite_api: ApiClient, headers: dict[str, str]
) -> None:
    assert is_problem(sqlite_api.client.post("/api/actions", json=ACTION, headers=headers), 403)
    assert is_problem(sqlite_api.client.get("/api/actions", headers=headers), 403)
    assert sqlite_api.get("/api/actions")["actions"] == []


def test_the_web_page_may_call_the_api_without_cors_headers(sqlite_api: ApiClient) -> None:
    cookie = sqlite_api.client.post("/docs/session").headers["set-cookie"].partition(";")[0]
    sqlite_api.client.cookies.clear()
    headers = {"Origin": BASE_URL, "Sec-Fetch-Site": "same-origin", "Cookie": cookie}
    response = sqlite_api.client.post("/api/actions", json=ACTION, headers=headers)
    assert response.status_code == 201
    assert "access-control-allow-origin" not in response.headers


def test_the_web_page_loads_nothing_from_other_sites(sqlite_api: ApiClient) -> None:
    page = sqlite_api.client.get("/docs")
    assert page.status_code == 200
    assert "default-src 'self'" in page.headers["content-security-policy"]
    for name in ("/docs/page.js", "/docs/page.css"):
        assert name in page.text
        assert sqlite_api.client.get(name).status_code == 200
    assert "http://" not in page.text
    assert "https://" not in page.text


@pytest.mark.parametrize("name", [b"host", b"Origin", b"content-type", b"Authorization"])
def test_duplicate_security_headers_are_refused(databases: Databases, name: bytes) -> None:
    app, *_ = create_app(databases, identify=accept_all)
    sent: list[Any] = []
    valid = [(b"host", b"127.0.0.1:3847"), (b"content-type", b"application/json")]
    headers = [*valid, (name, b"evil.example"), (name, b"x")]
    scope = {
        "type": "http", "method": "POST", "path": "/api/actions", "query_string": b"",
        "headers": headers,
    }  # fmt: skip

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request", "body": b'{"tool_name":"x"}', "more_body": False}

    asyncio.run(app(scope, receive, send))  # type: ignore[arg-type]
    assert sent[0]["status"] == 400
    with databases.connect() as db:
        assert db.ledger.find(ACTIONS) == []


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_a_body_that_is_not_declared_as_json_is_refused(
    sqlite_api: ApiClient, content_type: str
) -> None:
    """A form on another site can send these content types without a CORS preflight."""
    headers = {"Content-Type": content_type} if content_type else {}
    body = json.dumps(ACTION).encode()
    response = sqlite_api.client.post("/api/actions", content=body, headers=headers)
    assert is_problem(response, 415)


def test_an_invalid_body_is_a_bad_request(sqlite_api: ApiClient) -> None:
    cases = [
        b"",
        b"{",
        b"[]",
        b"null",
        b"7",
        b'{"tool_name": 7}',
        b'{"tool_name": null}',
        b"{}",
        b'{"tool_name": ""}',
        b'{"tool_name": "x", "file_paths": "no list"}',
        b'{"tool_name": "x", "exit_code": 1e400}',
        b'{"tool_name": "x", "exit_code": 1' + b"0" * 30 + b"}",
        b'{"tool_name": "x", "metadata": []}',
        b'{"tool_name": "' + b"x" * 501 + b'"}',
        b"[" * 100_000,
        b'{"tool_name": "x", "input": ' + b"[" * 100_000,
        b"\xff\xfe",
        b'{"tool_name": "x", "input": NaN}',
        b'{"tool_name": "x", "input": "\xff"}',
    ]
    for body in cases:
        response = sqlite_api.client.post(
            "/api/actions", content=body, headers={"Content-Type": "application/json"}
        )
        assert is_problem(response, 400), body
        assert "'data'" not in response.text, body  # an internal parameter name
        assert sqlite_api.get("/api/actions")["actions"] == [], body


def test_a_body_over_the_size_limit_is_refused(sqlite_api: ApiClient) -> None:
    body = b'{"tool_name": "x", "input": "' + b"x" * MAX_BODY_BYTES + b'"}'
    response = sqlite_api.client.post(
        "/api/actions", content=body, headers={"Content-Type": "application/json"}
    )
    assert is_problem(response, 413)


def test_unusual_but_valid_json_is_stored_unchanged(api: ApiClient) -> None:
    value = {"nul": "a\0b", "text": "日本語 \U0001f9ed", "deep": [[[[{"x": None}]]]]}
    action = api.post("/api/actions", tool_name="Bash", input=value, output="x" * 100_000)
    assert action["input"] == value
    assert api.get("/api/actions")["actions"][0]["input"] == value


@pytest.mark.parametrize("path", [
    "/api/actions?limit=0", "/api/actions?limit=1001", "/api/actions?limit=x",
    "/api/actions?page=!", "/api/projects/by-path", "/api/compactions",
])  # fmt: skip
def test_an_invalid_or_missing_query_parameter_is_a_bad_request(
    sqlite_api: ApiClient, path: str
) -> None:
    assert is_problem(sqlite_api.client.get(path), 400)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/api/actions?session=s1", "session_id"),
        ("/api/agent-contexts?type=compact-snapshot", "agent_type"),
        ("/api/recall?q=x&kinds=tool", "kind"),
        ("/api/blocking/check?blocked_id=x&blocker=y", "blocker_id"),
    ],
)
def test_an_unknown_query_parameter_is_refused_and_the_known_ones_are_listed(
    sqlite_api: ApiClient, path: str, expected: str
) -> None:
    response = sqlite_api.client.get(path)
    assert is_problem(response, 400)
    unknown = path.rpartition("=")[0].rpartition("?")[2].rpartition("&")[2]
    assert response.json()["detail"] == f"Unknown query parameter: `{unknown}`"
    assert expected in response.json()["hint"].partition(": ")[2].split(", ")


def test_static_pages_and_the_health_check_ignore_query_parameters(sqlite_api: ApiClient) -> None:
    for path in ("/health", "/docs", "/openapi/openapi.json"):
        assert sqlite_api.client.get(f"{path}?now=1").status_code == 200


def test_unknown_paths_and_methods_are_answered_with_problem_documents(
    sqlite_api: ApiClient,
) -> None:
    assert is_problem(sqlite_api.client.get("/api/nothing"), 404)
    refused = sqlite_api.client.put("/api/actions", json=ACTION)
    assert is_problem(refused, 405)
    assert refused.headers["allow"] == "GET, HEAD, OPTIONS, POST"


@pytest.mark.parametrize(
    "path", ["/openapi/nothing", "/openapi/x.json", "/openapi/a/b", "/nothing"]
)
def test_an_unknown_path_is_not_found(sqlite_api: ApiClient, path: str) -> None:
    assert is_problem(sqlite_api.client.get(path), 404)


def test_an_id_in_a_path_may_contain_encoded_slashes(api: ApiClient) -> None:
    api.post("/api/agents", agent_id="/root/a b", session_id="team/s1")
    api.post("/api/messages", from_agent_id="a", to_agent_id="/root/a b", topic="x")
    api.post("/api/compact/save", session_id="team/s1", context_summary="x")
    (message,) = api.client.get("/api/messages/%2Froot%2fa%20b").json()["messages"]
    assert message["topic"] == "x"
    agent = api.client.get("/api/capacity/%2Froot%2Fa%20b").json()
    assert agent["agent_id"] == "/root/a b"
    assert api.client.get("/api/compact/status/team%2Fs1").json()["has_snapshot"]
    assert api.client.get("/api/messages/root/x").status_code == 404
    assert api.client.delete("/api/requests/..%2F..%2Fetc").status_code == 404


@pytest.mark.parametrize("path", [
    "/docs/../../etc/passwd", "/docs/%2e%2e/%2e%2e/etc/passwd", "/api/projects/..%2f..%2fetc",
    "/api/compact/snapshot/..%2f..%2fetc%2fpasswd",
])  # fmt: skip
def test_a_request_path_never_reaches_the_file_system(sqlite_api: ApiClient, path: str) -> None:
    response = sqlite_api.client.get(path)
    assert response.status_code in (404, 400)
    assert "root:" not in response.text


def test_options_and_405_list_the_methods_of_the_path(sqlite_api: ApiClient) -> None:
    allow = {
        path: sqlite_api.client.put(path, json={}).headers["allow"]
        for path in ("/api/projects/by-path", "/api/projects/x", "/api/events", "/health")
    }
    responses = {path: sqlite_api.client.options(path) for path in allow}
    assert {path: response.headers["allow"] for path, response in responses.items()} == allow
    assert {response.status_code for response in responses.values()} == {204}
    assert allow == {
        "/api/projects/by-path": "GET, HEAD, OPTIONS",
        "/api/projects/x": "DELETE, GET, HEAD, OPTIONS",
        "/api/events": "GET, OPTIONS",
        "/health": "GET, HEAD, OPTIONS",
    }


@pytest.mark.parametrize("path", ["/health", "/stats", "/docs", "/api/actions", "/api/tasks/x"])
def test_head_returns_the_headers_of_get_without_a_body(sqlite_api: ApiClient, path: str) -> None:
    get, head = sqlite_api.client.get(path), sqlite_api.client.head(path)
    assert (head.status_code, head.content) == (get.status_code, b"")
    assert head.headers["content-length"] == get.headers["content-length"]


def test_head_is_not_allowed_for_the_event_stream(sqlite_api: ApiClient) -> None:
    assert sqlite_api.client.head("/api/events").status_code == 405


def test_large_responses_are_compressed_if_the_client_accepts_gzip(sqlite_api: ApiClient) -> None:
    sqlite_api.post("/api/actions", tool_name="x", output="y" * 5000)
    for accepted, encoding in (
        ("gzip", "gzip"),
        ("gzip;q=0", None),
        ("identity, gzip;q=0.0", None),
    ):
        response = sqlite_api.client.get("/api/actions", headers={"Accept-Encoding": accepted})
        assert response.headers.get("content-encoding") == encoding, accepted


class UnavailableDatabases(Databases):
    """Databases that cannot be reached."""

    label = "unavailable"

    def connect(self) -> Any:
        raise StoreUnavailable("it is being restarted")

    def open_index(self, db: Any) -> Any:
        raise StoreUnavailable("it is being restarted")


def test_an_unavailable_store_is_answered_with_503_and_retry_after() -> None:
    app, *_ = create_app(UnavailableDatabases(), identify=accept_all)
    with TestClient(app, base_url=BASE_URL) as client:  # type: ignore[arg-type]
        response = client.post("/api/actions", json=ACTION)
        assert is_problem(response, 503)
        assert response.headers["retry-after"] == "2"
        with_token = client.get("/api/actions", headers={"Authorization": "Bearer hft_x"})
        assert is_problem(with_token, 503)
        assert with_token.json()["hint"] == response.json()["hint"], (
            "the token check reports the same problem as the route"
        )
        assert is_problem(client.get("/health"), 503)
        assert is_problem(client.get("/api/events"), 503)
