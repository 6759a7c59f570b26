"""How deep a body may be nested: what can be stored must be possible to read and to tell again."""

from __future__ import annotations

import re
from itertools import accumulate
from typing import Any

from litestar import Request
from litestar.concurrency import sync_to_thread
from litestar.exceptions import ValidationException

# Well above what tools send, and far from where Python gives up.
DEEPEST = 200
LONG = 1 << 16
_TEXT = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_OTHERS = bytes(set(range(256)) - set(b"[]{}"))


async def check_nesting(request: Request[Any, Any, Any]) -> None:
    if request.method not in ("POST", "PATCH", "PUT"):
        return
    body = await request.body()
    # To look through a long one takes so long that others would wait.
    if is_deep(body) if len(body) < LONG else await sync_to_thread(is_deep, body):
        raise ValidationException(f"this is nested more than {DEEPEST} levels deep")


def is_deep(body: bytes) -> bool:
    # Hardly any body has so many brackets that it could be.
    if body.count(b"[") + body.count(b"{") <= DEEPEST:
        return False
    brackets = _TEXT.sub(b"", body).translate(None, _OTHERS)
    return max(accumulate(1 if one in b"[{" else -1 for one in brackets), default=0) > DEEPEST
