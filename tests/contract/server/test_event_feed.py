"""The event feed: every subscriber gets every change once, and a slow one delays no other."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import aclosing, closing, nullcontext
from pathlib import Path
from typing import Any

import pytest
from litestar.testing import TestClient

from holdfast import settings
from holdfast.errors import InvalidInput, ServerBusy
from holdfast.ledger.actions import add_action
from holdfast.ledger.repository import Ledger
from holdfast.server import event_feed
from holdfast.server import run as server
from holdfast.server.app import create_app
from holdfast.server.auth import accept_all
from holdfast.server.databases import Databases, LocalDatabases, TeamDatabases
from holdfast.server.event_feed import (
    EventFeed,
    EventId,
    Position,
    Start,
    parse_event_id,
    to_position,
)
from holdfast.server.routes import events as event_routes
from holdfast.server.run import ListenAddress
from holdfast.services.team.retention import remove_expired
from tests.cases import report_case
from tests.contract.server.conftest import BASE_URL, open_databases
from tests.postgres import PostgresServer

TIMEOUT_SECONDS = 60
# One request for each way in which routes write.
WRITES: dict[str, dict[str, Any]] = {
    "/api/actions": {"tool_name": "Read"},
    "/api/compact/save": {"session_id": "s1", "context_summary": "so far"},
    "/api/agent-contexts": {"agent_id": "a", "agent_type": "b"},
    "/api/messages": {"from_agent_id": "a"},
    "/api/requests": {"session_id": "s1", "prompt": "x"},
    "/api/waves/s1/create": {},
    "/api/tokens/track": {"agent_id": "a", "input_tokens": 7},
}
CLOSE_LISTEN_CONNECTION = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'"
)


@pytest.fixture
def other_process(
    databases: Databases, request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[Databases]:
    """Connections of another process to the same database."""
    kind = "sqlite" if isinstance(databases, LocalDatabases) else "postgres"
    opened = open_databases(kind, request, tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def _no_polling(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only notifications lead to a read, so a missing notification fails the test."""
    monkeypatch.setattr(event_feed, "POLL_SECONDS", 1e6)


async def always_valid() -> bool:
    return True


ALL_EVENTS = event_routes.Subscriber(None, None, always_valid)


def add_actions(databases: Databases, *ids: str) -> None:
    with databases.connect() as db:
        for ident in ids:
            add_action(db.ledger, 1.0, tool_name="Read", ident=ident)


async def receive(feed: EventFeed, count: int, after: Position | None = None) -> list[str]:
    """Subscribe and return the record ids of at least `count` changes."""
    records: list[str] = []
    start = (await feed.find_start(EventId(after) if after else None)).position
    with feed.subscribe():
        async for changes in feed.follow_changes(start):
            records += [change["record"] for change in changes]
            if len(records) >= count:
                break
    return records


def run_with_feed(databases: Databases, scenario: Any) -> Any:
    """Run `scenario(feed)` while the feed reads changes, and return its result."""

    async def run() -> Any:
        feed = EventFeed(databases)
        reader = asyncio.create_task(feed.run())
        try:
            result: Coroutine[Any, Any, Any] = scenario(feed)
            return await asyncio.wait_for(result, TIMEOUT_SECONDS)
        finally:
            feed.close()
            await reader

    return asyncio.run(run())


async def wait_until(condition: Callable[[], bool]) -> None:
    """Wait for a condition; `run_with_feed` limits the time."""
    while not condition():
        await asyncio.sleep(0.01)


async def subscribe(
    feed: EventFeed, count: int, subscribers: int = 1
) -> list[asyncio.Task[list[str]]]:
    """Start that many subscribers for `count` changes each, and wait until all are subscribed."""
    tasks = [asyncio.create_task(receive(feed, count)) for _ in range(subscribers)]
    await wait_until(lambda: feed.subscribers >= subscribers)
    return tasks


