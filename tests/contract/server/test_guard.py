"""What a server on this machine must not let through, and how it says so."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

import pytest
from litestar.testing import TestClient

from holdfast.errors import StoreUnavailable
from holdfast.ledger import tokens
from holdfast.ledger.schema import ACTIONS
from holdfast.server.app import MAX_BODY_BYTES, create_app
from holdfast.server.databases import Databases
from tests.contract.server.conftest import HERE, Caller

POSTGRES_IS_SLOW = True

ACTION = {"tool_name": "Read"}
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def is_problem(answer: Any, status: int) -> bool:
    told = answer.json()
    kind = answer.headers["content-type"].partition(";")[0]
    return bool(
        answer.status_code == status == told["status"]
        and kind == "application/problem+json"
        and told["title"]
        and told["detail"]
    )


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "10.0.0.1:3847"])
def test_a_name_that_is_not_ours_is_refused(local: Caller, host: str) -> None:
    assert is_problem(local.client.get("/health", headers={"Host": host}), 421)


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:3847", "127.0.0.1:1", "[::1]:3847"])
def test_every_name_of_this_machine_is_ours(local: Caller, host: str) -> None:
    assert local.client.get("/health", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("headers", [
    {"Origin": "http://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://127.0.0.1:9999"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
])  # fmt: skip
def test_another_site_s_page_is_refused(local: Caller, headers: dict[str, str]) -> None:
    assert is_problem(local.client.post("/api/actions", json=ACTION, headers=headers), 403)
    assert is_problem(local.client.get("/api/actions", headers=headers), 403)
    assert local.get("/api/actions")["actions"] == []


def test_our_own_page_is_answered_and_no_other_is_invited(local: Caller) -> None:
    cookie = local.client.get("/docs").headers["set-cookie"].partition(";")[0]
    local.client.cookies.clear()
    own = {"Origin": HERE, "Sec-Fetch-Site": "same-origin", "Cookie": cookie}
    answer = local.client.post("/api/actions", json=ACTION, headers=own)
    assert answer.status_code == 201
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_only_json_is_taken(local: Caller, kind: str) -> None:
    """A form of another site's could send the others without asking."""
    headers = {"Content-Type": kind} if kind else {}
    body = json.dumps(ACTION).encode()
    answer = local.client.post("/api/actions", content=body, headers=headers)
    assert is_problem(answer, 415)


def test_what_cannot_be_understood_is_the_caller_s_error(local: Caller) -> None:
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
        answer = local.client.post(
            "/api/actions", content=body, headers={"Content-Type": "application/json"}
        )
        assert is_problem(answer, 400), body
        assert "'data'" not in answer.text, body  # that is nobody's field
        assert local.get("/api/actions")["actions"] == [], body


@pytest.mark.parametrize("path", [
    "/api/actions?limit=0", "/api/actions?limit=1001", "/api/actions?limit=x",
    "/api/actions?page=!", "/api/projects/by-path", "/api/compactions",
])  # fmt: skip
def test_a_parameter_out_of_bounds_is_named(local: Caller, path: str) -> None:
    assert is_problem(local.client.get(path), 400)


def test_a_body_has_a_limit(local: Caller) -> None:
    body = b'{"tool_name": "x", "input": "' + b"x" * MAX_BODY_BYTES + b'"}'
    answer = local.client.post(
        "/api/actions", content=body, headers={"Content-Type": "application/json"}
    )
    assert is_problem(answer, 413)


def test_odd_but_valid_input_is_kept_as_it_is(api: Caller) -> None:
    given = {"nul": "a\0b", "text": "日本語 \U0001f9ed", "deep": [[[[{"x": None}]]]]}
    made = api.post("/api/actions", tool_name="Bash", input=given, output="x" * 100_000)
    assert made["input"] == given
    assert api.get("/api/actions")["actions"][0]["input"] == given


def test_secrets_in_what_callers_send_are_not_kept(api: Caller) -> None:
    api.post("/api/actions", tool_name="Bash", input={"command": f"export GH_TOKEN={TOKEN}"})
    api.post("/api/compact/save", session_id="s1", context_summary=f"use {TOKEN}")
    assert TOKEN not in str(api.get("/api/actions"))
    told = api.post("/api/compact/restore", session_id="s1")["additionalContext"]
    assert "[redacted" in told
    assert TOKEN not in told


def test_nothing_here_and_not_with_this_method_are_problems_too(local: Caller) -> None:
    assert is_problem(local.client.get("/api/nothing"), 404)
    refused = local.client.put("/api/actions", json=ACTION)
    assert is_problem(refused, 405)
    assert refused.headers["allow"] == "GET, HEAD, OPTIONS, POST"


