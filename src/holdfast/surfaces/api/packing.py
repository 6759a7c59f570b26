"""An answer as it is sent: its status, its headers, and its body, packed if that is worth it."""

from __future__ import annotations

import gzip
from typing import Any

import msgspec

from holdfast.surfaces.api import problems

# As the framework packs what is long, if the client takes it.
PACKED_FROM, LEVEL, NONE = 1000, 6, (b"0", b"0.0", b"0.00", b"0.000")
_JSON, _PROBLEM = (
    (b"content-type", kind.encode()) for kind in ("application/json", problems.MEDIA_TYPE)
)

Headers = list[tuple[bytes, bytes]]
Packed = tuple[int, Headers, bytes]


def takes_gzip(codings: bytes) -> bool:
    """Whether an Accept-Encoding names it, and does not rule it out."""
    return any(
        coding.partition(b";")[0] == b"gzip" and coding.partition(b"q=")[2] not in NONE
        for coding in codings.replace(b" ", b"").split(b",")
    )


def packed(status: int, told: Any, *, takes_gzip: bool) -> Packed:
    body = msgspec.json.encode(told)
    headers = [_PROBLEM if status >= 400 else _JSON]
    if takes_gzip and len(body) >= PACKED_FROM:
        body = gzip.compress(body, LEVEL, mtime=0)
        headers += [(b"content-encoding", b"gzip"), (b"vary", b"Accept-Encoding")]
    headers.append((b"content-length", b"%d" % len(body)))
    if status == 503:
        headers.append((b"retry-after", b"%d" % problems.RETRY_SECONDS))
    return status, headers, body
