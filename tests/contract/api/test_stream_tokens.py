"""A stream is told as long as its token is good, and no longer."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from litestar.exceptions import WebSocketDisconnect
from litestar.testing import TestClient

from holdfast.errors import StoreUnavailable
from holdfast.ledger import tokens
from holdfast.ledger.actions import add_action
from holdfast.surfaces.api import live
from holdfast.surfaces.api.app import guarded
from holdfast.surfaces.api.desk import Desk
from holdfast.surfaces.api.guard import Guard, still_allowed
from holdfast.surfaces.api.live import Live
from holdfast.surfaces.api.routes import events as event_routes
from holdfast.surfaces.api.routes.events import Chosen


@pytest.fixture(autouse=True)
def _asked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_routes, "ASKED_AGAIN", 0.0)
    monkeypatch.setattr(live, "HEARTBEAT", 0.05)


@pytest.fixture
def far(desk: Desk) -> Iterator[TestClient[Any]]:
    app, *_ = guarded(desk, hosts=("holdfast.example",), token_needed=True)
    with TestClient(app, base_url="http://holdfast.example") as client:  # type: ignore[arg-type]
        yield client


def a_token(desk: Desk) -> tuple[str, str]:
    with desk.books() as books:
        row, token = tokens.new(books.ledger, 1.0, name="ci", scope="read")
    return row["id"], token


def revoke(desk: Desk, ident: str) -> None:
    with desk.books() as books:
        tokens.revoke(books.ledger, ident, 2.0)


def until_the_end(socket: Any) -> None:
    while True:
        assert socket.receive_json(timeout=30)["kind"] == "heartbeat"


def test_a_web_socket_is_closed_when_its_token_is_revoked(desk: Desk, far: TestClient[Any]) -> None:
    ident, token = a_token(desk)
    headers = {"Authorization": f"Bearer {token}"}
    with far.websocket_connect("/api/events/ws", headers=headers) as socket:
        told = [socket.receive_json(timeout=30)["kind"] for _ in range(3)]
        assert told == ["listening", "heartbeat", "heartbeat"]
        revoke(desk, ident)
        with pytest.raises(WebSocketDisconnect) as closed:
            until_the_end(socket)
    assert (closed.value.code, closed.value.detail) == (1008, "this token is no longer good")


def test_nothing_is_told_to_whom_is_no_longer_allowed(desk: Desk) -> None:
    good = [True]

    async def allowed() -> bool:
        return good[0]

    async def heard() -> list[bytes]:
        changes = Live(desk)
        reading = asyncio.create_task(changes.run())
        told = []
        start = await changes.start(None)
        async for line in event_routes._lines(changes, start, Chosen(None, None, allowed)):
            told.append(line)
            good[0] = False
            with desk.books() as books:
                add_action(books.ledger, 1.0, tool_name="Read", ident="secret plan")
        changes.close()
        await reading
        return told

    (only,) = asyncio.run(asyncio.wait_for(heard(), 60))
    assert b"listening" in only


class Away:
    """A store that is there for the first question only."""

    def __init__(self, desk: Desk) -> None:
        self.desk, self.is_away = desk, False

    def books(self) -> Any:
        if self.is_away:
            raise StoreUnavailable("it is gone")
        return self.desk.books()


def test_while_the_store_is_away_nobody_is_sent_off(desk: Desk) -> None:
    asked = []

    async def inner(scope: Any, receive: Any, send: Any) -> None:
        asked.append(await still_allowed(scope)())
        store.is_away = True
        asked.append(await still_allowed(scope)())
        store.is_away = False
        revoke(desk, ident)
        asked.append(await still_allowed(scope)())
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    store = Away(desk)
    ident, token = a_token(desk)
    client = TestClient(Guard(inner, store), base_url="http://127.0.0.1")  # type: ignore[arg-type]
    client.get("/api/events", headers={"Authorization": f"Bearer {token}"})
    assert asked == [True, True, False]
