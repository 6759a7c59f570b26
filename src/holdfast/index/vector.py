"""Words as PostgreSQL keeps and is asked for them, split as FTS5 splits them.

Its own parser would take `src/worker.py` for a host name and drop what it does not know, so it is
given finished words with their places (`tsvector`) and finished questions (`tsquery`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from unicodedata import normalize

from holdfast.index.words import ASCII_WORDS, indexed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.index.words import Asked, Phrase

_WORDS = re.compile(r"[^\W_]+")
_MARKS = re.compile("[\u0300-\u036f]")
# PostgreSQL takes words of less than 2 KB, and counts up to 16383 places and 256 of one word.
LONGEST_WORD = 400
LAST_PLACE = 16_383
MOST_PLACES = 255
# How many words of a phrase are looked at: a row as long as this stands nowhere twice.
LONGEST_ROW = 64


def words(text: str) -> list[str]:
    """The words of a text: letters and digits, in small letters, without accents."""
    low = text.casefold()
    if low.isascii():
        # By way of bytes: several times faster than a pattern.
        found = low.encode("ascii").translate(ASCII_WORDS).decode("ascii").split()
    else:
        # Only such marks: those of other scripts make another letter.
        found = _WORDS.findall(normalize("NFC", _MARKS.sub("", normalize("NFD", low))))
    return [word[:LONGEST_WORD] for word in found]


def vector(text: str, also: str = "") -> str:
    """A text as a `tsvector`: each word with its places."""
    places: dict[str, list[int]] = {}
    body, added = indexed(text, also)
    # No phrase reaches from the text into what was added to it.
    for at, word in enumerate([*words(body), "", *words(added)]):
        places.setdefault(word, []).append(at)
    del places[""]
    return " ".join(f"'{word}':{_told(known)}" for word, known in places.items())


def _told(places: list[int]) -> str:
    # In a text that is too long they begin anew: all that can come of it is one more candidate.
    return ",".join([str(at % LAST_PLACE + 1) for at in places[:MOST_PLACES]])


def query(asked: Asked) -> str:
    """A question as a `tsquery`; nothing if it has no words. No sign of its own gets in."""
    needs = (" | ".join(filter(None, map(_row, need))) for need in asked)
    return " & ".join(f"({need})" for need in needs if need)


def share(asked: Asked, known: Mapping[str, float]) -> float:
    """In how many of all texts a question can be found at most, by what is known of its words.

    Of words that are not known nothing is: they are rare.
    """
    needs = (sum(_row_share(phrase, known) for phrase in need) for need in asked)
    return min(needs, default=0.0)


def _row_share(phrase: Phrase, known: Mapping[str, float]) -> float:
    row = words(phrase.text)[:LONGEST_ROW]
    return 0.0 if phrase.begins else min((known.get(word, 0.0) for word in row), default=0.0)


def _row(phrase: Phrase) -> str:
    row = [f"'{word}'" for word in words(phrase.text)[:LONGEST_ROW]]
    if row and phrase.begins:
        row[-1] += ":*"
    return f"({' <-> '.join(row)})" if row else ""
