"""Rules for every HTTP request, whatever its route: limits, path, HEAD, query and JSON body."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from functools import lru_cache
from itertools import accumulate
from typing import Any
from urllib.parse import unquote

import msgspec
from litestar import Request, Response
from litestar.concurrency import sync_to_thread
from litestar.exceptions import ValidationException
from litestar.handlers import BaseRouteHandler
from litestar.params import QueryParameter
from litestar.routes import HTTPRoute
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from holdfast.errors import InvalidInput
from holdfast.server.redacted_responses import limit_request, redact_body

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

# The request line and the headers together.
MAX_HEAD_BYTES = 1 << 17
# A request must arrive within this time: enough for the largest body at half a megabit per second.
REQUEST_SECONDS = 120.0
NOT_HTTP = "this is not an HTTP request, or its address or headers are too long"
# Levels of nesting in a JSON body: far more than tools send, and far less than Python's JSON parser
# can parse.
MAX_NESTING = 200
# A longer body is scanned in a thread, because scanning it would block the event loop too long.
SCAN_IN_THREAD_BYTES = 1 << 16
# A HEAD request for a stream would never end.
STREAM_PATH = "/api/events"
# Paths below which unknown query parameters are accepted.
ANY_QUERY_PATHS = ("/health", "/docs", "/openapi")
# Replaces a slash that was sent as %2F, because names of agents contain slashes. It is from
# Unicode's private use area, so no name contains it.
ENCODED_SLASH = "\ue02f"
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_REFUSED_GZIP = re.compile(rb"\bgzip;q=0(?:\.0{0,3})?(?:,|$)")
_ERROR_PLACE = re.compile(r" - at `\$\.?(.+)`$")


class LimitedHttpProtocol(HttpToolsProtocol):
    """uvicorn's protocol with limits that it has no settings for: how long a request's head may
    be, and how long a request may take to arrive.
    """

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._head_bytes = 0
        self._is_in_head = True
        self._deadline = self.loop.call_later(REQUEST_SECONDS, self.transport.close)

    def data_received(self, data: bytes) -> None:
        if self._is_in_head:
            self._head_bytes += len(data)
        super().data_received(data)
        is_too_long = self._is_in_head and self._head_bytes > MAX_HEAD_BYTES
        if is_too_long and not self.transport.is_closing():
            self.send_400_response(NOT_HTTP)

    def on_message_begin(self) -> None:
        self._deadline.cancel()
        self._deadline = self.loop.call_later(REQUEST_SECONDS, self.transport.close)
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._is_in_head, self._head_bytes = False, 0
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._is_in_head = True
        self._deadline.cancel()
        super().on_message_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._deadline.cancel()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Respond to data that is not HTTP with problem JSON, as for every other error."""
        from holdfast.server import errors

        body = msgspec.json.encode(errors.to_problem(400, NOT_HTTP))
        head = (
            f"HTTP/1.1 400 Bad Request\r\ncontent-type: {errors.MEDIA_TYPE}\r\n"
            f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + body)
        self.transport.close()


# Paths


def normalize_path(scope: Scope) -> str:
    """Return the path without double or trailing slashes. A slash that was sent as %2F is replaced
    by ENCODED_SLASH, so that it does not split its segment.
    """
    path: str = scope["path"]
    raw: bytes = scope.get("raw_path", b"")
    if b"%" not in raw and "//" not in path and (path[-1:] != "/" or path == "/"):
        return path
    segments = path.split("/")
    if b"%2f" in raw.lower():
        sent = raw.partition(b"?")[0].split(b"/")
        segments = [unquote(part.decode("latin-1")).replace("/", ENCODED_SLASH) for part in sent]
    return "/" + "/".join(filter(None, segments))


def restore_slashes(segment: str) -> str:
    """Return a segment of a normalized path with its encoded slashes as slashes again."""
    return segment.replace(ENCODED_SLASH, "/")


# Methods


class HeadRequests:
    """ASGI middleware that answers HEAD as GET without the body."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope.get("method") != "HEAD" or scope["path"] == STREAM_PATH:
            await self._app(scope, receive, send)
            return

        async def send_head(message: Message) -> None:
            await send({**message, "body": b""} if "body" in message else message)

        await self._app({**scope, "method": "GET"}, receive, send_head)


def find_allowed_methods(routes: Iterable[object], path: str) -> list[str]:
    """Return the methods of this path's route, for the Allow header; [] if there is no route."""
    segments = [segment for segment in path.split("/") if segment]
    matches = [
        route for route in routes if isinstance(route, HTTPRoute) and _matches(route, segments)
    ]
    if not matches:
        return []
    # Of two matching routes, the router prefers the one with more literal segments.
    route = max(
        matches,
        key=lambda match: sum(isinstance(part, str) for part in match.path_components),
    )
    head = {"HEAD"} if "GET" in route.methods and path != STREAM_PATH else set[str]()
    return sorted({*map(str, route.methods), *head})


