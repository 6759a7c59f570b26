"""Words and queries for PostgreSQL, split in the same way as FTS5 splits them.

PostgreSQL's own parser would take `src/worker.py` for a host name and drop what it does not know,
so it gets words that are already split, and finished `tsquery` texts. The GIN index knows which
words a text has, but not their order. So phrases are checked with LIKE on the text's words, which
are stored in order.
"""

from __future__ import annotations

import re
from math import prod
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import normalize

from holdfast.search.tokenizer import ASCII_WORD_TABLE, to_indexed_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from holdfast.search.tokenizer import MatchExpression, Phrase

_WORDS = re.compile(r"[^\W_]+")
_COMBINING_MARKS = re.compile("[\u0300-\u036f]")
# PostgreSQL accepts words of less than 2 KB.
MAX_WORD_CHARS = 400
# How many words of a phrase are compared: a phrase of this length is practically unique.
MAX_PHRASE_WORDS = 64
# Between the words of a text and the added words. It is not a word, so no phrase can span it.
SEPARATOR = "_"
# Lexemes for the session of a document, and for groups of 16, 256 and 4,096 sessions.
_SESSION_GROUP_PREFIXES = ("_s", "_t", "_u", "_v")
_GROUP_SIZE = 16
_MAX_USEFUL_SHARE = 0.5


def split_words(text: str) -> list[str]:
    """Return the words of a text: letters and digits, in lower case, without accents."""
    lower = text.casefold()
    if lower.isascii():
        # On bytes: several times faster than a regular expression.
        words = lower.encode("ascii").translate(ASCII_WORD_TABLE).decode("ascii").split()
    else:
        # Only these marks: in other scripts, a mark makes a different letter.
        decomposed = _COMBINING_MARKS.sub("", normalize("NFD", lower))
        words = _WORDS.findall(normalize("NFC", decomposed))
    return [word[:MAX_WORD_CHARS] for word in words]


def to_word_sequence(text: str, also: str = "") -> str:
    """Return the words of a text in order, then a separator and the added words."""
    body, added = to_indexed_text(text, also)
    added_words = split_words(added)
    words = split_words(body)
    return " ".join([*words, SEPARATOR, *added_words] if added_words else words)


def to_tsquery(match: MatchExpression) -> str:
    """Return a match expression as a `tsquery`; empty if it has no words.

    Only letters and digits get in, so a query cannot use its syntax.
    """
    alternatives = (_any_of(map(_all_words, phrases)) for phrases in match)
    return " & ".join(f"({text})" for text in alternatives if text)


def to_like_patterns(match: MatchExpression) -> list[list[str]]:
    """Return patterns for LIKE that check the order of words.

    One list for each part of the expression that has a phrase of several words; a document must
    match one pattern of each list.
    """
    alternatives = (
        [(_phrase_words(phrase), phrase.is_prefix) for phrase in phrases] for phrases in match
    )
    return [
        [f"% {' '.join(words)}{'' if is_prefix else ' '}%" for words, is_prefix in phrases if words]
        for phrases in alternatives
        if any(len(words) > 1 for words, _ in phrases)
    ]


def sessions_tsquery(first: int, last: int) -> str:
    """Return a short `tsquery` for a range of sessions; it may include some after `last`."""
    lexemes: list[str] = []
    for prefix in _SESSION_GROUP_PREFIXES:
        while first <= last and (
            first % _GROUP_SIZE or last - first < _GROUP_SIZE or prefix == "_v"
        ):
            lexemes.append(f"{prefix}{first}")
            first += 1
        if first > last:
            break
        first, last = first // _GROUP_SIZE, last // _GROUP_SIZE
    return _any_of(lexemes)


def markers_tsquery(prefix: str, numbers: Iterable[int], shares: Mapping[str, float]) -> str:
    """Return a `tsquery` for documents of these projects (`_p`) or kinds (`_k`).

    Empty if they are most of all documents: then it is faster without this condition.
    """
    lexemes = [f"{prefix}{number}" for number in numbers]
    share = sum(shares.get(lexeme, 0.0) for lexeme in lexemes)
    return _any_of(lexemes) if share < _MAX_USEFUL_SHARE else ""


class Share(NamedTuple):
    """The estimated share of all texts that match a query."""

    upper_bound: float
    likely: float
    """If words occur independently of each other."""


def estimate_share(match: MatchExpression, shares: Mapping[str, float]) -> Share:
    """Estimate how many texts match, from the statistics of common words.

    A word without statistics is rarer than any word with, and most of them are much rarer.
    """
    unknown = min(shares.values(), default=0.0) / 4
    estimates = []
    for phrases in match:
        word_shares = [
            [shares.get(word, unknown) for word in words]
            for words in map(_phrase_words, phrases)
            if words
        ]
        estimates.append(Share(sum(map(min, word_shares)), sum(map(prod, word_shares))))
    return Share(
        min((estimate.upper_bound for estimate in estimates), default=0.0),
        prod(estimate.likely for estimate in estimates),
    )


def _phrase_words(phrase: Phrase) -> list[str]:
    return split_words(phrase.text)[:MAX_PHRASE_WORDS]


def _all_words(phrase: Phrase) -> str:
    lexemes = [f"'{word}'" for word in _phrase_words(phrase)]
    if lexemes and phrase.is_prefix:
        lexemes[-1] += ":*"
    return f"({' & '.join(lexemes)})" if lexemes else ""


def _any_of(lexemes: Iterable[str]) -> str:
    return " | ".join(filter(None, lexemes))