@pytest.mark.usefixtures("_no_polling")
def test_all_subscribers_get_all_changes_though_one_reads_nothing(databases: Databases) -> None:
    ids = [f"a{number}" for number in range(20)]

    async def scenario(feed: EventFeed) -> list[list[str]]:
        slow = feed.follow_changes((await feed.find_start(None)).position)
        first_batch = asyncio.ensure_future(anext(slow))
        tasks = await subscribe(feed, 20, 200)
        await asyncio.to_thread(add_actions, databases, *ids)
        received = await asyncio.gather(*tasks)
        changes = await first_batch
        assert changes[0]["record"] == "a0", "the slow subscriber starts at its own position"
        return list(received)

    assert run_with_feed(databases, scenario) == [ids] * 200


@pytest.mark.usefixtures("_no_polling")
def test_every_write_over_http_notifies_subscribers(databases: Databases) -> None:
    app, feed = create_app(databases, identify=accept_all)
    with TestClient(app, base_url=BASE_URL) as client, client.portal() as portal:  # type: ignore[arg-type]
        for path, body in WRITES.items():
            records = portal.start_task_soon(receive, feed, 1)
            deadline = time.monotonic() + TIMEOUT_SECONDS
            while not feed.subscribers:
                assert time.monotonic() < deadline, "the client did not subscribe"
                time.sleep(0.01)
            assert client.post(path, json=body).status_code in (200, 201)
            assert len(records.result(TIMEOUT_SECONDS)) >= 1, path


@pytest.mark.usefixtures("_no_polling")
def test_writes_of_another_process_notify_subscribers(
    databases: Databases, other_process: Databases
) -> None:
    async def scenario(feed: EventFeed) -> list[str]:
        (task,) = await subscribe(feed, 1)
        await asyncio.to_thread(add_actions, other_process, "a1")
        return await task

    assert run_with_feed(databases, scenario) == ["a1"]


@pytest.mark.usefixtures("_no_polling")
def test_all_rows_of_one_transaction_are_sent(
    databases: Databases, other_process: Databases
) -> None:
    """A sync writes up to a hundred rows in one transaction."""

    async def scenario(feed: EventFeed) -> list[str]:
        (task,) = await subscribe(feed, 2)
        with other_process.connect() as db, db.ledger.transaction():
            for ident in ("a1", "a2"):
                add_action(db.ledger, 1.0, tool_name="Read", ident=ident)
        return await task

    assert run_with_feed(databases, scenario) == ["a1", "a2"]


@pytest.mark.usefixtures("_no_polling")
def test_holdfast_sync_notifies_subscribers_of_the_team_server(
    postgres_url: str, tmp_path: Path
) -> None:
    environ = {**os.environ, "HOLDFAST_HOME": str(tmp_path), "HOLDFAST_DATABASE": postgres_url}
    with closing(LocalDatabases(settings.load(environ))) as databases:
        add_actions(databases, "a1")
    command = [sys.executable, "-m", "holdfast", "sync"]

    async def scenario(feed: EventFeed) -> list[str]:
        (task,) = await subscribe(feed, 1)
        await asyncio.to_thread(subprocess.run, command, env=environ, check=True)
        return await task

    with closing(TeamDatabases(postgres_url)) as databases:
        assert run_with_feed(databases, scenario) == ["a1"]


@pytest.mark.usefixtures("_no_polling")
def test_no_change_is_lost_when_the_listen_connection_breaks(
    postgres: PostgresServer, postgres_url: str
) -> None:
    with (
        closing(TeamDatabases(postgres_url)) as databases,
        closing(TeamDatabases(postgres_url)) as other_process,
    ):

        async def scenario(feed: EventFeed) -> list[str]:
            (task,) = await subscribe(feed, 2)
            await asyncio.to_thread(add_actions, other_process, "before")
            await wait_until(lambda: feed.end > (0, 0))
            closed = await asyncio.to_thread(postgres.execute, CLOSE_LISTEN_CONNECTION)
            assert closed == [(True,)]
            await asyncio.to_thread(add_actions, other_process, "while disconnected")
            return await task

        assert run_with_feed(databases, scenario) == ["before", "while disconnected"]


def test_a_change_without_a_notification_is_found_by_polling(
    databases: Databases, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_feed, "POLL_SECONDS", 0.05)
    monkeypatch.setattr(type(databases), "watch_changes", lambda *_: nullcontext())

    async def scenario(feed: EventFeed) -> list[str]:
        (task,) = await subscribe(feed, 1)
        await asyncio.to_thread(add_actions, databases, "a1")
        return await task

    assert run_with_feed(databases, scenario) == ["a1"]


