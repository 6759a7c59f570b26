"""Lines so long that decoding them whole would take memory without bounds.

A decoded text takes four bytes for each of its signs as soon as one is an emoji, and it is held
twice while its line is decoded. No rule looks at the middle of millions of signs. A million short
texts take ten times the room of their signs: a line that is made of them is no message.
"""

from __future__ import annotations

# What is kept of a text at either end; less of each where there are many.
ENDS = (500_000, 50_000, 5_000, 500)
# How much may be left of a line.
MOST = 2 << 20
TEXT = rb'"(?:[^"\\]++|\\.)*+"'
LEFT_OUT = " … ".encode()
# An escape is a backslash and at most five signs more.
ESCAPE = 6
SECOND_HALVES = frozenset((b"dc", b"dd", b"de", b"df"))


def shortened(raw: bytes) -> bytes:
    """The line, without the middle of its longest texts; nothing, if it is not they that count."""
    for end in ENDS:
        raw = _without_middles(raw, end)
        if len(raw) <= MOST:
            return raw
    return b""


def _without_middles(raw: bytes, kept: int) -> bytes:
    import re

    parts: list[bytes] = []
    at = 0
    for found in re.finditer(TEXT, raw):
        start, end = found.span()
        if end - start > 2 * kept:
            parts += [raw[at : _joint(raw, start + kept)], LEFT_OUT]
            at = _joint(raw, end - kept)
    parts.append(raw[at:])
    return b"".join(parts)


def _joint(raw: bytes, at: int) -> int:
    """The next place before this one where a text can be cut: not inside of an escape or a sign."""
    while raw[at] & 0xC0 == 0x80:
        at -= 1
    escape = raw.rfind(b"\\", at - ESCAPE + 1, at)
    if escape >= 0:
        at = escape
        while raw[at - 1 : at] == b"\\":
            at -= 1
    # An emoji may be written as two escapes, of which neither is a sign.
    second = raw[at : at + 2] == b"\\u" and raw[at + 2 : at + 4].lower() in SECOND_HALVES
    return at - ESCAPE if second else at
