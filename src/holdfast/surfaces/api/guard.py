"""What a request must be before anything looks at it: for this host, from this page, as JSON."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import parse_qs

import msgspec
from litestar.concurrency import sync_to_thread
from litestar.types import Scope as LitestarScope

from holdfast.errors import StoreUnavailable
from holdfast.ledger import tokens
from holdfast.surfaces.api import held, page_session, paths, problems
from holdfast.surfaces.api.needs import Allowed
from holdfast.surfaces.api.pace import Pace
from holdfast.surfaces.api.page_session import PAGE, PageSession

if TYPE_CHECKING:
    from holdfast.ledger.ledger import Row
    from holdfast.surfaces.api.asgi import App, Receive, Scope, Send
    from holdfast.surfaces.api.desk import Desk

# What is wrong with a request, if anything is, and the cookie that its answer sets, if any.
Verdict = tuple[tuple[int, str] | None, bytes | None]
LOOPBACK = ("127.0.0.1", "localhost", "[::1]", "::1")
OPEN = ("/health", *page_session.FILES)
CHANGING = ("POST", "PUT", "PATCH", "DELETE")
SIGN_IN, SIGN_OUT = ("POST", page_session.SESSION), ("DELETE", page_session.SESSION)
INBOXES, MARKING, NOT_MARKING = "/api/messages/", "mark_read", {"false", "False", "0"}
HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^][:/@\s]+)(?::\d{1,5})?")
ONCE = (b"host", b"origin", b"content-type", b"authorization", b"sec-fetch-site")
ABOUT_THE_CALLER = frozenset({"authorization", "cookie"})
# Questions that come with a body: nothing is changed by them.
ASKING = ("/api/compact/restore", "/api/recall", page_session.SESSION)


# Where the guard leaves how to ask again.
STILL = "holdfast.still"


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
        self._pages = PageSession(desk)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            # No browser asks before it opens one, wherever to: the same rules hold as for a GET.
            scope["method"] = "GET"
        elif scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        # Routes do not mind how many slashes there are, so nobody else may.
        scope["path"] = paths.plain(scope)
        headers = {
            name.decode("latin-1").lower(): value.decode("latin-1")
            for name, value in scope["headers"]
        }
        refusal = _twice(scope) if len(headers) < len(scope["headers"]) else None
        refusal = refusal or self._refusal(str(scope["method"]), headers)
        cookie: bytes | None = None
        hint = ""
        if refusal is None:
            try:
                refusal, cookie = await self._caller(scope, headers)
            except StoreUnavailable as problem:
                refusal, hint = (503, str(problem)), problem.hint
        if scope["type"] == "websocket":
            # For the application it is a request of another kind.
            del scope["method"]
        if refusal is not None:
            await _refuse(scope, send, *refusal, hint)
            return
        told = page_session.with_cookie(send, cookie) if cookie else send
        if scope["path"] == page_session.SESSION:
            await told({"type": "http.response.start", "status": 204, "headers": []})
            await told({"type": "http.response.body", "body": b"", "more_body": False})
        else:
            await self._app(scope, receive, told)

    def passes(self, method: str, headers: dict[str, str]) -> bool:
        """Whether anybody may ask with these headers for what needs no more than that: a program of
        this machine, without a word about who it is.
        """
        return not (
            self._token_needed
            or headers.keys() & ABOUT_THE_CALLER
            or page_session.is_of_a_page(headers)
            or self._refusal(method, headers)
        )

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

    async def _caller(self, scope: Scope, headers: dict[str, str]) -> Verdict:
        """Who may do what; on loopback a token is not needed, but a wrong one is refused."""
        kind, _, token = headers.get("authorization", "").partition(" ")
        if kind.lower() != "bearer":
            return await self._without_token(scope, headers)
        row = await sync_to_thread(self._looked_up, token.strip())
        if row is None:
            return (401, "this token is unknown, expired or revoked"), None
        scope[STILL] = partial(self._is_good, token.strip())
        refusal = self._not_allowed(scope, row)
        if refusal is None and (scope["method"], scope["path"]) == SIGN_IN:
            given = await sync_to_thread(self._pages.issue, self._now(), row)
            return None, page_session.cookie(scope, given)
        return refusal, None

    async def _without_token(self, scope: Scope, headers: dict[str, str]) -> Verdict:
        """A page has one of its own, which the server gives it along with the page."""
        path, now = scope["path"], self._now()
        token = page_session.token_in(scope, headers)
        row, renewed = (
            await sync_to_thread(self._pages.known, token, now) if token else (None, False)
        )
        if row is not None and (scope["method"], path) == SIGN_OUT:
            await sync_to_thread(self._pages.end, row)
            return None, page_session.cookie(scope, "")
        if row is not None:
            scope[STILL] = partial(self._is_good_page, token)
            kept = page_session.cookie(scope, token) if renewed else None
            return self._not_allowed(scope, row), kept
        if path == page_session.PAGE and not self._token_needed:
            given = await sync_to_thread(self._pages.issue, now)
            return None, page_session.cookie(scope, given)
        if path in OPEN:
            return None, None
        if self._token_needed or path == page_session.SESSION:
            return (401, "send Authorization: Bearer TOKEN"), None
        if page_session.is_of_a_page(headers):
            return (401, f"the page's own token is missing or has expired: open {PAGE} again"), None
        return None, None

    def _not_allowed(self, scope: Scope, row: Row) -> tuple[int, str] | None:
        """What is wrong with this request by the owner of a token, if anything is."""
        # All pages that were signed in to with one token are that token's.
        caller = (tokens.is_page(row) and row["name"]) or row["id"]
        if not self._pace.allows(caller, self._now()):
            return 429, "this token asks too often"
        wanted = needed_scope(str(scope["method"]), scope["path"], scope["query_string"])
        if not tokens.covers(row, wanted):
            return 403, f"this token may {row['scope']}; this needs {wanted}"
        if row["project"]:
            scope[held.KEY] = row["project"]
        return None

    async def _is_good(self, token: str) -> bool:
        return await _unless_away(self._looked_up, token) is not None

    async def _is_good_page(self, token: str) -> bool:
        return (await _unless_away(self._pages.known, token, self._now()))[0] is not None

    def _looked_up(self, token: str) -> Row | None:
        with self._desk.books() as books:
            return tokens.allowed(books.ledger, token, self._now())


def still_allowed(scope: LitestarScope) -> Allowed:
    """How to ask whether the token of a request has been revoked meanwhile, or has expired."""
    return cast("Allowed", scope.get(STILL, _always))


async def _always() -> bool:
    return True


async def _unless_away(look: Callable[..., Any], *asked: Any) -> Any:
    """While the store is away there is nothing to tell either, so a stream need not end for it."""
    try:
        return await sync_to_thread(look, *asked)
    except StoreUnavailable:
        return (True,)


def needed_scope(method: str, path: str, query: bytes = b"") -> str:
    if method not in CHANGING or path in ASKING:
        # Whoever has messages marked as read changes what others find.
        given = parse_qs(query.decode("latin-1"), keep_blank_values=True).get(MARKING, [])
        marking = path.startswith(INBOXES) and not {*given} <= NOT_MARKING
        return "write" if marking else "read"
    return "admin" if method == "DELETE" and path.startswith("/api/projects/") else "write"


def _twice(scope: Scope) -> tuple[int, str] | None:
    names = [name.lower() for name, _ in scope["headers"]]
    if any(names.count(name) > 1 for name in ONCE):
        return 400, "this request has a header twice that can only be there once"
    return None


@lru_cache(maxsize=100)
def _name(host: str) -> str:
    """A Host header without its port; nothing if it is none."""
    found = HOST.fullmatch(host)
    return found[1].lower() if found else ""


def _has_body(headers: dict[str, str]) -> bool:
    return headers.get("content-length", "0") != "0" or "transfer-encoding" in headers


def _is_json(headers: dict[str, str]) -> bool:
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    return kind == "application/json" or kind.endswith("+json")


async def _refuse(scope: Scope, send: Send, status: int, detail: str, hint: str) -> None:
    answer: Any = [(b"content-type", problems.MEDIA_TYPE.encode()), (b"connection", b"close")]
    if status == 401:
        answer.append((b"www-authenticate", b"Bearer"))
    if status in problems.COMING_BACK:
        answer.append((b"retry-after", str(problems.RETRY_SECONDS).encode()))
    body = msgspec.json.encode(problems.body(status, detail, hint))
    kind = "http.response" if scope["type"] == "http" else "websocket.http.response"
    await send({"type": f"{kind}.start", "status": status, "headers": answer})
    await send({"type": f"{kind}.body", "body": body, "more_body": False})
