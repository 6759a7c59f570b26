"""Live changes: everybody hears everything once, and a slow listener holds nobody up."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Coroutine, Iterator
from contextlib import aclosing, closing, nullcontext
from pathlib import Path
from typing import Any

import pytest
from litestar.testing import TestClient

from holdfast import settings
from holdfast.errors import InvalidInput, ServerBusy
from holdfast.ledger.actions import add_action
from holdfast.ledger.repository import Ledger
from holdfast.server import event_feed as module
from holdfast.server import run as server
from holdfast.server.app import create_app
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
from tests.cases import case
from tests.contract.server.conftest import HERE, databases_at
from tests.postgres import Server as PostgreSQL

WRITES: dict[str, dict[str, Any]] = {
    "/api/actions": {"tool_name": "Read"},
    "/api/compact/save": {"session_id": "s1", "context_summary": "so far"},
    "/api/agent-contexts": {"agent_id": "a", "agent_type": "b"},
    "/api/messages": {"from_agent_id": "a"},
    "/api/requests": {"session_id": "s1", "prompt": "x"},
    "/api/waves/s1/create": {},
    "/api/tokens/track": {"agent_id": "a", "input_tokens": 7},
}
HANG_UP = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'"


@pytest.fixture
def elsewhere(
    databases: Databases, request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[Databases]:
    """Another process's view of the same database."""
    made = databases_at(
        "sqlite" if isinstance(databases, LocalDatabases) else "postgres", request, tmp_path
    )
    yield made
    made.close()


@pytest.fixture
def _only_when_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """What nobody says is not found within the time of a test."""
    monkeypatch.setattr(module, "POLL_SECONDS", 1e6)


async def always() -> bool:
    return True


EVERYTHING = event_routes.Subscriber(None, None, always)


def happen(databases: Databases, *names: str) -> None:
    with databases.connect() as db:
        for name in names:
            add_action(db.ledger, 1.0, tool_name="Read", ident=name)


async def heard(live: EventFeed, count: int, after: Position | None = None) -> list[str]:
    found: list[str] = []
    where = (await live.start(EventId(after) if after else None)).position
    with live.subscribe():
        async for some in live.changes(where):
            found += [one["record"] for one in some]
            if len(found) >= count:
                break
    return found


def run(databases: Databases, job: Any) -> Any:
    async def work() -> Any:
        live = EventFeed(databases)
        reading = asyncio.create_task(live.run())
        try:
            told: Coroutine[Any, Any, Any] = job(live)
            return await asyncio.wait_for(told, 60)
        finally:
            live.close()
            await reading

    return asyncio.run(work())


async def listening(live: EventFeed, count: int, number: int = 1) -> list[asyncio.Task[list[str]]]:
    """So many listeners, all of which have a place to listen from."""
    tasks = [asyncio.create_task(heard(live, count)) for _ in range(number)]
    while live.subscribers < number:
        await asyncio.sleep(0.01)
    return tasks


@pytest.mark.usefixtures("_only_when_told")
def test_many_listeners_all_hear_everything_though_one_of_them_sleeps(databases: Databases) -> None:
    names = [f"a{number}" for number in range(20)]

    async def job(live: EventFeed) -> list[list[str]]:
        asleep = live.changes((await live.start(None)).position)
        waiting = asyncio.ensure_future(anext(asleep))
        listeners = await listening(live, 20, 200)
        await asyncio.to_thread(happen, databases, *names)
        found = await asyncio.gather(*listeners)
        first = await waiting
        assert first[0]["record"] == "a0", "it is where it was, and can go on from there"
        return list(found)

    assert run(databases, job) == [names] * 200


@pytest.mark.usefixtures("_only_when_told")
def test_whatever_is_written_over_http_is_heard(databases: Databases) -> None:
    """Whichever way a route writes, it has to say so."""
    app, live = create_app(databases)
    with TestClient(app, base_url=HERE) as client, client.portal() as portal:  # type: ignore[arg-type]
        for path, body in WRITES.items():
            listener = portal.start_task_soon(heard, live, 1)
            while not live.subscribers:
                time.sleep(0.01)
            assert client.post(path, json=body).status_code in (200, 201)
            assert len(listener.result(60)) >= 1, path


@pytest.mark.usefixtures("_only_when_told")
def test_what_another_process_writes_is_heard_too(
    databases: Databases, elsewhere: Databases
) -> None:
    async def job(live: EventFeed) -> list[str]:
        (listener,) = await listening(live, 1)
        await asyncio.to_thread(happen, elsewhere, "theirs")
        return await listener

    assert run(databases, job) == ["theirs"]


