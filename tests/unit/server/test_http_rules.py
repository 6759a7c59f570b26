"""Limits of the HTTP protocol: the length of the headers and the duration of a request."""

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


class FakeTransport:
    """A transport that records the bytes that the server writes."""

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


TIMEOUT_SECONDS = 60
HEAD = b"POST /x HTTP/1.1\r\nHost: here\r\nContent-Length: 4\r\n\r\n"


async def app_without_response(scope: Any, receive: Any, send: Any) -> None:
    """An application that reads the whole request and sends no response."""
    while (await receive())["type"] != "http.disconnect":
        pass


@contextmanager
def connect() -> Iterator[tuple[LimitedHttpProtocol, FakeTransport]]:
    config = uvicorn.Config(
        app_without_response, http=LimitedHttpProtocol, log_config=None, lifespan="off"
    )
    config.load()
    transport = FakeTransport()
    protocol = LimitedHttpProtocol(
        config=config, server_state=ServerState(), app_state={}, _loop=asyncio.get_running_loop()
    )
    protocol.connection_made(transport)
    yield protocol, transport
    protocol.connection_lost(None)


def has_deadline_after(*parts: bytes) -> bool:
    """Return whether a deadline for the rest of the request is set after these bytes."""

    async def run() -> bool:
        with connect() as (protocol, _):
            for part in parts:
                protocol.data_received(part)
                await asyncio.sleep(0)
            return not protocol._deadline.cancelled()

    return asyncio.run(run())


def test_a_request_has_a_deadline_until_it_is_complete() -> None:
    assert has_deadline_after()
    assert has_deadline_after(HEAD[:10])
    assert has_deadline_after(HEAD)
    assert has_deadline_after(HEAD, b"bod")
    assert not has_deadline_after(HEAD, b"body")
    assert not has_deadline_after(HEAD + b"body")
    assert has_deadline_after(HEAD + b"body", HEAD[:10]), (
        "the next request on the same connection has one too"
    )


@pytest.mark.parametrize("first_bytes", [b"", HEAD[:20], HEAD.replace(b"4", b"4000000000")])
def test_the_connection_of_a_slow_request_is_closed(
    monkeypatch: pytest.MonkeyPatch, first_bytes: bytes
) -> None:
    monkeypatch.setattr(http_rules, "REQUEST_SECONDS", 0.01)

    async def run() -> bool:
        deadline = time.monotonic() + TIMEOUT_SECONDS
        with connect() as (protocol, transport):
            protocol.data_received(first_bytes)
            while not transport.is_closed and time.monotonic() < deadline:
                # Single bytes must not extend the deadline.
                protocol.data_received(b"x" if first_bytes else b"")
                await asyncio.sleep(0)
            return transport.is_closed

    assert asyncio.run(run())


def test_headers_that_are_too_long_get_a_400_response() -> None:
    async def run() -> bytes:
        with connect() as (protocol, transport):
            protocol.data_received(HEAD[:-2])
            while not transport.is_closed:
                protocol.data_received(b"x-more: " + b"y" * 1000 + b"\r\n")
            return transport.received

    head, _, body = asyncio.run(run()).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert json.loads(body)["status"] == 400


@pytest.mark.parametrize(("codings", "is_dropped"), [
    (b"gzip", False), (b"gzip;q=1", False), (b"br;q=0, gzip", False), (b"gzip;q=0.5", False),
    (b"gzip;q=0", True), (b"br, gzip; q=0.000", True), (b"gzip;q=0.0, br", True),
])  # fmt: skip
def test_an_accept_encoding_header_that_refuses_gzip_is_dropped(
    codings: bytes, is_dropped: bool
) -> None:
    scope: dict[str, Any] = {"headers": [(b"accept-encoding", codings), (b"host", b"x")]}
    drop_refused_gzip(scope)
    assert len(scope["headers"]) == (1 if is_dropped else 2)
