"""A stream is told as long as its token is good, and no longer."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from litestar.testing import TestClient

from holdfast.errors import StoreUnavailable
from holdfast.ledger import tokens
from holdfast.ledger.actions import add_action
from holdfast.server import event_feed
from holdfast.server.app import create_app
from holdfast.server.auth import AuthMiddleware, get_token_check
from holdfast.server.databases import Databases
from holdfast.server.event_feed import EventFeed
from holdfast.server.routes import events as event_routes
from holdfast.server.routes.events import Subscriber

POSTGRES_IS_SLOW = True


@pytest.fixture(autouse=True)
def _asked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_routes, "TOKEN_CHECK_SECONDS", 0.0)
    monkeypatch.setattr(event_feed, "KEEP_ALIVE_SECONDS", 0.05)


@pytest.fixture
def far(databases: Databases) -> Iterator[TestClient[Any]]:
    app, *_ = create_app(databases, hosts=("holdfast.example",), token_needed=True)
    with TestClient(app, base_url="http://holdfast.example") as client:  # type: ignore[arg-type]
        yield client


def a_token(databases: Databases) -> tuple[str, str]:
    with databases.connect() as db:
        row, token = tokens.create_token(db.ledger, 1.0, name="ci", scope="read")
    return row["id"], token


def revoke(databases: Databases, ident: str) -> None:
    with databases.connect() as db:
        tokens.revoke_token(db.ledger, ident, 2.0)


def test_nothing_is_told_to_whom_is_no_longer_allowed(databases: Databases) -> None:
    good = [True]

    async def allowed() -> bool:
        return good[0]

    async def heard() -> list[bytes]:
        changes = EventFeed(databases)
        reading = asyncio.create_task(changes.run())
        told = []
        start = await changes.start(None)
        async for line in event_routes._render_stream(
            changes, start, Subscriber(None, None, allowed)
        ):
            told.append(line)
            good[0] = False
            with databases.connect() as db:
                add_action(db.ledger, 1.0, tool_name="Read", ident="secret plan")
        changes.close()
        await reading
        return told

    (only,) = asyncio.run(asyncio.wait_for(heard(), 60))
    assert b"listening" in only


class Away:
    """A store that is there for the first question only."""

    def __init__(self, databases: Databases) -> None:
        self.databases, self.is_away = databases, False

    def connect(self) -> Any:
        if self.is_away:
            raise StoreUnavailable("it is gone")
        return self.databases.connect()


def test_while_the_store_is_away_nobody_is_sent_off(databases: Databases) -> None:
    asked = []

    async def inner(scope: Any, receive: Any, send: Any) -> None:
        asked.append(await get_token_check(scope)())
        store.is_away = True
        asked.append(await get_token_check(scope)())
        store.is_away = False
        revoke(databases, ident)
        asked.append(await get_token_check(scope)())
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    store = Away(databases)
    ident, token = a_token(databases)
    client = TestClient(AuthMiddleware(inner, store), base_url="http://127.0.0.1")  # type: ignore[arg-type]
    client.get("/api/events", headers={"Authorization": f"Bearer {token}"})
    assert asked == [True, True, False]