@pytest.mark.usefixtures("_only_when_told")
def test_what_is_written_together_is_heard_together(
    databases: Databases, elsewhere: Databases
) -> None:
    """On its way to the team, a hundred rows are one transaction."""

    async def job(live: EventFeed) -> list[str]:
        (listener,) = await listening(live, 2)
        with elsewhere.connect() as db, db.ledger.transaction():
            for name in ("one", "two"):
                add_action(db.ledger, 1.0, tool_name="Read", ident=name)
        return await listener

    assert run(databases, job) == ["one", "two"]


@pytest.mark.usefixtures("_only_when_told")
def test_what_a_machine_sends_to_the_team_is_heard(postgres_url: str, tmp_path: Path) -> None:
    environ = {**os.environ, "HOLDFAST_HOME": str(tmp_path), "HOLDFAST_DATABASE": postgres_url}
    with closing(LocalDatabases(settings.load(environ))) as databases:
        happen(databases, "mine")
    command = [sys.executable, "-m", "holdfast", "sync"]

    async def job(live: EventFeed) -> list[str]:
        (listener,) = await listening(live, 1)
        await asyncio.to_thread(subprocess.run, command, env=environ, check=True)
        return await listener

    with closing(TeamDatabases(postgres_url)) as databases:
        assert run(databases, job) == ["mine"]


@pytest.mark.usefixtures("_only_when_told")
def test_a_lost_connection_is_made_again_and_nothing_is_missed(
    postgres: PostgreSQL, postgres_url: str
) -> None:
    with (
        closing(TeamDatabases(postgres_url)) as databases,
        closing(TeamDatabases(postgres_url)) as elsewhere,
    ):

        async def job(live: EventFeed) -> list[str]:
            (listener,) = await listening(live, 2)
            await asyncio.to_thread(happen, elsewhere, "before")
            while not live.end > (0, 0):
                await asyncio.sleep(0.01)
            assert await asyncio.to_thread(postgres.ask, HANG_UP) == [(True,)]
            await asyncio.to_thread(happen, elsewhere, "while nobody could hear")
            return await listener

        assert run(databases, job) == ["before", "while nobody could hear"]


def test_a_change_that_nobody_told_of_is_found_nevertheless(
    databases: Databases, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "POLL_SECONDS", 0.05)
    monkeypatch.setattr(type(databases), "watch_changes", lambda *_: nullcontext())

    async def job(live: EventFeed) -> list[str]:
        (listener,) = await listening(live, 1)
        await asyncio.to_thread(happen, databases, "quiet")
        return await listener

    assert run(databases, job) == ["quiet"]


