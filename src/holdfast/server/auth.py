"""Authentication and the checks before any route: Host and Origin headers, content type, user,
token and its scope.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from enum import Enum, auto
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import msgspec
from litestar import Request
from litestar.concurrency import sync_to_thread
from litestar.types import Scope as LitestarScope

from holdfast.errors import StoreUnavailable
from holdfast.ledger import tokens
from holdfast.server import errors, http_rules, local_token, peer_user, web_session
from holdfast.server.databases import Databases
from holdfast.server.dependencies import TokenCheck
from holdfast.server.project_scope import ProjectDatabases
from holdfast.server.web import sign_in
from holdfast.server.web_session import SESSION_PATH, WebSessions

if TYPE_CHECKING:
    from holdfast.ledger.repository import Row
    from holdfast.server.http_rules import App, Receive, Scope, Send


class Refusal(NamedTuple):
    """The response to a refused request."""

    status: int
    detail: str
    hint: str = ""


class Caller(Enum):
    """What the connection of a request tells about its sender."""

    OWNER = auto()
    """The user who runs the server."""
    OTHER_USER = auto()
    UNKNOWN = auto()


Identify = Callable[["Scope"], Caller]
Verdict = tuple[Refusal | None, bytes | None]
"""The refusal, or None if the request is allowed; and the cookie for the response, or None."""
LOOPBACK = ("127.0.0.1", "localhost", "[::1]", "::1")
OPEN_PATHS = ("/health", *web_session.PAGE_FILES)
# What a token for one project may use.
PROJECT_PREFIXES = ("/api/", "/openapi", "/docs", "/health", "/stats")
# Scripts and styles of the page, which contain no data.
STATIC_PREFIX = "/static/"
WRITE_METHODS = ("POST", "PUT", "PATCH", "DELETE")
SIGN_IN, SIGN_OUT = ("POST", SESSION_PATH), ("DELETE", SESSION_PATH)
# Routes that take a body but change nothing.
READ_ONLY_POSTS = ("/api/compact/restore", "/api/recall", SESSION_PATH)
HOST_HEADER = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^][:/@\s]+)(?::\d{1,5})?")
SINGLE_HEADERS = (b"host", b"origin", b"content-type", b"authorization", b"sec-fetch-site")

NEW_TOKEN_HINT = "`holdfast token new NAME` on the server's machine makes a token"
LOCAL_TOKEN_HINT = f"`holdfast token local` prints the server user's own token; {NEW_TOKEN_HINT}"
OTHER_USER_REFUSAL = Refusal(
    401,
    "this server answers only to the user who started it, and to others with a token",
    "ask that user for one (`holdfast token new NAME`), and send Authorization: Bearer TOKEN",
)

# Keys of the ASGI scope: the databases that the caller may use, the project that its token is
# limited to, the id of the token for the rate limit, a function that checks the token again, and
# whether the sender of a request to one of OPEN_PATHS is unknown.
DATABASES, PROJECT, TOKEN, TOKEN_CHECK, ANONYMOUS = (
    f"holdfast.{name}" for name in ("databases", "project", "token", "token_check", "anonymous")
)


def accept_all(_: Scope) -> Caller:
    """Treat every caller as the owner: for a Unix socket and for --open-loopback."""
    return Caller.OWNER


def accept_tokens_only(_: Scope) -> Caller:
    """Treat every caller as unknown: for other machines and proxies."""
    return Caller.UNKNOWN


def identify_peer(scope: Scope) -> Caller:
    """Compare the user at the other end of the connection with the user of this process."""
    client, server = scope.get("client"), scope.get("server")
    user = peer_user.find_user(client, server) if client and server else None
    if user is None:
        return Caller.UNKNOWN
    return Caller.OWNER if user == os.geteuid() else Caller.OTHER_USER


class AuthMiddleware:
    """ASGI middleware that refuses requests or passes them on with the caller's databases."""

    def __init__(
        self,
        app: App,
        databases: Databases,
        *,
        hosts: tuple[str, ...] = LOOPBACK,
        identify: Identify,
        local_token_path: str = "",
        now: Callable[[], float] = time.time,
    ) -> None:
        self._app = app
        self._databases = databases
        self._hosts = hosts
        self._identify = identify
        self._local_token_path = local_token_path
        self._token_hint = LOCAL_TOKEN_HINT if local_token_path else NEW_TOKEN_HINT
        self._now = now
        self._web_sessions = WebSessions(databases)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        # Routes ignore double slashes, so the checks here must as well.
        scope["path"] = http_rules.normalize_path(scope)
        scope[DATABASES] = self._databases
        headers = {
            name.decode("latin-1").lower(): value.decode("latin-1")
            for name, value in scope["headers"]
        }
        refusal = _check_duplicates(scope) if len(headers) < len(scope["headers"]) else None
        refusal = refusal or self._check_headers(str(scope["method"]), headers)
        cookie: bytes | None = None
        if refusal is None:
            try:
                refusal, cookie = await self._check_caller(scope, headers)
            except StoreUnavailable as problem:
                # The caller is not known yet, and the problem's text names the database.
                refusal = Refusal(503, "the token cannot be checked now", problem.hint)
        if refusal is not None:
            if refusal.status == 401 and _wants_page(scope, headers):
                await sign_in.send_page(send)
            else:
                await _refuse(send, refusal)
            return
        if "q=0" in headers.get("accept-encoding", ""):
            http_rules.drop_refused_gzip(scope)
        if cookie:
            send = web_session.add_cookie(send, cookie)
        if scope["path"] == SESSION_PATH:
            await send({"type": "http.response.start", "status": 204, "headers": []})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        else:
            await self._app(scope, receive, send)

    def _check_headers(self, method: str, headers: dict[str, str]) -> Refusal | None:
        host = headers.get("host", "")
        if _parse_host(host) not in self._hosts:
            # Against DNS rebinding: another site can make its own name resolve to this machine, but
            # requests of its pages still have that name in the Host header.
            return Refusal(421, "this server does not accept this host name")
        origin = headers.get("origin")
        if origin is not None and origin.partition("://")[2] != host:
            return Refusal(403, "requests from pages of other sites are refused")
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return Refusal(403, "requests from pages of other sites are refused")
        if method in WRITE_METHODS and _has_body(headers) and not _is_json(headers):
            return Refusal(415, "send JSON, with Content-Type: application/json")
        return None

    async def _check_caller(self, scope: Scope, headers: dict[str, str]) -> Verdict:
        """Check the token, or without one the user. A wrong token is refused in any case."""
        kind, _, token = headers.get("authorization", "").partition(" ")
        if kind.lower() != "bearer":
            return await self._check_without_bearer(scope, headers)
        token, is_sign_in = token.strip(), (scope["method"], scope["path"]) == SIGN_IN
        if await self._is_local_token(token):
            scope[TOKEN_CHECK] = partial(self._is_local_token, token)
            return None, await self._issue_cookie(scope) if is_sign_in else None
        if is_sign_in:
            page_token = await sync_to_thread(self._web_sessions.redeem, token, self._now())
            if page_token:
                return None, web_session.to_cookie(scope, page_token)
        row = await sync_to_thread(self._find_token, token)
        if row is None:
            detail = "this token is unknown, expired or revoked"
            return Refusal(401, detail, self._token_hint), None
        scope[TOKEN_CHECK] = partial(self._is_valid, token)
        refusal = self._check_scope(scope, row)
        return refusal, await self._issue_cookie(scope, row) if is_sign_in and not refusal else None

    async def _check_without_bearer(self, scope: Scope, headers: dict[str, str]) -> Verdict:
        """Check a request without a bearer token: the web page sends its own token in a cookie, and
        the user who runs the server needs none.
        """
        path = scope["path"]
        # In a thread: it reads a list of all sockets of this machine.
        caller = await sync_to_thread(self._identify, scope)
        if caller is Caller.OTHER_USER:
            # Even with a cookie: browsers also send it to other ports of this host, where another
            # user may run a server and collect it.
            return OTHER_USER_REFUSAL, None
        token = web_session.read_token(scope, headers) if "cookie" in headers else ""
        row = await sync_to_thread(self._web_sessions.find, token, self._now()) if token else None
        if row is not None:
            return await self._check_page(scope, token, row)
        if (scope["method"], path) == SIGN_IN and caller is Caller.OWNER:
            return None, await self._issue_cookie(scope)
        if path in OPEN_PATHS or path.startswith(STATIC_PREFIX):
            scope[ANONYMOUS] = caller is not Caller.OWNER
            return None, None
        if caller is Caller.OWNER and path != SESSION_PATH:
            return None, None
        return Refusal(401, "send Authorization: Bearer TOKEN", self._token_hint), None

    async def _issue_cookie(self, scope: Scope, owner: Row | None = None) -> bytes:
        """Return a cookie with a new page token; `owner` is the user's token, if one was sent."""
        page_token = await sync_to_thread(self._web_sessions.issue, self._now(), owner)
        return web_session.to_cookie(scope, page_token)

    async def _check_page(self, scope: Scope, token: str, row: Row) -> Verdict:
        """Check a request with a valid page token; renew or end the token if it asks for that."""
        request = (scope["method"], scope["path"])
        if request == SIGN_OUT:
            await sync_to_thread(self._web_sessions.end, row)
            return None, web_session.to_cookie(scope, "")
        if request == SIGN_IN:
            await sync_to_thread(self._web_sessions.renew, row, self._now())
            return None, web_session.to_cookie(scope, token)
        scope[TOKEN_CHECK] = partial(self._is_valid_page_token, token)
        return self._check_scope(scope, row), None

    def _check_scope(self, scope: Scope, row: Row) -> Refusal | None:
        """Check a request against the scope of its token, and limit it to the token's project."""
        # Web pages that were signed in with a user's token share the rate limit of that token.
        scope[TOKEN] = (tokens.is_page_token(row) and row["name"]) or row["id"]
        needed = find_needed_scope(str(scope["method"]), scope["path"])
        if not tokens.has_scope(row, needed):
            return Refusal(403, f"this token may {row['scope']}; this needs {needed}")
        if row["project"] and not scope["path"].startswith(PROJECT_PREFIXES):
            return Refusal(403, "this token is for one project; the page shows all projects")
        if row["project"]:
            scope[PROJECT] = row["project"]
            scope[DATABASES] = ProjectDatabases(self._databases, row["project"])
        return None

    async def _is_local_token(self, token: str) -> bool:
        path = self._local_token_path
        return bool(path) and local_token.is_valid(path, token)

    async def _is_valid(self, token: str) -> bool:
        return await _find_if_available(self._find_token, token) is not None

    async def _is_valid_page_token(self, token: str) -> bool:
        find = self._web_sessions.find
        return await _find_if_available(find, token, self._now()) is not None

    def _find_token(self, token: str) -> Row | None:
        with self._databases.connect() as db:
            return tokens.find_valid_token(db.ledger, token, self._now())


