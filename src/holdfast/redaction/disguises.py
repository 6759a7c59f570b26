"""Undo what hides a secret from a search: terminal codes, escapes, and signs that look alike.

`reveal` returns the bytes to search and how positions in them map back, so that only the secret is
replaced and the text around it stays as it was.
"""

from __future__ import annotations

from holdfast.redaction.names import FOREIGN_NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    # The position after a replaced piece in the revealed bytes and in the given ones, and whether
    # the piece was removed without a replacement.
    Moves = list[tuple[int, int, bool]]

ESCAPE = b"\x1b"
_PRINTABLE = range(0x20, 0x7F)
# Unicode characters that are invisible, that are spaces, and the full-width forms of ASCII.
_INVISIBLE = [0xAD, 0x180E, *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2065)]
_INVISIBLE += [0x34F, 0x61C, *range(0x2066, 0x206A), *range(0xFE00, 0xFE10), 0xFEFF]
_SPACES = [0xA0, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000]
_LOOK_ALIKES: dict[int, bytes] = {
    **dict.fromkeys(_INVISIBLE, b""),
    **dict.fromkeys(_SPACES, b" "),
    **{code: bytes([code - 0xFEE0]) for code in range(0xFF01, 0xFF5F)},
}
# Other signs that are searched for: the letters of foreign names, and the bars of tables.
_SIGNS_IN_HINTS = "".join(FOREIGN_NAMES) + "│…→"


def _unicode_table() -> dict[bytes, bytes]:
    codes = {code: bytes([code]) for code in (*_PRINTABLE, 0x1B)} | _LOOK_ALIKES
    codes |= {ord(sign): sign.encode() for sign in _SIGNS_IN_HINTS}
    table = {f"{code:04x}".encode(): seen for code, seen in codes.items()}
    return table | {key.upper(): seen for key, seen in table.items()}


def _hex_table() -> dict[bytes, bytes]:
    table = {f"{code:02x}".encode(): bytes([code]) for code in (*_PRINTABLE, 0x1B)}
    return table | {key.upper(): seen for key, seen in table.items()}


def _sign_table(lead: bytes) -> dict[bytes, bytes]:
    encoded = ((chr(code).encode(), seen) for code, seen in _LOOK_ALIKES.items())
    return {sign[-1:]: seen for sign, seen in encoded if sign[:-1] == lead}


# What begins a disguise, how many bytes follow, and a function that returns what those stand for.
# The tables are built when they are needed: most texts have no disguises.
Introducer = tuple[bytes, int, "Callable[[], dict[bytes, bytes]]"]
_ESCAPES: list[Introducer] = [
    (b"\\u", 4, _unicode_table),
    (b"%", 2, _hex_table),
    (b"\\x", 2, _hex_table),
    (b"\\0", 2, lambda: {b"33": ESCAPE}),
]
_ENTITIES: list[Introducer] = [
    (b"&quot", 1, lambda: {b";": b'"'}),
    (b"&#", 3, lambda: {b"61;": b"=", b"58;": b":", b"39;": b"'", b"34;": b'"', b"64;": b"@"}),
    (b"&#x", 3, lambda: {b"3D;": b"=", b"3d;": b"=", b"3A;": b":", b"27;": b"'", b"22;": b'"'}),
]
_SIGNS: list[Introducer] = [
    (b"\xc2", 1, lambda: _sign_table(b"\xc2")),
    (b"\xcd", 1, lambda: _sign_table(b"\xcd")),
    (b"\xd8", 1, lambda: _sign_table(b"\xd8")),
    (b"\xe1\xa0", 1, lambda: _sign_table(b"\xe1\xa0")),
    (b"\xe2\x80", 1, lambda: _sign_table(b"\xe2\x80")),
    (b"\xe2\x81", 1, lambda: _sign_table(b"\xe2\x81")),
    (b"\xe3\x80", 1, lambda: _sign_table(b"\xe3\x80")),
    (b"\xef\xb8", 1, lambda: _sign_table(b"\xef\xb8")),
    (b"\xef\xbb", 1, lambda: _sign_table(b"\xef\xbb")),
    (b"\xef\xbc", 1, lambda: _sign_table(b"\xef\xbc")),
    (b"\xef\xbd", 1, lambda: _sign_table(b"\xef\xbd")),
]
_ASCII = bytes(range(128))
_tables: dict[bytes, dict[bytes, bytes]] = {}


