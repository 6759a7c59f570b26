"""Encode states as text and compressed bytes, and decode them."""

from __future__ import annotations

import zlib

from holdfast.fast_json import dumps, loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.state.types import State


def encode_state(state: State) -> str:
    """Return the canonical JSON of a state.

    It contains no secrets: transcript lines are redacted where they are decoded. Searching a large
    state again would take a fifth of a hook's time.
    """
    return dumps(state)


def decode_state(text: str) -> State:
    """Return the state in this text. Parts that an older version did not write are empty.

    For text that cannot be parsed, return an empty state of version 0, so that the transcript is
    folded again.
    """
    # Imported here because the status line opens the store too and never needs the fold.
    from holdfast.state.fold import new_state

    try:
        state: State = {**new_state(), **loads(text)}
    except (ValueError, TypeError, AttributeError):
        return {**new_state(), "version": 0}
    return state if isinstance(state["version"], int) else {**new_state(), "version": 0}


# A snapshot that is stored as the difference from another one, its base, begins with DELTA_MARKER,
# the id of the base and BASE_ID_END. No zlib stream begins with DELTA_MARKER.
DELTA_MARKER, BASE_ID_END = b"\x01", b"\0"
# zlib can use this much of the base as a dictionary: the size of its window.
DICTIONARY_BYTES = 32_768
MAX_COMPRESSION_LEVEL = 9


def compress(text: str) -> bytes:
    """Compress text quickly, at the lowest level."""
    return zlib.compress(text.encode("ascii"), 1)


def compress_tightly(text: str) -> bytes:
    """Compress text that is rarely read again, at the highest level."""
    return zlib.compress(text.encode("ascii"), MAX_COMPRESSION_LEVEL)


def compress_delta(text: str, base: str, base_text: str) -> bytes:
    """Compress text with another text as the dictionary; `base` is the id of that snapshot."""
    compressor = zlib.compressobj(
        MAX_COMPRESSION_LEVEL, zdict=base_text[-DICTIONARY_BYTES:].encode("ascii")
    )
    return (
        DELTA_MARKER
        + base.encode()
        + BASE_ID_END
        + compressor.compress(text.encode("ascii"))
        + compressor.flush()
    )


def is_tightly_compressed(blob: bytes) -> bool:
    """Return whether this was compressed at the highest level, which zlib stores in byte 2."""
    return blob[:1] == DELTA_MARKER or blob[1] >> 6 == 3


def get_base_id(blob: bytes) -> str:
    """Return the id of the snapshot that is needed to decompress this one, or ""."""
    return blob[1:].partition(BASE_ID_END)[0].decode() if blob[:1] == DELTA_MARKER else ""


def decompress(blob: bytes, base_text: str = "") -> str:
    """Return the text. `base_text` is the text of the base, if there is one.

    Raises zlib.error if the bytes are damaged or `base_text` is wrong: zlib stores checksums of the
    text and of the dictionary.
    """
    if blob[:1] != DELTA_MARKER:
        return zlib.decompress(blob).decode("ascii")
    decompressor = zlib.decompressobj(zdict=base_text[-DICTIONARY_BYTES:].encode("ascii"))
    text = decompressor.decompress(blob.partition(BASE_ID_END)[2]) + decompressor.flush()
    if not decompressor.eof:
        raise zlib.error("the data ends too early")
    return text.decode("ascii")
