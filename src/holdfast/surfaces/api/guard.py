"""What a request must be before anything looks at it: for this host, from this page, as JSON."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec
from litestar.concurrency import sync_to_thread

from holdfast.errors import StoreUnavailable
from holdfast.ledger import tokens
from holdfast.surfaces.api import problems
from holdfast.surfaces.api.pace import Pace

if TYPE_CHECKING:
    from holdfast.ledger.ledger import Row
    from holdfast.surfaces.api.asgi import App, Receive, Scope, Send
    from holdfast.surfaces.api.desk import Desk

LOOPBACK = ("127.0.0.1", "localhost", "[::1]", "::1")
OPEN = ("/health",)
CHANGING = ("POST", "PUT", "PATCH", "DELETE")


class Guard:
    """An ASGI application around the application."""

    def __init__(
        self,
        app: App,
        desk: Desk,
        *,
        hosts: tuple[str, ...] = LOOPBACK,
        token_needed: bool = False,
        now: Callable[[], float] = time.time,
        pace: Pace | None = None,
    ) -> None:
        self._app = app
        self._desk = desk
        self._hosts = hosts
        self._token_needed = token_needed
        self._now = now
        self._pace = pace or Pace()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            # No browser asks before it opens one, wherever to: the same rules hold as for a GET.
            scope["method"] = "GET"
        elif scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {
            name.decode("latin-1").lower(): value.decode("latin-1")
            for name, value in scope["headers"]
        }
        refusal = self._refusal(str(scope["method"]), headers) or await self._unknown(
            scope, headers
        )
        if scope["type"] == "websocket":
            # For the application it is a request of another kind.
            del scope["method"]
        if refusal is None:
            await self._app(scope, receive, send)
        else:
            await _refuse(scope, send, *refusal)

    def _refusal(self, method: str, headers: dict[str, str]) -> tuple[int, str] | None:
        host = headers.get("host", "")
        if _name(host) not in self._hosts:
            # A page that was let point its own name at this machine would come with that name.
            return 421, "this server does not answer to that host name"
        origin = headers.get("origin")
        if origin is not None and origin.partition("://")[2] != host:
            return 403, "this server answers no other site's pages"
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return 403, "this server answers no other site's pages"
        if method in CHANGING and _has_body(headers) and not _is_json(headers):
            return 415, "send JSON, with Content-Type: application/json"
        return None

    async def _unknown(self, scope: Scope, headers: dict[str, str]) -> tuple[int, str] | None:
        """Who may do what; on loopback a token is not needed, but a wrong one is refused."""
        kind, _, token = headers.get("authorization", "").partition(" ")
        if kind.lower() != "bearer":
            needed = self._token_needed and scope["path"] not in OPEN
            return (401, "send Authorization: Bearer TOKEN") if needed else None
        try:
            row = await sync_to_thread(self._looked_up, token.strip())
        except StoreUnavailable as problem:
            return 503, str(problem)
        if row is None:
            return 401, "this token is unknown, expired or revoked"
        wanted = needed_scope(str(scope["method"]), scope["path"])
        if not tokens.covers(row, wanted):
            return 403, f"this token may {row['scope']}; this needs {wanted}"
        if not self._pace.allows(row["id"], self._now()):
            return 429, "this token asks too often"
        return None

    def _looked_up(self, token: str) -> Row | None:
        with self._desk.books() as books:
            return tokens.allowed(books.ledger, token, self._now())


def needed_scope(method: str, path: str) -> str:
    if method not in CHANGING or path == "/api/compact/restore":
        return "read"
    return "admin" if method == "DELETE" and path.startswith("/api/projects/") else "write"


def _name(host: str) -> str:
    """A Host header without its port."""
    if host.startswith("["):
        return host.partition("]")[0].lower() + "]"
    return host.partition(":")[0].lower()


def _has_body(headers: dict[str, str]) -> bool:
    return headers.get("content-length", "0") != "0" or "transfer-encoding" in headers


def _is_json(headers: dict[str, str]) -> bool:
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    return kind == "application/json" or kind.endswith("+json")


async def _refuse(scope: Scope, send: Send, status: int, detail: str) -> None:
    answer: Any = [(b"content-type", problems.MEDIA_TYPE.encode()), (b"connection", b"close")]
    if status == 401:
        answer.append((b"www-authenticate", b"Bearer"))
    if status in problems.COMING_BACK:
        answer.append((b"retry-after", str(problems.RETRY_SECONDS).encode()))
    body = msgspec.json.encode(problems.body(status, detail))
    kind = "http.response" if scope["type"] == "http" else "websocket.http.response"
    await send({"type": f"{kind}.start", "status": status, "headers": answer})
    await send({"type": f"{kind}.body", "body": body, "more_body": False})
