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


# What begins bytes that can be read only beside another's; no stream of zlib begins so.
BESIDE, END = b"\x01", b"\0"
# How far back zlib looks, and so how much of the other is of use.
WINDOW = 32_768
TIGHTEST = 9


def pack(text: str) -> bytes:
    return zlib.compress(text.encode("ascii"), 1)


def pack_tight(text: str) -> bytes:
    """For what is hardly ever read again."""
    return zlib.compress(text.encode("ascii"), TIGHTEST)


def pack_beside(text: str, base: str, told: str) -> bytes:
    """What differs from another text, which is stored under the id `base`."""
    packing = zlib.compressobj(TIGHTEST, zdict=told[-WINDOW:].encode("ascii"))
    return BESIDE + base.encode() + END + packing.compress(text.encode("ascii")) + packing.flush()


def is_tight(blob: bytes) -> bool:
    """Whether it was packed for the long term: zlib notes the level in its second byte."""
    return blob[:1] == BESIDE or blob[1] >> 6 == 3


def base_of(blob: bytes) -> str:
    """The id of what it must be read beside, if it cannot be read alone."""
    return blob[1:].partition(END)[0].decode() if blob[:1] == BESIDE else ""


def unpack(blob: bytes, told: str = "") -> str:
    """`told` is the text that it was packed beside; another is refused by its checksum."""
    if blob[:1] != BESIDE:
        return zlib.decompress(blob).decode("ascii")
    unpacking = zlib.decompressobj(zdict=told[-WINDOW:].encode("ascii"))
    text = unpacking.decompress(blob.partition(END)[2]) + unpacking.flush()
    return text.decode("ascii")
