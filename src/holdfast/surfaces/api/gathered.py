"""The head of an answer and its body leave in one packet, and what is no HTTP gets a problem too.

The HTTP server writes them one after the other: two calls into the kernel, and a client that wakes
up twice for one answer.
"""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from holdfast.surfaces.api import problems

NO_HTTP = "this is no HTTP request, or its address or headers are too long"
# More than browsers and proxies send, and in less time than nobody would wait for.
LONGEST_HEAD, HEAD_SECONDS = 1 << 17, 60.0
# Enough for the largest body over a line of a quarter of a megabit.
BODY_SECONDS = 300.0


class Gathered:
    """A transport that keeps what is written until more comes, or until the loop's next turn."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._soon = loop.call_soon
        self._kept = b""

    def write(self, data: bytes) -> None:
        if self._kept:
            kept, self._kept = self._kept, b""
            self._transport.write(kept + data)
        elif data:
            self._kept = data
            self._soon(self._flush)

    def write_whole(self, data: bytes) -> None:
        """For what nothing else belongs to."""
        kept, self._kept = self._kept, b""
        self._transport.write(kept + data)

    def is_closing(self) -> bool:
        return self._transport.is_closing()

    def _flush(self) -> None:
        # Whoever it was for may be gone.
        if self._kept and not self.is_closing():
            self.write(b"")

    def close(self) -> None:
        self._flush()
        self._transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class OnePacket(HttpToolsProtocol):
    """The server's own protocol over such a transport, with limits for a request: how long its head
    may be, and how long head and body may take.
    """

    transport: Gathered  # type: ignore[assignment]

    def connection_made(self, transport: Any) -> None:
        super().connection_made(Gathered(transport, self.loop))  # type: ignore[arg-type]
        self._in_head, self._head = True, 0
        self._patience: asyncio.TimerHandle | None = None
        self._wait(HEAD_SECONDS)

    def data_received(self, data: bytes) -> None:
        if self._in_head:
            self._head += len(data)
        super().data_received(data)
        # Most heads come in one piece and are over by now.
        if self._in_head and self._head:
            if self._head > LONGEST_HEAD and not self.transport.is_closing():
                self.send_400_response(NO_HTTP)
            self._wait(HEAD_SECONDS)
        elif not self._in_head:
            # Of most bodies the same is true.
            self._wait(BODY_SECONDS)

    def on_headers_complete(self) -> None:
        self._in_head, self._head = False, 0
        self.no_longer_wait()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._in_head = True
        self.no_longer_wait()
        super().on_message_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self.no_longer_wait()
        super().connection_lost(exc)

    def _wait(self, seconds: float) -> None:
        """From when it began, however little of it comes at a time."""
        if self._patience is None:
            self._patience = self.loop.call_later(seconds, self._too_late)

    def no_longer_wait(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _too_late(self) -> None:
        self.transport.close()

    def send_400_response(self, msg: str) -> None:
        body = msgspec.json.encode(problems.body(400, NO_HTTP))
        head = (
            f"HTTP/1.1 400 Bad Request\r\ncontent-type: {problems.MEDIA_TYPE}\r\n"
            f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + body)
        self.transport.close()

    def handle_websocket_upgrade(self) -> None:
        # From here on the transport is another protocol's.
        self._in_head = True
        self.no_longer_wait()
        self.transport = self.transport._transport  # type: ignore[assignment]
        super().handle_websocket_upgrade()
