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
    """A state, whatever made it: parts that an older fold did not know are empty.

    One that cannot be read is of no version at all, so that the log is folded again.
    """
    # Here, because the status line opens the store too and never folds.
    from holdfast.state.fold import new_state

    try:
        state: State = {**new_state(), **loads(text)}
    except (ValueError, TypeError):
        return {**new_state(), "version": 0}
    return state


def pack(text: str) -> bytes:
    return zlib.compress(text.encode("ascii"), 1)


def unpack(blob: bytes) -> str:
    return zlib.decompress(blob).decode("ascii")
