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

    def _flush(self) -> None:
        # Whoever it was for may be gone.
        if self._kept and not self._transport.is_closing():
            self.write(b"")

    def close(self) -> None:
        self._flush()
        self._transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class OnePacket(HttpToolsProtocol):
    """The server's own protocol over such a transport."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(Gathered(transport, self.loop))  # type: ignore[arg-type]

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
        self.transport = self.transport._transport  # type: ignore[attr-defined]
        super().handle_websocket_upgrade()
