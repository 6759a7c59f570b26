"""States as bytes and back. Nothing is written before secrets are taken out."""

from __future__ import annotations

import zlib

from holdfast.quick_json import dumps, loads
from holdfast.redact import redact, redact_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.state.model import State


def dump(state: State) -> str:
    """Canonical JSON of a state, redacted.

    Rules redact what they keep; this is the net under them. Looking at the whole text first
    keeps the ordinary case fast: only a hit is worth walking the state for.
    """
    text = dumps(state)
    return text if redact(text) == text else dumps(redact_value(state))


def load(text: str) -> State:
    state: State = loads(text)
    return state


def pack(text: str) -> bytes:
    return zlib.compress(text.encode("ascii"), 1)


def unpack(blob: bytes) -> str:
    return zlib.decompress(blob).decode("ascii")


def richness(state: State) -> int:
    """How much a state knows, so that a thin one never stands in for a rich one."""
    return sum(
        len(part)
        for part in (
            state["requests"], state["rules"], state["decisions"], state["plan"],
            state["files"], state["checks"], state["commits"], state["agents"],
        )
    )  # fmt: skip
