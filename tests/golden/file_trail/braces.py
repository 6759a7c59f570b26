"""Brace expansion, the first step of the shell's word expansion."""

from __future__ import annotations

import re

MAX_FIELDS = 1000


def expand_braces(text: str) -> list[str]:
    """Expand `a{b,c}` to `ab` and `ac`, and `{1..3}` to three words; leave other text as it is."""
    for start in (match.start() for match in re.finditer(r"\{", text)):
        parts, end = _brace_parts(text, start)
        if parts:
            rest = expand_braces(text[end:])
            heads = [text[:start] + middle for part in parts for middle in expand_braces(part)]
            return [head + tail for head in heads for tail in rest][:MAX_FIELDS]
    return [text]


def _brace_parts(text: str, start: int) -> tuple[list[str], int]:
    parts, depth, begin = [], 0, start + 1
    for position in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[position], 0)
        if text[position] == "," and depth == 1:
            parts.append(text[begin:position])
            begin = position + 1
        if not depth:
            inside = [*parts, text[begin:position]] if parts else _range(text[begin:position])
            return inside, position + 1
    return [], start


def _range(text: str) -> list[str]:
    match = re.fullmatch(r"(-?\d+)\.\.(-?\d+)", text)
    if not match:
        return []
    first, last = int(match[1]), int(match[2])
    width = max(map(len, match.groups())) if re.match(r"-?0\d", match[1]) else 0
    step = 1 if first <= last else -1
    numbers = range(first, last + step, step)[:MAX_FIELDS]
    return [str(number).zfill(width) for number in numbers]
