"""Live changes: everybody hears everything once, and a slow listener holds nobody up."""

from __future__ import annotations

import asyncio
import json
import os
import select
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
from holdfast.actions.retention import clear
from holdfast.errors import BadUsage, ServerBusy
from holdfast.ledger.actions import add_action
from holdfast.ledger.ledger import Ledger
from holdfast.surfaces.api import live as module
from holdfast.surfaces.api import serving
from holdfast.surfaces.api.app import guarded
from holdfast.surfaces.api.desk import Desk
from holdfast.surfaces.api.live import Live, Place, Seen, Start, place, read
from holdfast.surfaces.api.local_desk import LocalDesk
from holdfast.surfaces.api.routes import events as event_routes
from holdfast.surfaces.api.serving import Place as Address
from holdfast.surfaces.api.team_desk import TeamDesk
from tests.contract.api.conftest import HERE, desk_at
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
def elsewhere(desk: Desk, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Desk]:
    """Another process's view of the same database."""
    made = desk_at("sqlite" if isinstance(desk, LocalDesk) else "postgres", request, tmp_path)
    yield made
    made.close()


@pytest.fixture
def _only_when_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """What nobody says is not found within the time of a test."""
    monkeypatch.setattr(module, "UNASKED_SECONDS", 1e6)


async def always() -> bool:
    return True


EVERYTHING = event_routes.Chosen(None, None, always)


def happen(desk: Desk, *names: str) -> None:
    with desk.books() as books:
        for name in names:
            add_action(books.ledger, 1.0, tool_name="Read", ident=name)


async def heard(live: Live, count: int, after: Place | None = None) -> list[str]:
    found: list[str] = []
    where = (await live.start(Seen(after) if after else None)).place
    with live.listening():
        async for some in live.changes(where):
            found += [one["record"] for one in some]
            if len(found) >= count:
                break
    return found


def run(desk: Desk, job: Any) -> Any:
    async def work() -> Any:
        live = Live(desk)
        reading = asyncio.create_task(live.run())
        try:
            told: Coroutine[Any, Any, Any] = job(live)
            return await asyncio.wait_for(told, 60)
        finally:
            live.close()
            await reading

    return asyncio.run(work())


async def listening(live: Live, count: int, number: int = 1) -> list[asyncio.Task[list[str]]]:
    """So many listeners, all of which have a place to listen from."""
    tasks = [asyncio.create_task(heard(live, count)) for _ in range(number)]
    while live.listeners < number:
        await asyncio.sleep(0.01)
    return tasks


@pytest.mark.usefixtures("_only_when_told")
def test_many_listeners_all_hear_everything_though_one_of_them_sleeps(desk: Desk) -> None:
    names = [f"a{number}" for number in range(20)]

    async def job(live: Live) -> list[list[str]]:
        asleep = live.changes((await live.start(None)).place)
        waiting = asyncio.ensure_future(anext(asleep))
        listeners = await listening(live, 20, 200)
        await asyncio.to_thread(happen, desk, *names)
        found = await asyncio.gather(*listeners)
        first = await waiting
        assert first[0]["record"] == "a0", "it is where it was, and can go on from there"
        return list(found)

    assert run(desk, job) == [names] * 200


@pytest.mark.usefixtures("_only_when_told")
def test_whatever_is_written_over_http_is_heard(desk: Desk) -> None:
    """Whichever way a route writes, it has to say so."""
    app, live, _ = guarded(desk)
    with TestClient(app, base_url=HERE) as client, client.portal() as portal:  # type: ignore[arg-type]
        for path, body in WRITES.items():
            listener = portal.start_task_soon(heard, live, 1)
            while not live.listeners:
                time.sleep(0.01)
            assert client.post(path, json=body).status_code in (200, 201)
            assert len(listener.result(60)) >= 1, path


@pytest.mark.usefixtures("_only_when_told")
def test_what_another_process_writes_is_heard_too(desk: Desk, elsewhere: Desk) -> None:
    async def job(live: Live) -> list[str]:
        (listener,) = await listening(live, 1)
        await asyncio.to_thread(happen, elsewhere, "theirs")
        return await listener

    assert run(desk, job) == ["theirs"]


@pytest.mark.usefixtures("_only_when_told")
def test_what_is_written_together_is_heard_together(desk: Desk, elsewhere: Desk) -> None:
    """On its way to the team, a hundred rows are one transaction."""

    async def job(live: Live) -> list[str]:
        (listener,) = await listening(live, 2)
        with elsewhere.books() as books, books.ledger.together():
            for name in ("one", "two"):
                add_action(books.ledger, 1.0, tool_name="Read", ident=name)
        return await listener

    assert run(desk, job) == ["one", "two"]