def test_the_feed_continues_after_an_unexpected_error_and_reports_it(
    databases: Databases, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    list_changes, has_failed = Ledger.list_changes, threading.Event()

    def fail_once(*args: Any) -> Any:
        if not has_failed.is_set():
            has_failed.set()
            raise KeyError("a bug")
        return list_changes(*args)

    monkeypatch.setattr(Ledger, "list_changes", fail_once)

    async def scenario(feed: EventFeed) -> list[str]:
        (task,) = await subscribe(feed, 1)
        await wait_until(has_failed.is_set)
        await asyncio.to_thread(add_actions, databases, "a1")
        return await task

    assert run_with_feed(databases, scenario) == ["a1"]
    assert "KeyError" in capsys.readouterr().err


def test_a_subscriber_resumes_at_a_position_that_is_no_longer_cached(
    databases: Databases, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_feed, "MAX_CACHED_CHANGES", 3)
    monkeypatch.setattr(event_feed, "BATCH_SIZE", 2)
    ids = [f"a{number}" for number in range(10)]

    async def scenario(feed: EventFeed) -> list[str]:
        await asyncio.to_thread(add_actions, databases, *ids)
        assert await receive(feed, 10, (0, 0)) == ids
        with databases.connect() as db:
            second = db.ledger.list_changes()[1]
        return await receive(feed, 8, to_position(second))

    assert run_with_feed(databases, scenario) == ids[2:]


def test_a_new_subscriber_gets_only_changes_after_it_subscribed(databases: Databases) -> None:
    add_actions(databases, "old")

    async def scenario(feed: EventFeed) -> list[str]:
        (task,) = await subscribe(feed, 1)
        await asyncio.to_thread(add_actions, databases, "new")
        first = await task
        await wait_until(lambda: not feed.subscribers)
        await asyncio.to_thread(add_actions, databases, "without subscribers")
        (task,) = await subscribe(feed, 1)
        await asyncio.to_thread(add_actions, databases, "newer")
        return first + await task

    assert run_with_feed(databases, scenario) == ["new", "newer"]


def test_a_position_after_the_last_change_starts_at_the_last_change(databases: Databases) -> None:
    """After a database was recreated, clients still have positions of the old one."""

    async def scenario(feed: EventFeed) -> list[str]:
        task = asyncio.create_task(receive(feed, 1, (2**40, 2**40)))
        await wait_until(lambda: feed.subscribers > 0)
        await asyncio.to_thread(add_actions, databases, "new")
        return await task

    assert run_with_feed(databases, scenario) == ["new"]


def add_and_expire_changes(databases: Databases) -> list[Position]:
    """Write three changes, let the first two expire, and return the positions of all three."""
    for number, ident in enumerate(("expired 1", "expired 2", "kept")):
        with databases.connect() as db:
            add_action(db.ledger, 1.0 + number, tool_name="Read", ident=ident)
    with databases.connect() as db:
        positions = [to_position(change) for change in db.ledger.list_changes()]
        remove_expired(db.store, db.ledger, 2.5)
        assert [change["record"] for change in db.ledger.list_changes()] == ["kept"]
    return positions


def test_a_subscriber_whose_next_changes_have_expired_gets_a_gap(databases: Databases) -> None:
    positions = add_and_expire_changes(databases)

    async def scenario(feed: EventFeed) -> list[Start]:
        last_received = ((0, 0), *positions, (2**40, 2**40))
        return [await feed.find_start(EventId(position)) for position in last_received]

    expired = Start(positions[1], has_gap=True)
    unknown = Start(positions[2], has_gap=True)
    assert run_with_feed(databases, scenario) == [
        expired, expired, Start(positions[1]), Start(positions[2]), unknown,
    ]  # fmt: skip


def test_a_second_clean_up_keeps_the_position_of_the_last_deleted_change(
    databases: Databases,
) -> None:
    positions = add_and_expire_changes(databases)
    with databases.connect() as db:
        remove_expired(db.store, db.ledger, 2.5)
        assert db.ledger.get_pruned_position() == positions[1]


def test_a_gap_is_sent_as_the_first_event_of_a_stream(databases: Databases) -> None:
    first, last_expired, _ = add_and_expire_changes(databases)

    async def scenario(feed: EventFeed) -> list[bytes]:
        chunks = []
        for position in (first, last_expired):
            start = await feed.find_start(EventId(position))
            async with aclosing(event_routes._render_stream(feed, start, ALL_EVENTS)) as stream:
                chunks += [await anext(stream), await anext(stream)]
        return chunks

    _, gap, _, change = run_with_feed(databases, scenario)
    event_id = format_event_id(databases, last_expired)
    data = json.dumps({"kind": "gap", "event_id": event_id}, separators=(",", ":"))
    assert gap.decode() == f"id: {event_id}\nevent: gap\ndata: {data}\n\n"
    assert b"event: actions" in change


def test_an_idle_subscriber_gets_empty_batches_for_keep_alives(
    databases: Databases, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_feed, "KEEP_ALIVE_SECONDS", 0.01)

    async def scenario(feed: EventFeed) -> Any:
        return await anext(feed.follow_changes((await feed.find_start(None)).position))

    assert run_with_feed(databases, scenario) == []


def test_the_number_of_subscribers_is_limited(databases: Databases) -> None:
    async def scenario(feed: EventFeed) -> None:
        feed.max_subscribers = 2
        tasks = await subscribe(feed, 1, 2)
        with pytest.raises(ServerBusy, match="2 clients listen already"):
            await feed.find_start(None)
        await asyncio.to_thread(add_actions, databases, "a1")
        await asyncio.gather(*tasks)
        await feed.find_start(None)

    run_with_feed(databases, scenario)


def test_an_invalid_event_id_is_refused() -> None:
    assert parse_event_id("") is None
    invalid = [
        "x",
        "1",
        "1-",
        "-1",
        "1-x",
        "1-1-1",
        "1-1-",
        "9" * 50,
        f"{2**63}-1",
        "1-" + "9" * 30,
        "١-١x",
    ]
    for text in invalid:
        with report_case(text), pytest.raises(InvalidInput, match="not the id of an event"):
            parse_event_id(text)


def test_an_event_id_can_be_parsed(databases: Databases) -> None:
    with databases.connect() as db:
        name = db.ledger.get_database_id()
    event_id = format_event_id(databases, (7, 12))
    assert parse_event_id(event_id) == EventId((7, 12), name[:8])
    assert parse_event_id("7-12") == EventId((7, 12)), "ids of older versions have no ledger name"


def test_an_event_id_of_another_database_is_a_gap(databases: Databases) -> None:
    add_actions(databases, *(f"a{number}" for number in range(9)))
    with databases.connect() as db:
        third, last = (to_position(db.ledger.list_changes()[index]) for index in (2, -1))

    async def scenario(feed: EventFeed) -> list[Start]:
        own = parse_event_id(format_event_id(databases, third))
        event_ids = (own, EventId(third), EventId(third, "0badcafe"))
        return [await feed.find_start(event_id) for event_id in event_ids]

    assert run_with_feed(databases, scenario) == [
        Start(third), Start(third), Start(last, has_gap=True),
    ]  # fmt: skip


def format_event_id(databases: Databases, position: Position) -> str:
    with databases.connect() as db:
        return f"{position[0]}-{position[1]}-{db.ledger.get_database_id()[:8]}"


@pytest.mark.parametrize(("host", "name"), [("10.0.0.7", "10.0.0.7"), ("fe80::1", "[fe80::1]")])
def test_the_listen_address_is_an_allowed_host(host: str, name: str) -> None:
    address = ListenAddress(host=host, port=1, names=("holdfast.example",))
    assert {name, "holdfast.example", "127.0.0.1"} <= set(address.allowed_hosts)
    assert "0.0.0.0" not in ListenAddress(host="0.0.0.0", port=1).allowed_hosts


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no TCP_USER_TIMEOUT")
def test_connections_of_clients_that_stop_reading_time_out() -> None:
    """A connection inherits the option from its listening socket; the kernel enforces it."""
    with (
        server.listen(ListenAddress(host="127.0.0.1", port=0)) as listener,
        socket.create_connection(listener.getsockname()),
        listener.accept()[0] as accepted,
    ):
        timeout_ms = accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)
    assert timeout_ms == server.STUCK_SECONDS * 1000
