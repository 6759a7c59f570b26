"""Split a text into pieces with and without a highlight, for templates to render."""

from __future__ import annotations

from typing import NamedTuple


class Mark(NamedTuple):
    """A part of a text and the colour it is shown in."""

    text: str
    color: str


class Piece(NamedTuple):
    text: str
    color: str = ""


def mark_text(text: str, marks: list[Mark]) -> list[Piece]:
    """Return the pieces of a text in order. Of overlapping marks the first in the text counts."""
    spans = []
    for mark in marks:
        wanted = mark.text.strip()
        at = text.find(wanted) if wanted else -1
        if at >= 0:
            spans.append((at, at + len(wanted), mark.color))
    pieces: list[Piece] = []
    end = 0
    for start, stop, color in sorted(set(spans)):
        if start < end:
            continue
        if start > end:
            pieces.append(Piece(text[end:start]))
        pieces.append(Piece(text[start:stop], color))
        end = stop
    if end < len(text):
        pieces.append(Piece(text[end:]))
    return pieces
