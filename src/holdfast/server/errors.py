"""Errors as problem JSON (RFC 9457): what went wrong, and often a hint."""

from __future__ import annotations

import sys
import traceback
from typing import Any

import msgspec
from litestar import Request, Response
from litestar.exceptions import HTTPException, TooManyRequestsException, ValidationException

from holdfast.errors import (
    Conflict,
    Forbidden,
    HoldfastError,
    InvalidInput,
    NotFound,
    ServerBusy,
    StoreUnavailable,
)
from holdfast.redaction import redact
from holdfast.server.http_rules import find_allowed_methods
from holdfast.server.redacted_responses import RedactedResponse

MEDIA_TYPE = "application/problem+json"
RETRY_SECONDS = 2
# Responses with these statuses have a Retry-After header of RETRY_SECONDS.
RETRY_STATUSES = (429, 503)
STATUSES: list[tuple[type[HoldfastError], int]] = [
    (NotFound, 404),
    (InvalidInput, 400),
    (Conflict, 409),
    (Forbidden, 403),
    (StoreUnavailable, 503),
    (ServerBusy, 503),
]
TITLES = {
    400: "Invalid request",
    401: "Token required",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    409: "Conflict with the current state",
    413: "Body too large",
    415: "Body is not JSON",
    421: "Unknown host name",
    429: "Too many requests",
    500: "Internal error",
    503: "Temporarily unavailable",
}


def to_problem(status: int, detail: str, hint: str = "", **more: Any) -> dict[str, Any]:
    """Return the body of an error response, with secrets redacted."""
    problem = {"type": "about:blank", "title": TITLES.get(status, "Error"), "status": status}
    problem |= {"detail": redact(detail)}
    if hint:
        problem["hint"] = hint
    return {**problem, **more}


def respond(status: int, detail: str, hint: str = "", **more: Any) -> Response[Any]:
    headers = {"Retry-After": str(RETRY_SECONDS)} if status in RETRY_STATUSES else {}
    return RedactedResponse(
        msgspec.json.encode(to_problem(status, detail, hint, **more)),
        status_code=status, media_type=MEDIA_TYPE, headers=headers,
    )  # fmt: skip


def find_status(error: HoldfastError) -> int:
    """Return the HTTP status of an error."""
    return next((code for kind, code in STATUSES if isinstance(error, kind)), 500)


def respond_to_holdfast_error(_: Request[Any, Any, Any], error: HoldfastError) -> Response[Any]:
    return respond(find_status(error), str(error), error.hint)


def respond_to_invalid_request(
    _: Request[Any, Any, Any], error: ValidationException
) -> Response[Any]:
    extra = error.extra if isinstance(error.extra, list) else []
    fields = [
        {"field": str(item.get("key", "")), "message": _to_message(str(item.get("message", "")))}
        for item in extra
        if isinstance(item, dict)
    ]
    detail = "; ".join(f"{item['field']}: {item['message']}" for item in fields) or error.detail
    return respond(400, detail, errors=fields)


def _to_message(message: str) -> str:
    """Return a message for clients. For a missing body, Litestar's message is only the name of the
    handler's parameter.
    """
    return "a JSON body is needed" if message == "'data'" else message


def respond_to_http_error(request: Request[Any, Any, Any], error: HTTPException) -> Response[Any]:
    response = respond(error.status_code, error.detail)
    if error.status_code == 405:
        response.headers["Allow"] = ", ".join(
            find_allowed_methods(request.app.routes, request.url.path)
        )
    return response


def respond_to_bug(_: Request[Any, Any, Any], error: Exception) -> Response[Any]:
    """Print the details of an unexpected error to stderr; the client gets none of them."""
    report(error)
    return respond(500, "this is a bug in Holdfast; the server's stderr has the details")


def report(error: Exception) -> None:
    """Print an unexpected error, redacted, to standard error."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    message = redact(f"{type(error).__name__}: {error}")
    print(f"error: {message} ({last.filename}:{last.lineno})", file=sys.stderr)


HANDLERS: dict[Any, Any] = {
    HoldfastError: respond_to_holdfast_error,
    ValidationException: respond_to_invalid_request,
    HTTPException: respond_to_http_error,
    TooManyRequestsException: lambda request, error: respond(
        429, "this token has sent too many requests"
    ),
    msgspec.DecodeError: lambda request, error: respond(400, str(error)),
    UnicodeDecodeError: lambda request, error: respond(400, "the body is not UTF-8"),
    RecursionError: lambda request, error: respond(400, "the body is nested too deeply"),
    Exception: respond_to_bug,
}