def test_what_can_be_asked_is_told_of_the_path_itself(local: Caller) -> None:
    allow = {
        path: local.client.put(path, json={}).headers["allow"]
        for path in ("/api/projects/by-path", "/api/projects/x", "/api/events", "/health")
    }
    asked = {path: local.client.options(path) for path in allow}
    assert {path: answer.headers["allow"] for path, answer in asked.items()} == allow
    assert {answer.status_code for answer in asked.values()} == {204}
    assert allow == {
        "/api/projects/by-path": "GET, HEAD, OPTIONS",
        "/api/projects/x": "DELETE, GET, HEAD, OPTIONS",
        "/api/events": "GET, OPTIONS",
        "/health": "GET, HEAD, OPTIONS",
    }


@pytest.mark.parametrize("path", ["/health", "/stats", "/docs", "/api/actions", "/api/tasks/x"])
def test_a_head_is_a_get_without_its_body(local: Caller, path: str) -> None:
    get, head = local.client.get(path), local.client.head(path)
    assert (head.status_code, head.content) == (get.status_code, b"")
    assert head.headers["content-length"] == get.headers["content-length"]


def test_a_stream_has_no_head(local: Caller) -> None:
    assert local.client.head("/api/events").status_code == 405


@pytest.mark.parametrize("path", [
    "/docs/../../etc/passwd", "/docs/%2e%2e/%2e%2e/etc/passwd", "/api/projects/..%2f..%2fetc",
    "/api/compact/snapshot/..%2f..%2fetc%2fpasswd",
])  # fmt: skip
def test_a_path_never_reaches_the_file_system(local: Caller, path: str) -> None:
    answer = local.client.get(path)
    assert answer.status_code in (404, 400)
    assert "root:" not in answer.text


class Broken(Databases):
    label = "nowhere"

    def connect(self) -> Any:
        raise StoreUnavailable("it is away")

    def index(self, db: Any) -> Any:
        raise StoreUnavailable("it is away")


def test_a_store_that_is_away_is_said_to_come_back() -> None:
    app, *_ = create_app(Broken())
    with TestClient(app, base_url=HERE) as client:  # type: ignore[arg-type]
        answer = client.post("/api/actions", json=ACTION)
        assert is_problem(answer, 503)
        assert answer.headers["retry-after"] == "2"
        asked = client.get("/api/actions", headers={"Authorization": "Bearer hft_x"})
        assert is_problem(asked, 503)
        assert asked.json()["hint"] == answer.json()["hint"], "who asks for a token says the same"
        assert is_problem(client.get("/health"), 503)
        assert is_problem(client.get("/api/events"), 503)


# Tokens


@pytest.fixture
def far(databases: Databases) -> Any:
    """The server as it is from another machine."""
    app, *_ = create_app(databases, hosts=("holdfast.example",), token_needed=True)
    with TestClient(app, base_url="http://holdfast.example") as client:  # type: ignore[arg-type]
        yield client


def made(databases: Databases, scope: str, **more: Any) -> dict[str, str]:
    with databases.connect() as db:
        _, token = tokens.create_token(db.ledger, 1.0, name="ci", scope=scope, **more)
    return {"Authorization": f"Bearer {token}"}


def test_from_elsewhere_a_token_is_needed(databases: Databases, far: Any) -> None:
    answer = far.get("/api/actions")
    assert is_problem(answer, 401)
    assert answer.headers["www-authenticate"] == "Bearer"
    assert far.get("/health").status_code == 200
    for wrong in ("Bearer nonsense", "Bearer ", "Basic abc"):
        assert is_problem(far.get("/api/actions", headers={"Authorization": wrong}), 401)
    assert far.get("/api/actions", headers=made(databases, "read")).status_code == 200


def test_a_token_allows_what_its_scope_says(databases: Databases, far: Any) -> None:
    reader, writer, admin = (made(databases, scope) for scope in tokens.SCOPES)
    assert is_problem(far.post("/api/actions", json=ACTION, headers=reader), 403)
    told = {"session_id": "s1"}
    assert far.post("/api/compact/restore", json=told, headers=reader).status_code == 200
    assert far.get("/api/messages/a?limit=3", headers=reader).status_code == 200
    assert is_problem(far.get("/api/messages/a?mark_read=true", headers=reader), 403)
    assert is_problem(far.get("/api/messages/a?mark%5Fread=true", headers=reader), 403)
    assert far.get("/api/messages/a?mark_read=true", headers=writer).status_code == 200
    assert far.post("/api/actions", json=ACTION, headers=writer).status_code == 201
    project = far.post("/api/projects", json={"path": "/a"}, headers=writer).json()
    address = f"/api/projects/{project['id']}"
    assert is_problem(far.delete(address, headers=writer), 403)
    assert far.delete(address, headers=admin).status_code == 204