def reveal(data: bytes) -> tuple[bytes, list[Moves]]:
    """Return the bytes without disguises, and the moves of each step.

    Returns `data` itself if there are none.
    """
    steps: list[Moves] = []
    # What is not ASCII is little and searched faster; an ampersand is rare.
    others = b"" if data.isascii() else data.translate(None, _ASCII)
    tables = _ESCAPES + (_ENTITIES if b"&" in data else [])
    for introducer, size, build_table in tables + (_SIGNS if others else []):
        if introducer in (data if introducer.isascii() else others):
            table = _tables.get(introducer) or _tables.setdefault(introducer, build_table())
            data, moves = _replace_escapes(data, introducer, size, table)
            if moves:
                steps.append(moves)
    if ESCAPE in data:
        data, moves = remove_terminal_codes(data)
        steps.append(moves)
    return data, steps


def _replace_escapes(
    data: bytes, introducer: bytes, size: int, table: dict[bytes, bytes]
) -> tuple[bytes, Moves]:
    first, *pieces = data.split(introducer)
    parts, moves = [first], []
    new = old = len(first)
    for piece in pieces:
        seen = table.get(piece[:size])
        if seen is None:
            parts += (introducer, piece)
            new += len(introducer) + len(piece)
        else:
            parts += (seen, piece[size:])
            moves.append((new + len(seen), old + len(introducer) + size, not seen))
            new += len(seen) + len(piece) - size
        old += len(introducer) + len(piece)
    return (b"".join(parts), moves) if moves else (data, moves)


def remove_terminal_codes(data: bytes) -> tuple[bytes, Moves]:
    """Return the bytes without terminal escape sequences, such as colours, and the moves."""
    first, *pieces = data.split(ESCAPE)
    parts, moves = [first], []
    new = old = len(first)
    for piece, following in zip(pieces, [*pieces[1:], b""], strict=True):
        size = _measure_code(piece, following)
        parts.append(piece[size:])
        moves.append((new, old + len(ESCAPE) + size, True))
        new += len(piece) - size
        old += len(ESCAPE) + len(piece)
    return b"".join(parts), moves


def _measure_code(piece: bytes, following: bytes) -> int:
    """Return how many bytes after an ESC belong to its sequence; `following` is what comes after
    the next ESC.
    """
    if piece[:1] == b"[":
        at = 1
        while 0x20 <= piece[at : at + 1].ljust(1, b"\0")[0] < 0x40:
            at += 1
        return at + 1 if piece[at : at + 1] else at
    if piece[:1] in (b"]", b"P", b"_", b"^"):
        bell = piece.find(b"\x07")
        # It ends with BEL, or with ESC and a backslash; otherwise it is no sequence.
        return bell + 1 if bell >= 0 else len(piece) if following[:1] == b"\\" else 1
    return 1 if piece[:1] and 0x40 <= piece[0] < 0x60 else 0


def find_original_span(steps: list[Moves], start: int, end: int) -> tuple[int, int]:
    """Return where a span of the revealed bytes is in the given ones."""
    from bisect import bisect_right

    for moves in reversed(steps):
        index = bisect_right(moves, (start, 1 << 62, True)) - 1
        start = start + moves[index][1] - moves[index][0] if index >= 0 else start
        index = bisect_right(moves, (end, 1 << 62, True)) - 1
        while index >= 0 and moves[index][0] == end and moves[index][2]:
            index -= 1  # An invisible sign after the span does not belong to it.
        end = end + moves[index][1] - moves[index][0] if index >= 0 else end
    return start, end
