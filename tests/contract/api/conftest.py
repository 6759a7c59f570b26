"""The whole application over each database in turn, called as a program on this machine would."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from litestar.testing import TestClient

from holdfast import settings
from holdfast.actions.remembered import Remembered
from holdfast.errors import StoreUnavailable
from holdfast.ledger.batch import Fresh
from holdfast.state.fold import new_state
from holdfast.state.model import State
from holdfast.surfaces.api.app import guarded
from holdfast.surfaces.api.desk import Books, Desk
from holdfast.surfaces.api.local_desk import LocalDesk
from holdfast.surfaces.api.named import Found
from holdfast.surfaces.api.team_desk import TeamDesk
from tests.contract.api import described

HERE = "http://127.0.0.1:3847"


class Caller:
    """Sends requests and expects an answer of a kind, as it is described."""

    def __init__(self, client: TestClient[Any], desk: Desk) -> None:
        self.client = client
        self.desk = desk

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


def desk_at(kind: str, request: pytest.FixtureRequest, home: Path) -> Desk:
    """One process's way to a database of this kind."""
    if kind == "sqlite":
        return LocalDesk(settings.load({"HOLDFAST_HOME": str(home)}))
    return TeamDesk(request.getfixturevalue("postgres_place"))


@pytest.fixture(params=["sqlite", "postgres"])
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Desk]:
    made = desk_at(request.param, request, tmp_path)
    yield made
    made.close()


class Borrowed(Desk):
    """One application for all tests: to make one takes longer than to use it."""

    shown = "whichever a test uses"

    def __init__(self) -> None:
        self.desk: Desk | None = None

    @property
    def briefs(self) -> Remembered:  # type: ignore[override]
        assert self.desk is not None
        return self.desk.briefs

    @property
    def found(self) -> Found:  # type: ignore[override]
        assert self.desk is not None
        return self.desk.found

    def books(self) -> AbstractContextManager[Books]:
        if self.desk is None:
            raise StoreUnavailable("no test is running")
        return self.desk.books()

    @property
    def reads_at_once(self) -> bool:
        return self.desk is not None and self.desk.reads_at_once

    async def add(self, rows: list[Fresh]) -> bool:
        return self.desk is not None and await self.desk.add(rows)

    def index(self, books: Books) -> AbstractContextManager[Any]:
        assert self.desk is not None
        return self.desk.index(books)


@pytest.fixture(scope="session")
def served() -> Iterator[tuple[TestClient[Any], Borrowed]]:
    desk = Borrowed()
    app, *_ = guarded(desk)
    with TestClient(app, base_url=HERE) as client:  # type: ignore[arg-type]
        yield client, desk


@pytest.fixture
def api(served: tuple[TestClient[Any], Borrowed], desk: Desk) -> Iterator[Caller]:
    client, borrowed = served
    borrowed.desk = desk
    yield Caller(client, desk)
    borrowed.desk = None
    # A page that a test opened leaves its token behind.
    client.cookies.clear()


@pytest.fixture
def local(served: tuple[TestClient[Any], Borrowed], tmp_path: Path) -> Iterator[Caller]:
    """For what has nothing to do with the database."""
    client, borrowed = served
    borrowed.desk = made = LocalDesk(settings.load({"HOLDFAST_HOME": str(tmp_path)}))
    yield Caller(client, made)
    borrowed.desk = None
    client.cookies.clear()
    made.close()