def test_an_expired_token_is_none(databases: Databases, far: Any) -> None:
    assert is_problem(far.get("/api/actions", headers=made(databases, "read", seconds=10.0)), 401)


@pytest.fixture
def stopped_clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The rate limit's clock, in seconds: it counts within whole ones."""
    clock = [1000.0]
    monkeypatch.setattr("litestar.middleware.rate_limit.time", lambda: clock[0])
    return clock


def test_a_token_that_asks_too_often_is_told_to_wait(
    databases: Databases, stopped_clock: list[float]
) -> None:
    app, _ = create_app(databases, rate=3)
    one, two = made(databases, "read"), made(databases, "read")
    with TestClient(app, base_url=HERE) as client:  # type: ignore[arg-type]
        seen = [client.get("/stats", headers=one).status_code for _ in range(5)]
        assert seen == [200, 200, 200, 429, 429]
        assert client.get("/stats", headers=two).status_code == 200, "each token has its own limit"
        refused = client.get("/stats", headers=one)
        assert is_problem(refused, 429)
        assert refused.headers["retry-after"] == "2"
        stopped_clock[0] += 2
        assert client.get("/stats", headers=one).status_code == 200
        seen = [client.get("/stats").status_code for _ in range(5)]
        assert seen == [200] * 5, "without a token there is no limit"


def test_on_this_machine_a_wrong_token_is_still_wrong(local: Caller) -> None:
    answer = local.client.get("/api/actions", headers={"Authorization": "Bearer nonsense"})
    assert is_problem(answer, 401)


# The page


def test_the_page_and_all_it_loads_come_from_here(local: Caller) -> None:
    page = local.client.get("/docs")
    assert page.status_code == 200
    assert "default-src 'self'" in page.headers["content-security-policy"]
    for name in ("/docs/page.js", "/docs/page.css"):
        assert name in page.text
        assert local.client.get(name).status_code == 200
    assert "http://" not in page.text
    assert "https://" not in page.text


def test_every_request_is_described(local: Caller) -> None:
    told = local.client.get("/openapi/openapi.json").json()
    paths = told["paths"]
    assert "/api/compact/restore" in paths
    assert {"get", "post"} <= set(paths["/api/actions"])
    assert "NewAction" in str(told["components"]["schemas"])
    assert "databases" not in str(paths["/api/actions"]), "what is ours alone is not described"


def test_every_answer_is_described_by_its_fields(local: Caller) -> None:
    schema = local.client.get("/openapi/openapi.json").json()
    undescribed = set()
    for path, operations in schema["paths"].items():
        for method, operation in operations.items():
            (good,) = (one for code, one in operation["responses"].items() if code.startswith("2"))
            content = good.get("content", {}).get("application/json")
            if content is None or "$ref" not in content["schema"]:
                undescribed.add(f"{method.upper()} {path}")
                continue
            name = content["schema"]["$ref"].rpartition("/")[2]
            assert schema["components"]["schemas"][name]["properties"]
    # A stream, a count for each table, and requests that answer nothing.
    deletes = {name for name in undescribed if name.startswith("DELETE ")}
    assert undescribed == {"GET /api/events", "GET /stats", *deletes}
    assert all("204" in schema["paths"][name.split()[1]]["delete"]["responses"] for name in deletes)


def test_how_to_send_a_token_is_described(local: Caller) -> None:
    told = local.client.get("/openapi/openapi.json").json()
    assert told["components"]["securitySchemes"]["bearer"]["scheme"] == "bearer"
    assert told["security"] == [{"bearer": []}, {}], "on this machine nobody needs one"
    assert told["paths"]["/health"]["get"]["security"] == [{}]


def test_large_answers_are_packed(local: Caller) -> None:
    local.post("/api/actions", tool_name="x", output="y" * 5000)
    for wanted, told in (("gzip", "gzip"), ("gzip;q=0", None), ("identity, gzip;q=0.0", None)):
        answer = local.client.get("/api/actions", headers={"Accept-Encoding": wanted})
        assert answer.headers.get("content-encoding") == told, wanted


