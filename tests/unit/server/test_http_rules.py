"""Limits of the HTTP protocol: how long a head may be, and how long a request may take."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

pytest.importorskip("uvicorn")

import uvicorn
from uvicorn.server import ServerState

from holdfast.server import http_rules
from holdfast.server.http_rules import LimitedHttpProtocol, drop_refused_gzip


class Client:
    """The other end of a connection: notes what the server writes."""

    def __init__(self) -> None:
        self.received = b""
        self.is_closed = False

    def write(self, data: bytes) -> None:
        self.received += data

    def is_closing(self) -> bool:
        return self.is_closed

    def close(self) -> None:
        self.is_closed = True

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return default

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...


HEAD = b"POST /x HTTP/1.1\r\nHost: here\r\nContent-Length: 4\r\n\r\n"


async def silent(scope: Any, receive: Any, send: Any) -> None:
    """An application that reads all of a request and answers nothing."""
    while (await receive())["type"] != "http.disconnect":
        pass


@contextmanager
def connected() -> Iterator[tuple[LimitedHttpProtocol, Client]]:
    config = uvicorn.Config(silent, http=LimitedHttpProtocol, log_config=None, lifespan="off")
    config.load()
    client = Client()
    protocol = LimitedHttpProtocol(
        config=config, server_state=ServerState(), app_state={}, _loop=asyncio.get_running_loop()
    )
    protocol.connection_made(client)
    yield protocol, client
    protocol.connection_lost(None)


def is_waiting_after(*parts: bytes) -> bool:
    """Whether the server waits for more of a request, with a deadline."""

    async def work() -> bool:
        with connected() as (protocol, _):
            for part in parts:
                protocol.data_received(part)
                await asyncio.sleep(0)
            return not protocol._deadline.cancelled()

    return asyncio.run(work())


def test_a_request_has_a_deadline_until_it_is_complete() -> None:
    assert is_waiting_after()
    assert is_waiting_after(HEAD[:10])
    assert is_waiting_after(HEAD)
    assert is_waiting_after(HEAD, b"bod")
    assert not is_waiting_after(HEAD, b"body")
    assert not is_waiting_after(HEAD + b"body")
    assert is_waiting_after(HEAD + b"body", HEAD[:10]), "the next one on the same connection too"


@pytest.mark.parametrize("begin", [b"", HEAD[:20], HEAD.replace(b"4", b"4000000000")])
def test_a_request_that_comes_too_slowly_is_cut_off(
    monkeypatch: pytest.MonkeyPatch, begin: bytes
) -> None:
    monkeypatch.setattr(http_rules, "REQUEST_SECONDS", 0.01)

    async def work() -> bool:
        until = time.monotonic() + 60
        with connected() as (protocol, client):
            protocol.data_received(begin)
            while not client.is_closed and time.monotonic() < until:
                # A little at a time does not help.
                protocol.data_received(b"x" if begin else b"")
                await asyncio.sleep(0)
            return client.is_closed

    assert asyncio.run(work())


def test_a_head_that_is_too_long_gets_a_problem() -> None:
    async def work() -> bytes:
        with connected() as (protocol, client):
            protocol.data_received(HEAD[:-2])
            while not client.is_closed:
                protocol.data_received(b"x-more: " + b"y" * 1000 + b"\r\n")
            return client.received

    head, _, body = asyncio.run(work()).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert json.loads(body)["status"] == 400


@pytest.mark.parametrize(("codings", "is_dropped"), [
    (b"gzip", False), (b"gzip;q=1", False), (b"br;q=0, gzip", False), (b"gzip;q=0.5", False),
    (b"gzip;q=0", True), (b"br, gzip; q=0.000", True), (b"gzip;q=0.0, br", True),
])  # fmt: skip
def test_a_client_that_refuses_gzip_is_not_taken_for_one_that_names_it(
    codings: bytes, is_dropped: bool
) -> None:
    scope: dict[str, Any] = {"headers": [(b"accept-encoding", codings), (b"host", b"x")]}
    drop_refused_gzip(scope)
    assert len(scope["headers"]) == (1 if is_dropped else 2)
