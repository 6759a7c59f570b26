"""The whole application over each database in turn, called as a program on this machine would."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from litestar.testing import TestClient

from holdfast import settings
from holdfast.errors import StoreUnavailable
from holdfast.server.app import create_app
from holdfast.server.databases import Connections, Databases, LocalDatabases, TeamDatabases
from holdfast.server.write_queue import Result
from holdfast.state.fold import new_state
from holdfast.state.types import State
from tests.contract.server import described

HERE = "http://127.0.0.1:3847"


class Caller:
    """Sends requests and expects an answer of a kind, as it is described."""

    def __init__(self, client: TestClient[Any], databases: Databases) -> None:
        self.client = client
        self.databases = databases

    def get(self, path: str, status: int = 200, /, **query: Any) -> Any:
        answer = self.client.get(path, params=query or None)
        assert answer.status_code == status, answer.text
        return self._told(answer, "GET", path)

    def send(self, method: str, path: str, body: Any, status: int | None = None) -> Any:
        answer = self.client.request(method, path, json=body)
        wanted = (status,) if status else (200, 201)
        assert answer.status_code in wanted, answer.text
        return self._told(answer, method, path)

    def _told(self, answer: Any, method: str, path: str) -> Any:
        told = answer.json()
        if answer.is_success:
            described.check(method, path, told)
        return told

    def post(self, path: str, status: int | None = None, /, **body: Any) -> Any:
        return self.send("POST", path, body, status)

    def patch(self, path: str, status: int | None = None, /, **body: Any) -> Any:
        return self.send("PATCH", path, body, status)

    def delete(self, path: str, status: int = 204) -> None:
        assert self.client.delete(path).status_code == status


def a_state(*requests: str, **parts: Any) -> State:
    state = new_state()
    state["requests"] = [{"text": text, "line": n, "at": ""} for n, text in enumerate(requests, 1)]
    state["lines"] = len(requests)
    return {**state, **parts}  # type: ignore[typeddict-item]


def databases_at(kind: str, request: pytest.FixtureRequest, home: Path) -> Databases:
    """One process's way to a database of this kind."""
    if kind == "sqlite":
        return LocalDatabases(settings.load({"HOLDFAST_HOME": str(home)}))
    return TeamDatabases(request.getfixturevalue("postgres_place"))


@pytest.fixture(params=["sqlite", "postgres"])
def databases(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Databases]:
    made = databases_at(request.param, request, tmp_path)
    yield made
    made.close()


class Borrowed(Databases):
    """One application for all tests: to make one takes longer than to use it."""

    label = "whichever a test uses"

    def __init__(self) -> None:
        self.databases: Databases | None = None

    def connect(self) -> AbstractContextManager[Connections]:
        if self.databases is None:
            raise StoreUnavailable("no test is running")
        return self.databases.connect()

    def write(self, work: Callable[[Connections], Result]) -> Result:
        assert self.databases is not None
        return self.databases.write(work)

    def index(self, db: Connections) -> AbstractContextManager[Any]:
        assert self.databases is not None
        return self.databases.index(db)


@pytest.fixture(scope="session")
def served() -> Iterator[tuple[TestClient[Any], Borrowed]]:
    databases = Borrowed()
    app, *_ = create_app(databases)
    with TestClient(app, base_url=HERE) as client:  # type: ignore[arg-type]
        yield client, databases


@pytest.fixture
def api(served: tuple[TestClient[Any], Borrowed], databases: Databases) -> Iterator[Caller]:
    client, borrowed = served
    borrowed.databases = databases
    yield Caller(client, databases)
    borrowed.databases = None
    # A page that a test opened leaves its token behind.
    client.cookies.clear()


@pytest.fixture
def local(served: tuple[TestClient[Any], Borrowed], tmp_path: Path) -> Iterator[Caller]:
    """For what has nothing to do with the database."""
    client, borrowed = served
    borrowed.databases = made = LocalDatabases(settings.load({"HOLDFAST_HOME": str(tmp_path)}))
    yield Caller(client, made)
    borrowed.databases = None
    client.cookies.clear()
    made.close()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A module that says `POSTGRES_IS_SLOW` runs on SQLite in `make test`, on both in test-full.

    It tests what stands above the database; the contracts of ledger and store cover the dialects.
    """
    for item in items:
        callspec = getattr(item, "callspec", None)
        if callspec is None or not getattr(
            getattr(item, "module", None), "POSTGRES_IS_SLOW", False
        ):
            continue
        if "postgres" in callspec.params.values():
            item.add_marker(pytest.mark.slow)
