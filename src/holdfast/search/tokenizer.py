"""Split texts and queries into words.

Texts are split at everything that is not a letter or digit, so paths and snake_case names are found
by their parts. `to_indexed_text` adds what that split cannot find: the parts of camelCase names,
pairs of characters for scripts without spaces, and symbols such as emoji.
"""

from __future__ import annotations

import re
from typing import NamedTuple

# Scripts that are written without spaces, and Hangul, whose particles are attached to the word.
_SPACELESS = (
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+"
)
# Arrows, marks and emoji. The gap between the ranges is box drawing, which would only match tables.
_SYMBOLS = "[\u2190-\u24ff\u2580-\u2bff\U0001f000-\U0001faff]"
_CAMEL_CASE_PARTS = r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+|[0-9]+"
_WORD = r"[^\W_]"
_EDGES = "\"'`“”‘’«».,;:!?()[]{}<>*…"
# For `bytes.translate`: every byte that is not an ASCII letter or digit becomes a space.
ASCII_WORD_TABLE = bytes(byte if chr(byte).isalnum() and byte < 128 else 32 for byte in range(256))
MAX_TERMS = 16
STOP_WORDS = frozenset(
    {
        "a", "an", "and", "are", "as", "at", "be", "by", "did", "do", "does", "for", "from", "has",
        "have", "how", "i", "in", "is", "it", "its", "not", "of", "on", "or", "that", "the", "this",
        "to", "was", "we", "what", "when", "where", "which", "why", "will", "with", "you",
    }
)  # fmt: skip
MAX_QUERY_CHARS = 4000
MAX_TERM_CHARS = 200


class Phrase(NamedTuple):
    """Consecutive words, with any punctuation between them."""

    text: str
    is_prefix: bool = False
    """Whether the last word may continue."""


# A document matches if it has, for each inner tuple, at least one of its phrases.
MatchExpression = tuple[tuple[Phrase, ...], ...]


class Term(NamedTuple):
    """One word of a query: its text in lower case, and what it matches in an index."""

    text: str
    match: MatchExpression


def to_indexed_text(text: str, also: str = "") -> tuple[str, str]:
    """Return what an index stores for a text: the text itself, and additional words.

    `also` is added to the additional words.
    """
    added = [also] if also else []
    added += [" ".join(split_camel_case(word)) for word in _mixed_case_words(text)]
    if not text.isascii():
        added += [_to_bigrams(run) for run in dict.fromkeys(re.findall(_SPACELESS, text))]
        added += [_to_symbol_word(symbol) for symbol in dict.fromkeys(re.findall(_SYMBOLS, text))]
        # Left in the text, each run of such a script would be one long word that is never searched.
        text = re.sub(_SPACELESS, " ", text)
    return text, "\n".join(added)


def split_camel_case(word: str) -> list[str]:
    """Return the parts of a camelCase name; one part for any other word."""
    return re.findall(_CAMEL_CASE_PARTS, word)


def _mixed_case_words(text: str) -> list[str]:
    # On bytes: many times faster than a regular expression.
    words = set(text.encode("utf-8", "replace").translate(ASCII_WORD_TABLE).split())
    return sorted(
        word.decode()
        for word in words
        if not (word.islower() or word[1:].islower() or word.isupper() or word.isdigit())
    )


def _to_bigrams(run: str) -> str:
    """`abcd` becomes `ab bc cd d`: each part of it is a phrase, and the last character a word."""
    return " ".join([run[start : start + 2] for start in range(len(run))])


def _to_symbol_word(symbol: str) -> str:
    return f"u{ord(symbol):x}"


def parse_terms(query: str) -> list[Term]:
    """Return the distinct terms of a query, at most `MAX_TERMS`; the longest if there are more.

    Stop words count only if there is nothing else. No part of a query is syntax.
    """
    terms: dict[str, Term] = {}
    for chunk in to_storable(query[:MAX_QUERY_CHARS]).split():
        text = chunk.strip(_EDGES)[:MAX_TERM_CHARS]
        if match := to_match(text) or to_match(chunk[:MAX_TERM_CHARS]):
            terms.setdefault(text.lower(), Term(text.lower(), match))
    significant = [term for term in terms.values() if term.text not in STOP_WORDS]
    if len(significant) > MAX_TERMS:
        longest = {*sorted(significant, key=lambda term: -len(term.text))[:MAX_TERMS]}
        significant = [term for term in significant if term in longest]
    return significant or [*terms.values()][:MAX_TERMS]


def split_term(term: Term) -> list[Term]:
    """Return the words of a term such as `src/app.py:42` as terms; empty if it is one word."""
    return [
        Term(word, match)
        for word in re.findall(r"[^\W_]+", term.text)
        if (match := to_match(word)) and word != term.text
    ]


def to_prefix_match(term: Term) -> MatchExpression:
    """Return what matches words that begin with this term."""
    return ((Phrase(term.text, True),),) if re.search(_WORD, term.text) else term.match


def to_phrase_match(query: str) -> MatchExpression:
    """Return what matches the whole query as one phrase; empty if it cannot be a phrase."""
    text = to_storable(query[:MAX_QUERY_CHARS]).strip()
    has_spaceless = not text.isascii() and re.search(_SPACELESS, text)
    return () if has_spaceless or not re.search(_WORD, text) else ((Phrase(text),),)


def to_storable(text: str) -> str:
    """Return a text that databases accept: without lone surrogates and without NUL."""
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("utf-8")
    return text.replace("\0", " ")


def to_match(text: str) -> MatchExpression:
    """Return what matches a word of a query; empty if it has nothing that is indexed."""
    match: list[tuple[Phrase, ...]] = []
    if not text.isascii():
        match += [(_match_run(run),) for run in re.findall(_SPACELESS, text)]
        match += [(Phrase(_to_symbol_word(symbol)),) for symbol in re.findall(_SYMBOLS, text)]
        text = re.sub(_SPACELESS, " ", text)
    if re.search(_WORD, text):
        words = re.findall(r"[A-Za-z0-9]+", text)
        parts = [part for word in words for part in split_camel_case(word)]
        # A camelCase name also matches the same words in another spelling, such as snake_case.
        other_spelling = (Phrase(" ".join(parts)),) if len(parts) > len(words) else ()
        match.append((Phrase(text), *other_spelling))
    return tuple(match)


def _match_run(run: str) -> Phrase:
    """One character matches every pair that begins with it; more characters match as pairs."""
    if len(run) == 1:
        return Phrase(run, True)
    return Phrase(" ".join(run[start : start + 2] for start in range(len(run) - 1)))