# Values that the application injects into handlers


def get_databases(scope: LitestarScope) -> Databases:
    """Return the databases, limited to what the caller may use."""
    return cast("dict[str, Databases]", scope)[DATABASES]


def get_project(scope: LitestarScope) -> str:
    """Return the id of the project that the caller's token is limited to, or ""."""
    return str(scope.get(PROJECT, ""))


def get_token_check(scope: LitestarScope) -> TokenCheck:
    """Return a function that checks whether the request's token is still valid."""
    return cast("TokenCheck", scope.get(TOKEN_CHECK, _return_true))


def is_anonymous(scope: LitestarScope) -> bool:
    """Return whether the sender of a request without a token is unknown."""
    return bool(scope.get(ANONYMOUS))


async def has_token(request: Request[Any, Any, Any]) -> bool:
    """Return whether the request has a token: the rate limit applies only then."""
    return TOKEN in request.scope


def get_token_id(request: Request[Any, Any, Any]) -> str:
    """Return the id of the request's token, or ""."""
    return str(request.scope.get(TOKEN, ""))


async def _return_true() -> bool:
    return True


async def _find_if_available(find: Callable[..., Any], *args: Any) -> Any:
    """Return the result of `find`. If the database is unavailable, return True, which counts as a
    valid token: an event stream has nothing to send then, but need not end.
    """
    try:
        return await sync_to_thread(find, *args)
    except StoreUnavailable:
        return True