@pytest.mark.usefixtures("_only_when_told")
def test_what_a_machine_sends_to_the_team_is_heard(postgres_url: str, tmp_path: Path) -> None:
    environ = {**os.environ, "HOLDFAST_HOME": str(tmp_path), "HOLDFAST_DATABASE": postgres_url}
    with closing(LocalDesk(settings.load(environ))) as desk:
        happen(desk, "mine")
    command = [sys.executable, "-m", "holdfast", "sync"]

    async def job(live: Live) -> list[str]:
        (listener,) = await listening(live, 1)
        await asyncio.to_thread(subprocess.run, command, env=environ, check=True)
        return await listener

    with closing(TeamDesk(postgres_url)) as desk:
        assert run(desk, job) == ["mine"]


@pytest.mark.usefixtures("_only_when_told")
def test_a_lost_connection_is_made_again_and_nothing_is_missed(
    postgres: PostgreSQL, postgres_url: str
) -> None:
    with closing(TeamDesk(postgres_url)) as desk, closing(TeamDesk(postgres_url)) as elsewhere:

        async def job(live: Live) -> list[str]:
            (listener,) = await listening(live, 2)
            await asyncio.to_thread(happen, elsewhere, "before")
            while not live.end > (0, 0):
                await asyncio.sleep(0.01)
            assert await asyncio.to_thread(postgres.ask, HANG_UP) == [(True,)]
            await asyncio.to_thread(happen, elsewhere, "while nobody could hear")
            return await listener

        assert run(desk, job) == ["before", "while nobody could hear"]


def test_a_change_that_nobody_told_of_is_found_nevertheless(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "UNASKED_SECONDS", 0.05)
    monkeypatch.setattr(type(desk), "watched", lambda *_: nullcontext())

    async def job(live: Live) -> list[str]:
        (listener,) = await listening(live, 1)
        await asyncio.to_thread(happen, desk, "quiet")
        return await listener

    assert run(desk, job) == ["quiet"]


