"""Names made of content: whoever writes the same thing down gives it the same name."""

from __future__ import annotations

import hashlib
import os

from holdfast.redact import redact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Enough to tell two wishes apart, and less than what the fold keeps of any of them.
TELLING = 150
LONG = 500


def ident(*parts: object) -> str:
    """A UUID (version 8) of these parts."""
    return _uuid(hashlib.sha256("\0".join(map(str, parts)).encode("utf-8", "replace")).hexdigest())


def _uuid(digest: str) -> str:
    return f"{digest[:8]}-{digest[8:12]}-8{digest[13:16]}-a{digest[17:20]}-{digest[20:32]}"


def likeness(*texts: str) -> str:
    """The same for texts that differ in nothing that a reader would notice, cut or not."""
    plain = ["".join(redact(text).casefold().split())[:TELLING] for text in texts]
    return hashlib.sha256("\0".join(plain).encode("utf-8", "replace")).hexdigest()[:24]


def fresh(now: float) -> str:
    """A UUID (version 7) that nobody else makes. Those of one time lie side by side in an index:
    a write that finds its page in the cache costs half as much.
    """
    time, luck = f"{int(now * 1000) & 0xFFFFFFFFFFFF:012x}", os.urandom(10).hex()
    return f"{time[:8]}-{time[8:]}-7{luck[:3]}-a{luck[3:6]}-{luck[6:18]}"


def of_content(kind: str, row: dict[str, Any]) -> str:
    """The name of a row as it is now: when it was written, for the index, and a hash of it all."""
    told = hashlib.sha256()
    short: list[Any] = [kind]
    for value in row.values():
        if isinstance(value, str) and len(value) >= LONG:
            # To write it out takes longer than to hash it: its length stands for it.
            told.update(value.encode("utf-8", "surrogatepass"))
            value = len(value)
        short.append(value)
    told.update(ascii(short).encode("ascii"))
    written = int(row["updated_at"] * 1000) & 0xFFFFFFFFFFFF
    return f"{written:012x}{told.hexdigest()[:28]}"
