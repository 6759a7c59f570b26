"""What is written within one turn of the loop leaves at once, and nothing is held for ever."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest

pytest.importorskip("uvicorn")

import uvicorn
from uvicorn.server import ServerState

from holdfast.surfaces.api import gathered
from holdfast.surfaces.api.gathered import Gathered, OnePacket
from tests.unit.surfaces.wire import Remote, Wire


def sent(*steps: Callable[[Gathered], object]) -> list[bytes]:
    """What leaves when these follow each other, each in a turn of its own."""
    wire = Wire()

    async def work() -> None:
        transport = Gathered(wire, asyncio.get_running_loop())  # type: ignore[arg-type]
        for step in steps:
            step(transport)
            await asyncio.sleep(0)

    asyncio.run(work())
    return wire.sent


def answer(transport: Gathered) -> None:
    transport.write(b"head ")
    transport.write(b"body ")


def test_a_head_and_its_body_are_one() -> None:
    assert sent(answer, answer) == [b"head body ", b"head body "]


def test_an_answer_without_a_body_is_sent_too() -> None:
    assert sent(lambda one: one.write(b"head ")) == [b"head "]
    assert sent(lambda one: one.write(b"head "), answer) == [b"head ", b"head body "]


def test_an_empty_body_is_nothing_to_wait_for() -> None:
    assert sent(lambda one: (one.write(b"head "), one.write(b""))) == [b"head "]
    assert sent(lambda one: one.write(b"")) == []


def test_what_was_written_leaves_before_the_end() -> None:
    assert sent(lambda one: (one.write(b"last words"), one.close())) == [b"last words"]


def test_what_is_whole_does_not_wait_and_comes_after_what_does() -> None:
    wire = Wire()
    with closing(asyncio.new_event_loop()) as loop:
        transport = Gathered(wire, loop)  # type: ignore[arg-type]
        transport.write(b"head ")
        transport.write_whole(b"all of it")
        assert wire.sent == [b"head all of it"]
        transport.write_whole(b" and more")
    assert wire.sent[1:] == [b" and more"]


def test_nothing_is_sent_to_whoever_is_gone() -> None:
    assert sent(lambda one: (one.write(b"head "), one._transport.close())) == []


def test_everything_else_is_the_transport_s_own() -> None:
    with closing(asyncio.new_event_loop()) as loop:
        transport = Gathered(Wire(), loop)  # type: ignore[arg-type]
        assert transport.get_extra_info("peer") == "the peer"


HEAD = b"POST /x HTTP/1.1\r\nHost: here\r\nContent-Length: 4\r\n\r\n"
SOCKET = (
    b"GET /x HTTP/1.1\r\nHost: here\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)


async def silent(scope: Any, receive: Any, send: Any) -> None:
    """An application that listens to all of it and says nothing."""
    while (await receive())["type"] not in ("http.disconnect", "websocket.disconnect"):
        pass


@contextmanager
def connected() -> Iterator[tuple[OnePacket, Remote]]:
    config = uvicorn.Config(silent, http=OnePacket, log_config=None, lifespan="off")
    config.load()
    remote, loop = Remote(), asyncio.get_running_loop()
    protocol = OnePacket(config=config, server_state=ServerState(), app_state={}, _loop=loop)
    protocol.connection_made(remote)
    yield protocol, remote
    protocol.connection_lost(None)
    assert protocol._patience is None


def waited(*parts: bytes) -> list[float]:
    """For how long in all the server waits after each of these parts."""
    found: list[float] = []

    async def work() -> None:
        with connected() as (protocol, _):
            for part in parts:
                protocol.data_received(part)
                timer = protocol._patience
                found.append(round(timer.when() - protocol.loop.time()) if timer else 0)
                await asyncio.sleep(0)

    asyncio.run(work())
    return found


def test_a_request_that_came_whole_is_not_waited_for() -> None:
    assert waited(HEAD + b"body") == [0]
    assert waited(HEAD, b"body") == [gathered.BODY_SECONDS, 0]


def test_a_head_and_a_body_have_a_time_each() -> None:
    head, body = gathered.HEAD_SECONDS, gathered.BODY_SECONDS
    found = waited(HEAD[:10], HEAD[10:20], HEAD[20:], b"b", b"o", b"dy")
    assert found == [head, head, body, body, body, 0]


def test_a_body_that_does_not_end_in_time_ends_the_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(gathered, "BODY_SECONDS", 0.01)

    async def work() -> bool:
        until = time.monotonic() + 60
        with connected() as (protocol, remote):
            protocol.data_received(HEAD.replace(b"4", b"4000000000"))
            while not remote.closed and time.monotonic() < until:
                # A little at a time does not help.
                protocol.data_received(b"x")
                await asyncio.sleep(0)
            return remote.closed

    assert asyncio.run(work())


def test_nobody_waits_for_the_body_of_a_websocket() -> None:
    assert waited(SOCKET) == [0]