@pytest.mark.parametrize(
    ("path", "known"),
    [
        ("/api/actions?session=s1", "session_id"),
        ("/api/agent-contexts?type=compact-snapshot", "agent_type"),
        ("/api/recall?q=x&kinds=tool", "kind"),
        ("/api/blocking/check?blocked_id=x&blocker=y", "blocker_id"),
    ],
)
def test_a_filter_that_nobody_knows_does_not_show_everything(
    local: Caller, path: str, known: str
) -> None:
    answer = local.client.get(path)
    assert is_problem(answer, 400)
    unknown = path.rpartition("=")[0].rpartition("?")[2].rpartition("&")[2]
    assert answer.json()["detail"] == f"Unknown query parameter: `{unknown}`"
    assert known in answer.json()["hint"].partition(": ")[2].split(", ")


def test_pages_and_checks_may_be_asked_for_in_any_way(local: Caller) -> None:
    for path in ("/health", "/docs", "/openapi/openapi.json"):
        assert local.client.get(f"{path}?now=1").status_code == 200


def test_what_can_go_wrong_is_described_as_it_is_told(local: Caller) -> None:
    described = local.client.get("/openapi/openapi.json").json()
    told = local.client.get("/api/tasks/nobody")
    assert set(described["components"]["schemas"]["Problem"]["required"]) <= set(told.json())
    responses = described["paths"]["/api/tasks/{ident}"]["get"]["responses"]
    assert responses["404"] == {"$ref": "#/components/responses/404"}
    assert told.headers["content-type"] in described["components"]["responses"]["404"]["content"]
    assert "413" not in responses, "nothing is sent there"


def test_limits_of_what_may_be_null_are_described(local: Caller) -> None:
    described = local.client.get("/openapi/openapi.json").json()["components"]["schemas"]
    assert {"type": "integer", "minimum": 0, "maximum": 10_000} in (
        described["NewTask"]["properties"]["wave_number"]["anyOf"]
    )
    assert described["SnapshotToSave"]["required"] == ["session_id"]


def test_a_body_is_described_as_required_where_nothing_works_without_it(local: Caller) -> None:
    paths = local.client.get("/openapi/openapi.json").json()["paths"]
    wanted = {
        (method, path): operation["requestBody"]["required"]
        for path, operations in paths.items()
        for method, operation in operations.items()
        if "requestBody" in operation
    }
    assert {path for (_, path), required in wanted.items() if not required} == {
        f"/api/waves/{{session_id}}/{step}" for step in ("create", "start", "transition")
    }
    for (method, path), required in wanted.items():
        found = local.client.request(method, re.sub(r"\{\w+\}", "s1", path))
        assert (found.status_code in (400, 404)) == required, (method, path)


@pytest.mark.parametrize(
    "path", ["/openapi/nothing", "/openapi/x.json", "/openapi/a/b", "/nothing"]
)
def test_where_nothing_is_a_problem_says_so(local: Caller, path: str) -> None:
    assert is_problem(local.client.get(path), 404)


def test_slashes_change_nothing_about_what_a_token_may(databases: Databases, far: Any) -> None:
    reader, writer, _ = (made(databases, scope) for scope in tokens.SCOPES)
    project = far.post("/api/projects", json={"path": "/a"}, headers=writer).json()["id"]
    for path in (f"//api/projects/{project}", f"/api//projects/{project}/"):
        assert is_problem(far.delete(f"http://holdfast.example{path}", headers=writer), 403)
    for path in ("//api/messages/a", "/api//messages/a", "/api/messages//a/"):
        asked = f"http://holdfast.example{path}?mark_read=true"
        assert is_problem(far.get(asked, headers=reader), 403)
    assert far.get("/api/projects/", headers=reader).status_code == 200
    for path in ("//api/events", "/api/events/"):
        assert far.head(f"http://holdfast.example{path}", headers=reader).status_code == 405


def test_whoever_marks_nothing_as_read_only_reads(databases: Databases, far: Any) -> None:
    reader = made(databases, "read")
    for word, status in (("false", 200), ("0", 200), ("true", 403), ("1", 403), ("", 403)):
        answer = far.get(f"/api/messages/a?mark_read={word}", headers=reader)
        assert answer.status_code in (status, 400), word
    both = far.get("/api/messages/a?mark_read=false&mark_read=true", headers=reader)
    assert both.status_code in (403, 400)


@pytest.mark.parametrize("host", ["localhost:80@evil.example", "[::1].evil.example", "localhost:x"])
def test_what_only_begins_like_a_name_of_ours_is_none(local: Caller, host: str) -> None:
    assert is_problem(local.client.get("/health", headers={"Host": host}), 421)


