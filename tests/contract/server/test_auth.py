"""Which requests need a token, what its scope allows, and how often it may be used."""

from __future__ import annotations

from typing import Any

import pytest
from litestar.testing import TestClient

from holdfast.errors import StoreUnavailable
from holdfast.ledger import tokens
from holdfast.server.app import create_app
from holdfast.server.auth import accept_all, accept_tokens_only
from holdfast.server.databases import Connections, Databases
from tests.contract.server.conftest import (
    BASE_URL,
    REMOTE_URL,
    ApiClient,
    create_token_header,
    is_problem,
)

POSTGRES_IS_SLOW = True

ACTION = {"tool_name": "Read"}


def test_a_remote_client_needs_a_valid_token(databases: Databases, remote_client: Any) -> None:
    response = remote_client.get("/api/actions")
    assert is_problem(response, 401)
    assert response.headers["www-authenticate"] == "Bearer"
    assert "`holdfast token new NAME`" in response.json()["hint"]
    assert remote_client.get("/health").json() == {"status": "healthy"}
    for wrong in ("Bearer nonsense", "Bearer ", "Basic abc"):
        assert is_problem(remote_client.get("/api/actions", headers={"Authorization": wrong}), 401)
    valid = create_token_header(databases, "read")
    assert remote_client.get("/api/actions", headers=valid).status_code == 200
    assert {"version", "database"} <= remote_client.get("/health", headers=valid).json().keys()


def test_health_names_the_database_only_to_known_callers() -> None:
    class UnreachableDatabases(Databases):
        def connect(self) -> Any:
            raise StoreUnavailable("db.example.org:5432 cannot be reached", hint="check the host")

        def open_index(self, db: Connections) -> Any:
            raise NotImplementedError

    for identify, is_known in ((accept_all, True), (accept_tokens_only, False)):
        app, _ = create_app(UnreachableDatabases(), identify=identify)
        client: TestClient[Any] = TestClient(app, base_url=BASE_URL)  # type: ignore[arg-type]
        response = client.get("/health")
        assert is_problem(response, 503)
        assert ("db.example.org" in response.text) == is_known
        unchecked = client.get("/stats", headers={"Authorization": "Bearer hft_x"})
        assert is_problem(unchecked, 503)
        assert "db.example.org" not in unchecked.text


def test_a_wrong_token_is_refused_even_on_loopback(sqlite_api: ApiClient) -> None:
    response = sqlite_api.client.get("/api/actions", headers={"Authorization": "Bearer nonsense"})
    assert is_problem(response, 401)


def test_the_scope_of_a_token_limits_what_it_may_do(
    databases: Databases, remote_client: Any
) -> None:
    reader, writer, admin = (create_token_header(databases, scope) for scope in tokens.SCOPES)
    assert is_problem(remote_client.post("/api/actions", json=ACTION, headers=reader), 403)
    body = {"session_id": "s1"}
    assert remote_client.post("/api/compact/restore", json=body, headers=reader).status_code == 200
    assert remote_client.get("/api/messages/a?limit=3", headers=reader).status_code == 200
    assert is_problem(remote_client.post("/api/messages/a/receive", headers=reader), 403)
    assert remote_client.post("/api/messages/a/receive", headers=writer).status_code == 200
    assert remote_client.post("/api/actions", json=ACTION, headers=writer).status_code == 201
    project = remote_client.post("/api/projects", json={"path": "/a"}, headers=writer).json()
    path = f"/api/projects/{project['id']}"
    assert is_problem(remote_client.delete(path, headers=writer), 403)
    assert remote_client.delete(path, headers=admin).status_code == 204


def test_extra_slashes_in_a_path_do_not_bypass_the_scope_of_a_token(
    databases: Databases, remote_client: Any
) -> None:
    reader, writer, _ = (create_token_header(databases, scope) for scope in tokens.SCOPES)
    project = remote_client.post("/api/projects", json={"path": "/a"}, headers=writer).json()["id"]
    for path in (f"//api/projects/{project}", f"/api//projects/{project}/"):
        assert is_problem(remote_client.delete(f"{REMOTE_URL}{path}", headers=writer), 403)
    assert remote_client.get("/api/projects/", headers=reader).status_code == 200
    for path in ("//api/events", "/api/events/"):
        assert remote_client.head(f"{REMOTE_URL}{path}", headers=reader).status_code == 405


def test_an_expired_token_is_refused(databases: Databases, remote_client: Any) -> None:
    expired = create_token_header(databases, "read", seconds=10.0)
    assert is_problem(remote_client.get("/api/actions", headers=expired), 401)


@pytest.fixture
def stopped_clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The clock of the rate limit in seconds, as a list whose only element tests increase."""
    clock = [1000.0]
    monkeypatch.setattr("litestar.middleware.rate_limit.time", lambda: clock[0])
    return clock


def test_the_rate_limit_is_per_token_and_says_when_to_retry(
    databases: Databases, stopped_clock: list[float]
) -> None:
    app, _ = create_app(databases, rate=3, identify=accept_all)
    first, second = (create_token_header(databases, "read") for _ in range(2))
    with TestClient(app, base_url=BASE_URL) as client:  # type: ignore[arg-type]
        statuses = [client.get("/stats", headers=first).status_code for _ in range(5)]
        assert statuses == [200, 200, 200, 429, 429]
        other = client.get("/stats", headers=second)
        assert other.status_code == 200, "each token has its own limit"
        refused = client.get("/stats", headers=first)
        assert is_problem(refused, 429)
        assert refused.headers["retry-after"] == "2"
        stopped_clock[0] += 2
        assert client.get("/stats", headers=first).status_code == 200
        statuses = [client.get("/stats").status_code for _ in range(5)]
        assert statuses == [200] * 5, "without a token there is no limit"


def test_web_pages_share_the_rate_limit_of_the_token_they_signed_in_with(
    databases: Databases, stopped_clock: list[float]
) -> None:
    app, _ = create_app(databases, hosts=("holdfast.example",), identify=accept_tokens_only, rate=1)
    with TestClient(app, base_url=REMOTE_URL) as client:  # type: ignore[arg-type]
        reader = create_token_header(databases, "read")
        cookies = []
        for _ in range(2):
            response = client.post("/docs/session", headers=reader)
            assert response.status_code == 204
            cookies.append(response.headers["set-cookie"].partition(";")[0])
            client.cookies.clear()
        statuses = [
            client.get("/stats", headers={"Cookie": cookie}).status_code for cookie in cookies
        ]
        assert statuses == [200, 429]
