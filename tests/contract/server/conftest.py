"""The whole application on each database, called over HTTP from the same machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from litestar.testing import TestClient

from holdfast import settings
from holdfast.errors import StoreUnavailable
from holdfast.ledger import tokens
from holdfast.server.app import create_app
from holdfast.server.auth import accept_all, accept_tokens_only
from holdfast.server.databases import Connections, Databases, LocalDatabases, TeamDatabases
from holdfast.server.write_queue import Result
from holdfast.state.fold import new_state
from holdfast.state.types import State
from tests.contract.server import response_schema

BASE_URL = "http://127.0.0.1:3847"
REMOTE_URL = "http://holdfast.example"


class ApiClient:
    """Sends requests, and checks the status and the JSON schema of each response."""

    def __init__(self, client: TestClient[Any], databases: Databases) -> None:
        self.client = client
        self.databases = databases

    def get(self, path: str, status: int = 200, /, **query: Any) -> Any:
        response = self.client.get(path, params=query or None)
        assert response.status_code == status, response.text
        return self._read_json(response, "GET", path)

    def send(self, method: str, path: str, body: Any, status: int | None = None) -> Any:
        response = self.client.request(method, path, json=body)
        expected = (status,) if status else (200, 201)
        assert response.status_code in expected, response.text
        return self._read_json(response, method, path)

    def _read_json(self, response: Any, method: str, path: str) -> Any:
        body = response.json()
        if response.is_success:
            response_schema.check_response(method, path, body)
        return body

    def post(self, path: str, status: int | None = None, /, **body: Any) -> Any:
        return self.send("POST", path, body, status)

    def patch(self, path: str, status: int | None = None, /, **body: Any) -> Any:
        return self.send("PATCH", path, body, status)

    def delete(self, path: str, status: int = 204) -> None:
        assert self.client.delete(path).status_code == status


def is_problem(response: Any, status: int) -> bool:
    """Whether the response is a problem document (RFC 9457) with this status."""
    body = response.json()
    media_type = response.headers["content-type"].partition(";")[0]
    return bool(
        response.status_code == status == body["status"]
        and media_type == "application/problem+json"
        and body["title"]
        and body["detail"]
    )


def make_state(*requests: str, **parts: Any) -> State:
    state = new_state()
    state["requests"] = [{"text": text, "line": n, "at": ""} for n, text in enumerate(requests, 1)]
    state["lines"] = len(requests)
    return {**state, **parts}  # type: ignore[typeddict-item]


def create_token_header(databases: Databases, scope: str, **fields: Any) -> dict[str, str]:
    """Create a token and return the header that sends it."""
    with databases.connect() as db:
        _, token = tokens.create_token(db.ledger, 1.0, name="ci", scope=scope, **fields)
    return {"Authorization": f"Bearer {token}"}


def open_databases(kind: str, request: pytest.FixtureRequest, home: Path) -> Databases:
    """The databases of one server process: `sqlite` in `home`, or the test's PostgreSQL schema."""
    if kind == "sqlite":
        return LocalDatabases(settings.load({"HOLDFAST_HOME": str(home)}))
    return TeamDatabases(request.getfixturevalue("migrated_postgres_url"))


@pytest.fixture(params=["sqlite", "postgres"])
def databases(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Databases]:
    opened = open_databases(request.param, request, tmp_path)
    yield opened
    opened.close()


class SwitchableDatabases(Databases):
    """Passes calls on to the databases of the running test.

    All tests share one application, because creating it takes longer than most tests.
    """

    label = "the databases of the running test"

    def __init__(self) -> None:
        self.databases: Databases | None = None

    def connect(self) -> AbstractContextManager[Connections]:
        if self.databases is None:
            raise StoreUnavailable("no test is running")
        return self.databases.connect()

    def write(self, work: Callable[[Connections], Result]) -> Result:
        assert self.databases is not None
        return self.databases.write(work)

    def open_index(self, db: Connections) -> AbstractContextManager[Any]:
        assert self.databases is not None
        return self.databases.open_index(db)

    def open_conversations(self) -> AbstractContextManager[Any]:
        assert self.databases is not None
        return self.databases.open_conversations()


@pytest.fixture(scope="session")
def shared_app() -> Iterator[tuple[TestClient[Any], SwitchableDatabases]]:
    databases = SwitchableDatabases()
    app, *_ = create_app(databases, identify=accept_all)
    with TestClient(app, base_url=BASE_URL) as client:  # type: ignore[arg-type]
        yield client, databases


@pytest.fixture
def api(
    shared_app: tuple[TestClient[Any], SwitchableDatabases], databases: Databases
) -> Iterator[ApiClient]:
    client, switchable = shared_app
    switchable.databases = databases
    yield ApiClient(client, databases)
    switchable.databases = None
    # A test that opened the web page received its cookie.
    client.cookies.clear()


@pytest.fixture
def sqlite_api(
    shared_app: tuple[TestClient[Any], SwitchableDatabases], tmp_path: Path
) -> Iterator[ApiClient]:
    """The API on SQLite only, for behaviour that does not depend on the database."""
    client, switchable = shared_app
    databases = LocalDatabases(settings.load({"HOLDFAST_HOME": str(tmp_path)}))
    switchable.databases = databases
    yield ApiClient(client, databases)
    switchable.databases = None
    client.cookies.clear()
    databases.close()


@pytest.fixture
def remote_client(databases: Databases) -> Iterator[TestClient[Any]]:
    """A client on another machine, which needs a token."""
    app, *_ = create_app(databases, hosts=("holdfast.example",), identify=accept_tokens_only)
    with TestClient(app, base_url=REMOTE_URL) as client:  # type: ignore[arg-type]
        yield client


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark PostgreSQL tests of modules with `POSTGRES_IS_SLOW` as slow, so that `make test` runs
    these modules on SQLite only and `make test-full` on both.

    Such modules test layers above the database; other suites test the SQL on each database.
    """
    for item in items:
        callspec = getattr(item, "callspec", None)
        if callspec is None or not getattr(
            getattr(item, "module", None), "POSTGRES_IS_SLOW", False
        ):
            continue
        if "postgres" in callspec.params.values():
            item.add_marker(pytest.mark.slow)
