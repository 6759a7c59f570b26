"""One line for each request: who asked for what, and how it went; never a body or a query."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from holdfast.redact import redact
from holdfast.surfaces.api.paths import whole

if TYPE_CHECKING:
    from holdfast.surfaces.api.asgi import App, Message, Receive, Scope, Send

SWITCHED = 101


class Access:
    """An ASGI application that tells of every request to another, when it is over."""

    def __init__(self, app: App, told: Callable[[dict[str, Any]], None]) -> None:
        self._app = app
        self._told = told

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        seen: dict[str, Any] = {"status": 0, "bytes": 0}

        async def watched(message: Message) -> None:
            _note(seen, message)
            await send(message)

        try:
            await self._app(scope, receive, watched)
        finally:
            client = scope.get("client")
            self._told({
                "at": round(time.time(), 3),
                "client": client[0] if client else None,
                "method": scope.get("method", "GET"),
                # Whoever mistakes a key for an id should not find it here.
                "path": redact(whole(scope["path"])),
                **seen,
                "milliseconds": round((time.perf_counter() - started) * 1000, 1),
            })  # fmt: skip


def _note(seen: dict[str, Any], message: Message) -> None:
    kind = message["type"]
    if kind.endswith("http.response.start"):
        seen["status"] = message["status"]
    elif kind.endswith("http.response.body"):
        seen["bytes"] += len(message.get("body", b""))
    elif kind == "websocket.accept":
        seen["status"] = SWITCHED
    elif kind == "websocket.send":
        seen["bytes"] += len(message.get("text") or message.get("bytes") or b"")
    elif kind == "websocket.close":
        # Closed before it was accepted, it is answered as forbidden.
        seen |= {"code": message.get("code", 1000)} if seen["status"] else {"status": 403}
