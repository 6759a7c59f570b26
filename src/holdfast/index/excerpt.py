"""The exact original lines around a place in a text."""

from __future__ import annotations

# Characters shown of one hit: three of them fit into the default budget.
LONGEST = 640
MORE = "…"


def excerpt(text: str, place: int, longest: int = LONGEST) -> str:
    """Whole lines around a place, as they are; a line that is too long is cut there."""
    text = text.rstrip("\n")
    if len(text) <= longest:
        return text
    place = min(place, len(text) - 1)
    start = text.rfind("\n", 0, place) + 1
    end = _line_end(text, place)
    if end - start > longest:
        start, end = max(start, place - longest // 2), min(end, place + longest // 2)
    start, end = _widened(text, start, end, longest)
    lead = "" if not start else MORE + "\n" if text[start - 1] == "\n" else MORE
    tail = "" if end >= len(text) else "\n" + MORE if text[end] == "\n" else MORE
    return lead + text[start:end] + tail


def _widened(text: str, start: int, end: int, longest: int) -> tuple[int, int]:
    """By whole lines on both sides, as long as they fit."""
    grew = True
    while grew:
        grew = False
        if start > 0 and text[start - 1] == "\n":
            before = text.rfind("\n", 0, start - 1) + 1
            if end - before <= longest:
                start, grew = before, True
        if end < len(text) and text[end] == "\n":
            after = _line_end(text, end + 1)
            if after - start <= longest:
                end, grew = after, True
    return start, end


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end
