"""Whatever goes wrong as problem JSON (RFC 9457): what, why, and what to do about it."""

from __future__ import annotations

import sys
import traceback
from typing import Any

import msgspec
from litestar import Request, Response
from litestar.exceptions import HTTPException, ValidationException

from holdfast.errors import (
    BadUsage,
    HoldfastError,
    NoSuchRecord,
    NotAllowed,
    NotNow,
    ServerBusy,
    StoreUnavailable,
)
from holdfast.redact import redact
from holdfast.surfaces.api.methods import allowed

MEDIA_TYPE = "application/problem+json"
RETRY_SECONDS = 2
# Worth another try, after a while.
COMING_BACK = (429, 503)
STATUS: list[tuple[type[HoldfastError], int]] = [
    (NoSuchRecord, 404),
    (BadUsage, 400),
    (NotNow, 409),
    (NotAllowed, 403),
    (StoreUnavailable, 503),
    (ServerBusy, 503),
]
TITLES = {
    400: "This request cannot be used",
    401: "A token is needed",
    403: "This is not allowed",
    404: "There is nothing here",
    405: "Not with this method",
    409: "This is not possible now",
    413: "Too much",
    415: "Only JSON",
    421: "Not this host",
    426: "Not over this protocol",
    429: "Too often",
    500: "A bug in Holdfast",
    503: "Not available right now",
}


def body(status: int, detail: str, hint: str = "", **more: Any) -> dict[str, Any]:
    told = {"type": "about:blank", "title": TITLES.get(status, "Error"), "status": status}
    told |= {"detail": redact(detail)}
    if hint:
        told["hint"] = hint
    return {**told, **more}


def respond(status: int, detail: str, hint: str = "", **more: Any) -> Response[Any]:
    headers = {"Retry-After": str(RETRY_SECONDS)} if status in COMING_BACK else {}
    return Response(
        msgspec.json.encode(body(status, detail, hint, **more)),
        status_code=status, media_type=MEDIA_TYPE, headers=headers,
    )  # fmt: skip


def explained(_: Request[Any, Any, Any], problem: HoldfastError) -> Response[Any]:
    return respond(*told(problem))


def invalid(_: Request[Any, Any, Any], problem: ValidationException) -> Response[Any]:
    found = problem.extra if isinstance(problem.extra, list) else []
    wrong = [
        {"field": str(one.get("key", "")), "message": _said(str(one.get("message", "")))}
        for one in found
        if isinstance(one, dict)
    ]
    detail = "; ".join(f"{one['field']}: {one['message']}" for one in wrong) or problem.detail
    return respond(400, detail, errors=wrong)


def _said(message: str) -> str:
    """The framework tells that there is no body by the name of its own variable."""
    return "a JSON body is needed" if message == "'data'" else message


def http(request: Request[Any, Any, Any], problem: HTTPException) -> Response[Any]:
    answer = respond(problem.status_code, problem.detail)
    if problem.status_code == 405:
        answer.headers["Allow"] = ", ".join(allowed(request.app.routes, request.url.path))
    return answer


def told(problem: Exception) -> tuple[int, str, str]:
    """Status, detail and hint; what is a bug is told to whoever runs the server only."""
    if isinstance(problem, HoldfastError):
        status = next((code for kind, code in STATUS if isinstance(problem, kind)), 500)
        # It says what is wrong with a command, which a request is not; the title says the rest.
        detail = problem.detail if isinstance(problem, BadUsage) else str(problem)
        return status, detail, problem.hint
    report(problem)
    return 500, "the server's own output has the details", ""


def bug(_: Request[Any, Any, Any], problem: Exception) -> Response[Any]:
    return respond(*told(problem))


def report(problem: Exception) -> None:
    last = traceback.extract_tb(problem.__traceback__)[-1]
    words = redact(f"{type(problem).__name__}: {problem}")
    print(f"error: {words} ({last.filename}:{last.lineno})", file=sys.stderr)


HANDLERS: dict[Any, Any] = {
    HoldfastError: explained,
    ValidationException: invalid,
    HTTPException: http,
    msgspec.DecodeError: lambda request, problem: respond(400, str(problem)),
    UnicodeDecodeError: lambda request, problem: respond(400, "this is not UTF-8"),
    RecursionError: lambda request, problem: respond(400, "this is nested too deeply"),
    Exception: bug,
}
