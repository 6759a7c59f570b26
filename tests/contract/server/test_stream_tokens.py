"""An event stream ends soon after its token becomes invalid."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from litestar.testing import TestClient

from holdfast.errors import StoreUnavailable
from holdfast.ledger import tokens
from holdfast.ledger.actions import add_action
from holdfast.server import event_feed
from holdfast.server.auth import AuthMiddleware, accept_all, get_token_check
from holdfast.server.databases import Databases
from holdfast.server.event_feed import EventFeed
from holdfast.server.routes import events as event_routes
from holdfast.server.routes.events import Subscriber

POSTGRES_IS_SLOW = True

TIMEOUT_SECONDS = 60


@pytest.fixture(autouse=True)
def _check_tokens_without_delay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_routes, "TOKEN_CHECK_SECONDS", 0.0)
    monkeypatch.setattr(event_feed, "KEEP_ALIVE_SECONDS", 0.05)


def create_token(databases: Databases) -> tuple[str, str]:
    """The id of a new token, and the token."""
    with databases.connect() as db:
        row, token = tokens.create_token(db.ledger, 1.0, name="ci", scope="read")
    return row["id"], token


def revoke_token(databases: Databases, ident: str) -> None:
    with databases.connect() as db:
        tokens.revoke_token(db.ledger, ident, 2.0)


def test_a_stream_sends_no_change_once_its_token_is_invalid(databases: Databases) -> None:
    is_valid = True

    async def check_token() -> bool:
        return is_valid

    async def read_stream() -> list[bytes]:
        nonlocal is_valid
        feed = EventFeed(databases)
        reader = asyncio.create_task(feed.run())
        chunks = []
        start = await feed.find_start(None)
        subscriber = Subscriber(None, None, check_token)
        async for chunk in event_routes._render_stream(feed, start, subscriber):
            chunks.append(chunk)
            is_valid = False
            with databases.connect() as db:
                add_action(db.ledger, 1.0, tool_name="Read", ident="secret plan")
        feed.close()
        await reader
        return chunks

    (only,) = asyncio.run(asyncio.wait_for(read_stream(), TIMEOUT_SECONDS))
    assert b"listening" in only


class InterruptibleDatabases:
    """Databases that a test can make unavailable."""

    def __init__(self, databases: Databases) -> None:
        self.databases, self.is_available = databases, True

    def connect(self) -> Any:
        if not self.is_available:
            raise StoreUnavailable("the connection is lost")
        return self.databases.connect()


def test_a_token_counts_as_valid_while_the_store_is_unavailable(databases: Databases) -> None:
    results = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        results.append(await get_token_check(scope)())
        interruptible.is_available = False
        results.append(await get_token_check(scope)())
        interruptible.is_available = True
        revoke_token(databases, ident)
        results.append(await get_token_check(scope)())
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    interruptible = InterruptibleDatabases(databases)
    ident, token = create_token(databases)
    client = TestClient(
        AuthMiddleware(app, interruptible, identify=accept_all), base_url="http://127.0.0.1"
    )  # type: ignore[arg-type]
    client.get("/api/events", headers={"Authorization": f"Bearer {token}"})
    assert results == [True, True, False]