def test_a_reader_that_stumbles_goes_on(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    read_changes, stumbled = Ledger.changes, threading.Event()

    def changes(*given: Any) -> Any:
        if not stumbled.is_set():
            stumbled.set()
            raise KeyError("a bug")
        return read_changes(*given)

    monkeypatch.setattr(Ledger, "changes", changes)

    async def job(live: Live) -> list[str]:
        (listener,) = await listening(live, 1)
        while not stumbled.is_set():
            await asyncio.sleep(0.01)
        await asyncio.to_thread(happen, desk, "after all")
        return await listener

    assert run(desk, job) == ["after all"]
    assert "KeyError" in capsys.readouterr().err


def test_a_listener_goes_on_where_it_stopped_even_long_ago(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "KEPT", 3)
    monkeypatch.setattr(module, "AT_ONCE", 2)
    names = [f"a{number}" for number in range(10)]

    async def job(live: Live) -> list[str]:
        await asyncio.to_thread(happen, desk, *names)
        assert await heard(live, 10, (0, 0)) == names
        with desk.books() as books:
            second = books.ledger.changes()[1]
        return await heard(live, 8, place(second))

    assert run(desk, job) == names[2:]


def test_what_happened_before_anybody_listened_is_not_news(desk: Desk) -> None:
    happen(desk, "old")

    async def job(live: Live) -> list[str]:
        (listener,) = await listening(live, 1)
        await asyncio.to_thread(happen, desk, "new")
        first = await listener
        while live.listeners:
            await asyncio.sleep(0.01)
        await asyncio.to_thread(happen, desk, "while nobody listened")
        (listener,) = await listening(live, 1)
        await asyncio.to_thread(happen, desk, "newer")
        return first + await listener

    assert run(desk, job) == ["new", "newer"]


def test_a_place_that_nobody_can_have_seen_is_now(desk: Desk) -> None:
    """A database that was made anew counts from the start; its listeners do not."""

    async def job(live: Live) -> list[str]:
        listener = asyncio.create_task(heard(live, 1, (2**40, 2**40)))
        while not live.listeners:
            await asyncio.sleep(0.01)
        await asyncio.to_thread(happen, desk, "new")
        return await listener

    assert run(desk, job) == ["new"]


def without_the_old(desk: Desk) -> list[Place]:
    """The places of three changes, of which the first two are then taken away."""
    for number, name in enumerate(("old", "older than it looks", "new")):
        with desk.books() as books:
            add_action(books.ledger, 1.0 + number, tool_name="Read", ident=name)
    with desk.books() as books:
        places = [place(one) for one in books.ledger.changes()]
        clear(books.store, books.ledger, 2.5)
        assert [one["record"] for one in books.ledger.changes()] == ["new"]
    return places


def test_whoever_comes_back_too_late_is_told_what_is_missing(desk: Desk) -> None:
    places = without_the_old(desk)

    async def job(live: Live) -> list[Start]:
        return [await live.start(Seen(after)) for after in ((0, 0), *places, (2**40, 2**40))]

    gap, anew = Start(places[1], has_gap=True), Start(places[2], has_gap=True)
    assert run(desk, job) == [gap, gap, Start(places[1]), Start(places[2]), anew]


def test_what_was_taken_away_before_is_not_forgotten_by_the_next_time(desk: Desk) -> None:
    places = without_the_old(desk)
    with desk.books() as books:
        clear(books.store, books.ledger, 2.5)
        assert books.ledger.forgotten() == places[1]


def test_a_gap_is_the_first_of_server_sent_events(desk: Desk) -> None:
    first, last, _ = without_the_old(desk)

    async def job(live: Live) -> list[bytes]:
        found = []
        for after in (first, last):
            start = await live.start(Seen(after))
            async with aclosing(event_routes._lines(live, start, EVERYTHING)) as lines:
                found += [await anext(lines), await anext(lines)]
        return found

    _, gap, _, change = run(desk, job)
    where = written(desk, last)
    data = json.dumps({"kind": "gap", "event_id": where}, separators=(",", ":"))
    assert gap.decode() == f"id: {where}\nevent: gap\ndata: {data}\n\n"
    assert b"event: actions" in change


def test_a_gap_is_the_first_message_over_a_web_socket(desk: Desk) -> None:
    first, last = (written(desk, one) for one in without_the_old(desk)[:2])
    with TestClient(guarded(desk)[0], base_url=HERE) as client:  # type: ignore[arg-type]
        with client.websocket_connect(f"/api/events/ws?after={first}") as socket:
            told = [socket.receive_json(timeout=30) for _ in range(3)]
        with client.websocket_connect(f"/api/events/ws?after={last}") as socket:
            whole = [socket.receive_json(timeout=30) for _ in range(2)]
    assert [one["kind"] for one in told] == ["listening", "gap", "actions"]
    assert told[1]["event_id"] == last
    assert [one["kind"] for one in whole] == ["listening", "actions"]


def test_whoever_hears_nothing_is_told_that_somebody_is_there(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "HEARTBEAT", 0.01)

    async def job(live: Live) -> Any:
        return await anext(live.changes((await live.start(None)).place))

    assert run(desk, job) == []


def test_there_is_room_for_so_many_and_no_more(desk: Desk) -> None:
    async def job(live: Live) -> None:
        live.most = 2
        listeners = await listening(live, 1, 2)
        with pytest.raises(ServerBusy, match="2 clients listen already"):
            await live.start(None)
        await asyncio.to_thread(happen, desk, "bye")
        await asyncio.gather(*listeners)
        await live.start(None)

    run(desk, job)


@pytest.mark.parametrize(
    "word",
    ["x", "1", "1-", "-1", "1-x", "1-1-1", "1-1-", "9" * 50, f"{2**63}-1", "1-" + "9" * 30, "١-١x"],
)
def test_a_place_that_is_none_is_refused_and_not_taken_for_now(word: str) -> None:
    assert read("") is None
    with pytest.raises(BadUsage, match="not the id of an event"):
        read(word)


def test_a_place_can_be_written_down_and_read_again(desk: Desk) -> None:
    with desk.books() as books:
        name = books.ledger.name()
    assert read(written(desk, (7, 12))) == Seen((7, 12), name[:8])
    assert read("7-12") == Seen((7, 12)), "as it was told once"


def test_a_place_in_another_database_is_a_gap_however_many_events_there_are(desk: Desk) -> None:
    happen(desk, *(f"a{number}" for number in range(9)))
    with desk.books() as books:
        third, last = (place(books.ledger.changes()[number]) for number in (2, -1))

    async def job(live: Live) -> list[Start]:
        known = read(written(desk, third))
        return [await live.start(one) for one in (known, Seen(third), Seen(third, "0badcafe"))]

    assert run(desk, job) == [Start(third), Start(third), Start(last, has_gap=True)]


def written(desk: Desk, where: Place) -> str:
    with desk.books() as books:
        return f"{where[0]}-{where[1]}-{books.ledger.name()[:8]}"


@pytest.mark.parametrize(("host", "name"), [("10.0.0.7", "10.0.0.7"), ("fe80::1", "[fe80::1]")])
def test_an_address_that_is_listened_on_is_a_name_of_this_machine(host: str, name: str) -> None:
    place = Address(host=host, port=1, names=("holdfast.example",))
    assert {name, "holdfast.example", "127.0.0.1"} <= set(place.all_names)
    assert "0.0.0.0" not in Address(host="0.0.0.0", port=1).all_names


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such limit")
@pytest.mark.parametrize("workers", [1, 2])
def test_a_client_that_takes_nothing_is_given_up_on(workers: int) -> None:
    """By the kernel, which knows what was taken: a connection has what its listener had."""
    with serving.listening(Address(host="127.0.0.1", port=0), workers) as sockets:
        address = sockets[0].getsockname()
        with socket.create_connection(address):
            ready = select.select(sockets, [], [], 10)[0]
            with ready[0].accept()[0] as accepted:
                waiting = accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)
    assert waiting == serving.STUCK_SECONDS * 1000
    assert [bound.fileno() for bound in sockets] == [-1] * workers
