"""Split a text into pieces with and without a highlight, for templates to render."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

# The colour of words that a search found.
FOUND = "found"
# Not after a letter or digit, or at a capital letter within a camelCase name.
WORD_START = r"(?:(?<![^\W_])|(?<=[a-z0-9])(?=[A-Z]))"
# How many occurrences are compared, and how near words have to be to count together.
MAX_PLACES, NEAR_CHARS = 100, 160


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


def find_words(text: str, words: Sequence[str]) -> list[re.Match[str]]:
    """Return where the words begin in a text, in any case: also within snake_case and camelCase."""
    longest_first = sorted({word for word in words if word}, key=len, reverse=True)
    if not longest_first:
        return []
    return [*re.finditer("|".join(map(_to_pattern, longest_first)), text)]


def _to_pattern(word: str) -> str:
    is_word = word[0].isalnum()
    return f"{WORD_START if is_word else ''}(?i:{re.escape(word)})"


def mark_words(text: str, words: Sequence[str]) -> list[Piece]:
    """Return the pieces of a text in which every occurrence of the words is marked."""
    pieces, end = [], 0
    for found in find_words(text, words):
        pieces += [Piece(text[end : found.start()]), Piece(found[0], FOUND)]
        end = found.end()
    return [piece for piece in (*pieces, Piece(text[end:])) if piece.text]


def find_densest(text: str, words: Sequence[str]) -> int:
    """Return where most different words are close together; 0 if there is none."""
    found = find_words(text, words)[:MAX_PLACES]
    if not found:
        return 0

    def count_near(match: re.Match[str]) -> int:
        near = (one[0].lower() for one in found if 0 <= one.start() - match.start() < NEAR_CHARS)
        return len(set(near))

    return max(found, key=count_near).start()
