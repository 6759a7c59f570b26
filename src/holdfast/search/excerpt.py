"""Cut an excerpt of original lines around a position in a text."""

from __future__ import annotations

# Characters shown of one hit: three hits fit into the default budget.
MAX_EXCERPT_CHARS = 640
ELLIPSIS = "…"


def make_excerpt(text: str, position: int, max_chars: int = MAX_EXCERPT_CHARS) -> str:
    """Return whole lines around a position, unchanged; a longer line is cut around the position."""
    text = text.rstrip("\n")
    if len(text) <= max_chars:
        return text
    position = min(position, len(text) - 1)
    start = text.rfind("\n", 0, position) + 1
    end = _line_end(text, position)
    if end - start > max_chars:
        start, end = max(start, position - max_chars // 2), min(end, position + max_chars // 2)
    start, end = _widen(text, start, end, max_chars)
    lead = "" if not start else ELLIPSIS + "\n" if text[start - 1] == "\n" else ELLIPSIS
    tail = "" if end >= len(text) else "\n" + ELLIPSIS if text[end] == "\n" else ELLIPSIS
    return lead + text[start:end] + tail


def _widen(text: str, start: int, end: int, max_chars: int) -> tuple[int, int]:
    """Add whole lines on both sides as long as they fit."""
    is_wider = True
    while is_wider:
        is_wider = False
        if start > 0 and text[start - 1] == "\n":
            wider_start = text.rfind("\n", 0, start - 1) + 1
            if end - wider_start <= max_chars:
                start, is_wider = wider_start, True
        if end < len(text) and text[end] == "\n":
            wider_end = _line_end(text, end + 1)
            if wider_end - start <= max_chars:
                end, is_wider = wider_end, True
    return start, end


def _line_end(text: str, position: int) -> int:
    end = text.find("\n", position)
    return len(text) if end < 0 else end