@pytest.mark.parametrize("name", [b"host", b"Origin", b"content-type", b"Authorization"])
def test_what_can_be_said_once_is_not_said_twice(databases: Databases, name: bytes) -> None:
    app, *_ = create_app(databases)
    sent: list[Any] = []
    given = [(b"host", b"127.0.0.1:3847"), (b"content-type", b"application/json")]
    twice = [*given, (name, b"evil.example"), (name, b"x")]
    scope = {
        "type": "http", "method": "POST", "path": "/api/actions", "query_string": b"",
        "headers": twice,
    }  # fmt: skip

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request", "body": b'{"tool_name":"x"}', "more_body": False}

    asyncio.run(app(scope, receive, send))  # type: ignore[arg-type]
    assert sent[0]["status"] == 400
    with databases.connect() as db:
        assert db.ledger.find(ACTIONS) == []


def test_pages_share_the_limit_of_the_token_that_opened_them(
    databases: Databases, stopped_clock: list[float]
) -> None:
    app, _ = create_app(databases, hosts=("holdfast.example",), token_needed=True, rate=1)
    with TestClient(app, base_url="http://holdfast.example") as client:  # type: ignore[arg-type]
        reader = made(databases, "read")
        cookies = []
        for _ in range(2):
            answer = client.post("/docs/session", headers=reader)
            assert answer.status_code == 204
            cookies.append(answer.headers["set-cookie"].partition(";")[0])
            client.cookies.clear()
        seen = [client.get("/stats", headers={"Cookie": one}).status_code for one in cookies]
        assert seen == [200, 429]


def test_a_key_in_a_path_does_not_get_into_the_log(databases: Databases) -> None:
    logged: list[dict[str, Any]] = []
    app, *_ = create_app(databases, log=logged.append)
    with TestClient(app, base_url=HERE) as client:  # type: ignore[arg-type]
        client.get(f"/api/requests/{TOKEN}")
    assert logged[-1]["path"] == "/api/requests/[redacted:github-token]"


SECRETS = [
    {"Authorization": "Bearer abc123def456ghi789zq13"}, {"Authorization": "Basic dXNlcjpodW50ZXIy"},
    {"headers": {"authorization": "token 9f8e7d6c5b4a3f2e1d0c"}}, {"password": 12345678901},
    {"password": ["hunter2abc"]}, {"password": {"value": "hunter2abc"}},
    {"password": "correct horse battery staple"}, {"passphrase": "Tr0ub4dor and three"},
    {"password": 'ab"cdefgh12'}, {"a": [{"db": {"password": "horse value"}}]},
]  # fmt: skip


def test_what_stands_under_a_secret_s_name_is_not_kept(api: Caller) -> None:
    # None of these can stand in an id by chance.
    words = ["ghi789", "dXNl", "9f8e7d6c5b4a", "12345678901", "hunter2", "horse", "Tr0ub", "cdefgh"]
    for secret in SECRETS:
        told = api.post("/api/actions", tool_name="Bash", input=secret, output={"said": secret})
        assert "[redacted:" in json.dumps(told["input"]), secret
        assert told["output"] == {"said": told["input"]}, secret
        kept = json.dumps(api.get(f"/api/actions/{told['id']}"))
        assert "[redacted:" in kept, secret
        assert not [word for word in words if word in kept], secret


def test_what_only_sounds_like_a_secret_is_kept(api: Caller) -> None:
    given = {
        "max_tokens": 2000, "token": 5, "password": {"type": "string", "minLength": 8},
        "note": "the password is asked for: see login.py", "authorization": "required",
    }  # fmt: skip
    assert api.post("/api/actions", tool_name="Bash", input=given)["input"] == given


def test_an_id_in_a_path_may_have_slashes(api: Caller) -> None:
    api.post("/api/agents", agent_id="/root/a b", session_id="team/s1")
    api.post("/api/messages", from_agent_id="a", to_agent_id="/root/a b", topic="x")
    api.post("/api/compact/save", session_id="team/s1", context_summary="x")
    (one,) = api.client.get("/api/messages/%2Froot%2fa%20b").json()["messages"]
    assert one["topic"] == "x"
    told = api.client.get("/api/capacity/%2Froot%2Fa%20b").json()
    assert told["agent_id"] == "/root/a b"
    assert api.client.get("/api/compact/status/team%2Fs1").json()["has_snapshot"]
    assert api.client.get("/api/messages/root/x").status_code == 404
    assert api.client.delete("/api/requests/..%2F..%2Fetc").status_code == 404