def _matches(route: HTTPRoute, segments: list[str]) -> bool:
    pattern = route.path_components
    return len(pattern) == len(segments) and all(
        not isinstance(part, str) or part == segment
        for part, segment in zip(pattern, segments, strict=True)
    )


def drop_refused_gzip(scope: Scope) -> None:
    """Remove the Accept-Encoding header if it refuses gzip (`gzip;q=0`). Litestar would compress
    for every client that names gzip.
    """
    codings = b",".join(value for name, value in scope["headers"] if name == b"accept-encoding")
    if _REFUSED_GZIP.search(codings.replace(b" ", b"")):
        scope["headers"] = [
            header for header in scope["headers"] if header[0] != b"accept-encoding"
        ]


# Query and body, before any handler


async def check_request(request: Request[Any, Any, Any]) -> Response[Any] | None:
    """Answer an OPTIONS request; for others return None.

    Raises `InvalidInput` for an unknown query parameter, and `ValidationException` for a body that
    is nested too deeply.
    """
    limit_request()
    if request.method == "OPTIONS":
        allow = ", ".join(find_allowed_methods(request.app.routes, request.url.path))
        return Response(None, status_code=204, headers={"Allow": allow})
    if request.scope["query_string"] and not request.url.path.startswith(ANY_QUERY_PATHS):
        _check_query(request)
    if request.method in ("POST", "PATCH", "PUT"):
        body = await request.body()
        is_long = len(body) >= SCAN_IN_THREAD_BYTES
        if await sync_to_thread(is_too_deep, body) if is_long else is_too_deep(body):
            raise ValidationException(f"the body is nested more than {MAX_NESTING} levels deep")
    return None


def _check_query(request: Request[Any, Any, Any]) -> None:
    """Raise `InvalidInput` for an unknown parameter: a misspelt filter would return all rows."""
    known = _list_query_parameters(request.route_handler)
    unknown = [name for name in request.query_params if name not in known]
    if unknown:
        raise InvalidInput(
            f"Unknown query parameter: {', '.join(f'`{name}`' for name in unknown)}",
            hint=f"known parameters: {', '.join(known)}" if known else "",
        )


@lru_cache(maxsize=256)
def _list_query_parameters(handler: BaseRouteHandler) -> tuple[str, ...]:
    fields = handler.parsed_fn_signature.parameters.items()
    definitions = [(name, field.kwarg_definition) for name, field in fields]
    return tuple(
        definition.name or name
        for name, definition in definitions
        if isinstance(definition, QueryParameter)
    )


def is_too_deep(body: bytes) -> bool:
    """Return whether brackets outside of strings are nested deeper than MAX_NESTING."""
    if body.count(b"[") + body.count(b"{") <= MAX_NESTING:
        return False
    brackets = _STRING.sub(b"", body).translate(None, _NO_BRACKETS)
    depths = accumulate(1 if byte in b"[{" else -1 for byte in brackets)
    return max(depths, default=0) > MAX_NESTING


class StrictRequest(Request[Any, Any, Any]):
    """A request whose JSON must have the types of its schema: `"5"` is not a number.

    By itself, Litestar would convert it to one, as it does for query parameters.
    """

    @property
    def path_params(self) -> dict[str, Any]:
        return {
            name: restore_slashes(value) if isinstance(value, str) else value
            for name, value in super().path_params.items()
        }

    async def _redacted_body(self) -> bytes:
        """Return the body without secrets. A long one is redacted in a thread."""
        body = await self.body()
        if len(body) >= SCAN_IN_THREAD_BYTES:
            return await sync_to_thread(redact_body, body)
        return redact_body(body)

    async def json(self) -> Any:
        field = self.route_handler.parsed_data_field
        if field is None or not await self.body():
            return await super().json()
        try:
            return _get_decoder(field.annotation).decode(await self._redacted_body())
        except msgspec.ValidationError as error:
            message = str(error)
            place = _ERROR_PLACE.search(message)
            item = {"key": place[1] if place else "", "message": _ERROR_PLACE.sub("", message)}
            raise ValidationException(message, extra=[item] if place else []) from None
        except msgspec.DecodeError:
            # Not JSON at all: Litestar's own error says so.
            return await super().json()


@lru_cache(maxsize=128)
def _get_decoder(body_type: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(body_type)