def find_needed_scope(method: str, path: str) -> str:
    """Return the scope that a token must have for a request: `read`, `write` or `admin`."""
    if method not in WRITE_METHODS or path in READ_ONLY_POSTS:
        return "read"
    return "admin" if method == "DELETE" and path.startswith("/api/projects/") else "write"


def _check_duplicates(scope: Scope) -> Refusal | None:
    names = [name.lower() for name, _ in scope["headers"]]
    if any(names.count(name) > 1 for name in SINGLE_HEADERS):
        return Refusal(400, "this request repeats a header that may occur only once")
    return None


@lru_cache(maxsize=100)
def _parse_host(header: str) -> str:
    """Return a Host header without its port; "" if it is invalid."""
    match = HOST_HEADER.fullmatch(header)
    return match[1].lower() if match else ""


def _wants_page(scope: Scope, headers: dict[str, str]) -> bool:
    """Return whether a browser asks for a page to show, rather than a program for data."""
    is_page = "text/html" in headers.get("accept", "") and scope["method"] == "GET"
    return is_page and not scope["path"].startswith("/api/")


def _has_body(headers: dict[str, str]) -> bool:
    return headers.get("content-length", "0") != "0" or "transfer-encoding" in headers


def _is_json(headers: dict[str, str]) -> bool:
    media_type = headers.get("content-type", "").partition(";")[0].strip().lower()
    return media_type == "application/json" or media_type.endswith("+json")


async def _refuse(send: Send, refusal: Refusal) -> None:
    status, detail, hint = refusal
    headers: Any = [(b"content-type", errors.MEDIA_TYPE.encode()), (b"connection", b"close")]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    if status in errors.RETRY_STATUSES:
        headers.append((b"retry-after", str(errors.RETRY_SECONDS).encode()))
    body = msgspec.json.encode(errors.to_problem(status, detail, hint))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})