def test_a_reader_that_stumbles_goes_on(
    databases: Databases, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    read_changes, stumbled = Ledger.list_changes, threading.Event()

    def changes(*given: Any) -> Any:
        if not stumbled.is_set():
            stumbled.set()
            raise KeyError("a bug")
        return read_changes(*given)

    monkeypatch.setattr(Ledger, "list_changes", changes)

    async def job(live: EventFeed) -> list[str]:
        (listener,) = await listening(live, 1)
        while not stumbled.is_set():
            await asyncio.sleep(0.01)
        await asyncio.to_thread(happen, databases, "after all")
        return await listener

    assert run(databases, job) == ["after all"]
    assert "KeyError" in capsys.readouterr().err


def test_a_listener_goes_on_where_it_stopped_even_long_ago(
    databases: Databases, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_CACHED_CHANGES", 3)
    monkeypatch.setattr(module, "BATCH_SIZE", 2)
    names = [f"a{number}" for number in range(10)]

    async def job(live: EventFeed) -> list[str]:
        await asyncio.to_thread(happen, databases, *names)
        assert await heard(live, 10, (0, 0)) == names
        with databases.connect() as db:
            second = db.ledger.list_changes()[1]
        return await heard(live, 8, to_position(second))

    assert run(databases, job) == names[2:]


def test_what_happened_before_anybody_listened_is_not_news(databases: Databases) -> None:
    happen(databases, "old")

    async def job(live: EventFeed) -> list[str]:
        (listener,) = await listening(live, 1)
        await asyncio.to_thread(happen, databases, "new")
        first = await listener
        while live.subscribers:
            await asyncio.sleep(0.01)
        await asyncio.to_thread(happen, databases, "while nobody listened")
        (listener,) = await listening(live, 1)
        await asyncio.to_thread(happen, databases, "newer")
        return first + await listener

    assert run(databases, job) == ["new", "newer"]


def test_a_place_that_nobody_can_have_seen_is_now(databases: Databases) -> None:
    """A database that was made anew counts from the start; its listeners do not."""

    async def job(live: EventFeed) -> list[str]:
        listener = asyncio.create_task(heard(live, 1, (2**40, 2**40)))
        while not live.subscribers:
            await asyncio.sleep(0.01)
        await asyncio.to_thread(happen, databases, "new")
        return await listener

    assert run(databases, job) == ["new"]


def without_the_old(databases: Databases) -> list[Position]:
    """The places of three changes, of which the first two are then taken away."""
    for number, name in enumerate(("old", "older than it looks", "new")):
        with databases.connect() as db:
            add_action(db.ledger, 1.0 + number, tool_name="Read", ident=name)
    with databases.connect() as db:
        places = [to_position(one) for one in db.ledger.list_changes()]
        remove_expired(db.store, db.ledger, 2.5)
        assert [one["record"] for one in db.ledger.list_changes()] == ["new"]
    return places


def test_whoever_comes_back_too_late_is_told_what_is_missing(databases: Databases) -> None:
    places = without_the_old(databases)

    async def job(live: EventFeed) -> list[Start]:
        return [await live.start(EventId(after)) for after in ((0, 0), *places, (2**40, 2**40))]

    gap, anew = Start(places[1], has_gap=True), Start(places[2], has_gap=True)
    assert run(databases, job) == [gap, gap, Start(places[1]), Start(places[2]), anew]


def test_what_was_taken_away_before_is_not_forgotten_by_the_next_time(databases: Databases) -> None:
    places = without_the_old(databases)
    with databases.connect() as db:
        remove_expired(db.store, db.ledger, 2.5)
        assert db.ledger.pruned_position() == places[1]


def test_a_gap_is_the_first_of_server_sent_events(databases: Databases) -> None:
    first, last, _ = without_the_old(databases)

    async def job(live: EventFeed) -> list[bytes]:
        found = []
        for after in (first, last):
            start = await live.start(EventId(after))
            async with aclosing(event_routes._render_stream(live, start, EVERYTHING)) as lines:
                found += [await anext(lines), await anext(lines)]
        return found

    _, gap, _, change = run(databases, job)
    where = written(databases, last)
    data = json.dumps({"kind": "gap", "event_id": where}, separators=(",", ":"))
    assert gap.decode() == f"id: {where}\nevent: gap\ndata: {data}\n\n"
    assert b"event: actions" in change


def test_whoever_hears_nothing_is_told_that_somebody_is_there(
    databases: Databases, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "KEEP_ALIVE_SECONDS", 0.01)

    async def job(live: EventFeed) -> Any:
        return await anext(live.changes((await live.start(None)).position))

    assert run(databases, job) == []


def test_there_is_room_for_so_many_and_no_more(databases: Databases) -> None:
    async def job(live: EventFeed) -> None:
        live.max_subscribers = 2
        listeners = await listening(live, 1, 2)
        with pytest.raises(ServerBusy, match="2 clients listen already"):
            await live.start(None)
        await asyncio.to_thread(happen, databases, "bye")
        await asyncio.gather(*listeners)
        await live.start(None)

    run(databases, job)


def test_a_place_that_is_none_is_refused_and_not_taken_for_now() -> None:
    assert parse_event_id("") is None
    cases = [
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
    for word in cases:
        with case(word), pytest.raises(InvalidInput, match="not the id of an event"):
            parse_event_id(word)


def test_a_place_can_be_written_down_and_read_again(databases: Databases) -> None:
    with databases.connect() as db:
        name = db.ledger.database_id()
    assert parse_event_id(written(databases, (7, 12))) == EventId((7, 12), name[:8])
    assert parse_event_id("7-12") == EventId((7, 12)), "as it was told once"


def test_a_place_in_another_database_is_a_gap_however_many_events_there_are(
    databases: Databases,
) -> None:
    happen(databases, *(f"a{number}" for number in range(9)))
    with databases.connect() as db:
        third, last = (to_position(db.ledger.list_changes()[number]) for number in (2, -1))

    async def job(live: EventFeed) -> list[Start]:
        known = parse_event_id(written(databases, third))
        return [
            await live.start(one) for one in (known, EventId(third), EventId(third, "0badcafe"))
        ]

    assert run(databases, job) == [Start(third), Start(third), Start(last, has_gap=True)]


def written(databases: Databases, where: Position) -> str:
    with databases.connect() as db:
        return f"{where[0]}-{where[1]}-{db.ledger.database_id()[:8]}"


@pytest.mark.parametrize(("host", "name"), [("10.0.0.7", "10.0.0.7"), ("fe80::1", "[fe80::1]")])
def test_an_address_that_is_listened_on_is_a_name_of_this_machine(host: str, name: str) -> None:
    place = ListenAddress(host=host, port=1, names=("holdfast.example",))
    assert {name, "holdfast.example", "127.0.0.1"} <= set(place.allowed_hosts)
    assert "0.0.0.0" not in ListenAddress(host="0.0.0.0", port=1).allowed_hosts


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such limit")
def test_a_client_that_takes_nothing_is_given_up_on() -> None:
    """By the kernel: a connection inherits the option from its listening socket."""
    with (
        server.listen(ListenAddress(host="127.0.0.1", port=0)) as bound,
        socket.create_connection(bound.getsockname()),
        bound.accept()[0] as accepted,
    ):
        waiting = accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)
    assert waiting == server.STUCK_SECONDS * 1000
