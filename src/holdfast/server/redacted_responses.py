"""Redaction of what the server receives and emits, within one budget per request."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

from litestar import Response
from litestar.serialization import default_serializer

from holdfast.redaction import redact_json
from holdfast.redaction.budget import MAX_REQUEST_UNITS, Budget, share_budget

_budget: ContextVar[Budget | None] = ContextVar("redaction_budget", default=None)
share_budget(_budget.get)


def limit_request() -> None:
    """Give the current request, and the threads that work for it, one budget for all its texts."""
    _budget.set(Budget(MAX_REQUEST_UNITS))


def redact_body(body: bytes) -> bytes:
    """Return a JSON body without secrets; what is not UTF-8 is left to the decoder's error."""
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return body
    clean = redact_json(text)
    return body if clean is text else clean.encode()


class RedactedResponse(Response[Any]):
    """A response whose JSON or text passes redaction."""

    def render(self, content: Any, media_type: str, enc_hook: Any = default_serializer) -> bytes:
        return redact_body(super().render(content, media_type, enc_hook))
