"""Brace expansion, which the shell does before anything else."""

from __future__ import annotations

import re

MOST_FIELDS = 1000


def braced(text: str) -> list[str]:
    """`a{b,c}` as `ab` and `ac`, `{1..3}` as three; anything else as it is."""
    for start in (found.start() for found in re.finditer(r"\{", text)):
        parts, end = _brace_parts(text, start)
        if parts:
            rest = braced(text[end:])
            heads = [text[:start] + each for part in parts for each in braced(part)]
            return [head + tail for head in heads for tail in rest][:MOST_FIELDS]
    return [text]


def _brace_parts(text: str, start: int) -> tuple[list[str], int]:
    parts, depth, begin = [], 0, start + 1
    for at in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if text[at] == "," and depth == 1:
            parts.append(text[begin:at])
            begin = at + 1
        if not depth:
            inside = [*parts, text[begin:at]] if parts else _range(text[begin:at])
            return inside, at + 1
    return [], start


def _range(text: str) -> list[str]:
    found = re.fullmatch(r"(-?\d+)\.\.(-?\d+)", text)
    if not found:
        return []
    first, last = int(found[1]), int(found[2])
    width = max(map(len, found.groups())) if re.match(r"-?0\d", found[1]) else 0
    step = 1 if first <= last else -1
    numbers = range(first, last + step, step)[:MOST_FIELDS]
    return [str(number).zfill(width) for number in numbers]
