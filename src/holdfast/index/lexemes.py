"""Words as PostgreSQL keeps and is asked for them, split as FTS5 splits them.

Its own parser would take `src/worker.py` for a host name and drop what it does not know, so it is
given finished words and finished questions (`tsquery`). The index knows which words a text has; for
words in a row (`rows`) the text's own words are looked at, which are kept in their order.
"""

from __future__ import annotations

import re
from math import prod
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import normalize

from holdfast.index.words import ASCII_WORDS, indexed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from holdfast.index.words import Asked, Phrase

_WORDS = re.compile(r"[^\W_]+")
_MARKS = re.compile("[\u0300-\u036f]")
# PostgreSQL takes words of less than 2 KB.
LONGEST_WORD = 400
# How many words of a phrase are looked at: a row as long as this stands nowhere twice.
LONGEST_ROW = 64
# No word looks like it, so no phrase reaches from a text into what was added to it.
APART = "_"
# What tells of a piece's session, and of sixteen, 256 and 4096 of them.
_STRETCHES = ("_s", "_t", "_u", "_v")
_SIXTEEN = 16
_MOST = 0.5


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


def in_order(text: str, also: str = "") -> str:
    """All words of a text, and those that are added to it."""
    body, added = indexed(text, also)
    more = words(added)
    return " ".join([*words(body), APART, *more] if more else words(body))


def query(asked: Asked) -> str:
    """A question as a `tsquery`; nothing if it has no words. No sign of its own gets in."""
    needs = (_any(map(_all, need)) for need in asked)
    return " & ".join(f"({need})" for need in needs if need)


def rows(asked: Asked) -> list[list[str]]:
    """For each need that has words in a row, what a text must be like, as patterns for LIKE."""
    needs = ([(_row(phrase), phrase.begins) for phrase in need] for need in asked)
    return [
        [f"% {' '.join(row)}{'' if begins else ' '}%" for row, begins in need if row]
        for need in needs
        if any(len(row) > 1 for row, _ in need)
    ]


def stretch(first: int, last: int) -> str:
    """These sessions, and perhaps some after them, as a `tsquery` of few words."""
    told: list[str] = []
    for name in _STRETCHES:
        while first <= last and (first % _SIXTEEN or last - first < _SIXTEEN or name == "_v"):
            told.append(f"{name}{first}")
            first += 1
        if first > last:
            break
        first, last = first // _SIXTEEN, last // _SIXTEEN
    return _any(told)


def one_of(name: str, numbers: Iterable[int], known: Mapping[str, float]) -> str:
    """Pieces of these projects (`_p`) or kinds (`_k`) as a `tsquery`.

    Nothing if they are most of all: then it is quicker to look at what else is there.
    """
    told = [f"{name}{number}" for number in numbers]
    return _any(told) if sum(known.get(one, 0.0) for one in told) < _MOST else ""


class Share(NamedTuple):
    """In how many of all texts a question is found: at most, and if words stand where they may."""

    most: float
    likely: float


def share(asked: Asked, known: Mapping[str, float]) -> Share:
    """What is known of a question's words tells of it.

    Words that are not known are rarer than any that is, most of them by far.
    """
    unknown = min(known.values(), default=0.0) / 4
    needs = []
    for need in asked:
        told = [[known.get(word, unknown) for word in _row(phrase)] for phrase in need]
        needs.append(Share(sum(map(min, filter(None, told))), sum(map(prod, filter(None, told)))))
    return Share(
        min((need.most for need in needs), default=0.0), prod(need.likely for need in needs)
    )


def _row(phrase: Phrase) -> list[str]:
    return words(phrase.text)[:LONGEST_ROW]


def _all(phrase: Phrase) -> str:
    row = [f"'{word}'" for word in _row(phrase)]
    if row and phrase.begins:
        row[-1] += ":*"
    return f"({' & '.join(row)})" if row else ""


def _any(told: Iterable[str]) -> str:
    return " | ".join(filter(None, told))
