"""Score how well a text answers a query: its words, how near they are, its kind and its age."""

from __future__ import annotations

from math import log
from typing import NamedTuple

# Prompts and notes count more than printed output. A summary repeats what is found elsewhere, and
# so does an earlier lookup.
_KIND_BONUS = {
    "prompt": 0.3, "note": 0.3, "reply": 0.2, "tool_call": 0.1, "summary": -0.2, "injected": -0.3,
    "lookup": -1.0,
}  # fmt: skip
# A word with this many matches or more is common; more of them are not counted.
COMMON_TERM_MATCHES = 400
# The whole query is in the text; also in the same case; its words are close together.
EXACT_BONUS, EXACT_CASE_BONUS, NEAR_BONUS = 0.6, 0.2, 0.3
# The query is in the text and is not part of a longer name.
WHOLE_WORD_BONUS = 0.2
# A text before the compaction is no longer in the model's context, so a lookup is worth more.
BEFORE_COMPACTION_BONUS, OWN_SESSION_BONUS, RECENCY_BONUS = 0.1, 0.25, 0.2
# The average document length of BM25, in characters, and its two parameters.
AVERAGE_TEXT_CHARS = 2000
K1, B = 1.2, 0.5
NEARBY_CHARS = 300
# How many occurrences of a word in one text are looked at.
MAX_OCCURRENCES = 50
RECENCY_HALF_LIFE_SECONDS = 7 * 86400.0


class SearchResult(NamedTuple):
    """A document that matches a query, with its whole text."""

    id: int
    session: str
    line: int
    kind: str
    tool: str
    at: int
    before_compaction: bool
    """Whether it is before the last compaction of its session."""
    text: str
    position: int = 0
    """Where in the text the best match is."""
    score: float = 0.0
    """Comparable between the results of different indexes."""


class WeightedQuery(NamedTuple):
    """A query: its text, its words in lower case, and the weight of each word."""

    text: str
    words: list[str]
    weights: list[float]


def term_weight(matches: int) -> float:
    """Return the weight of a word by the number of its matches: the rarer, the higher."""
    return log(1.0 + (COMMON_TERM_MATCHES + 1) / (matches + 0.5))


def rank(results: list[SearchResult], query: WeightedQuery, own_session: str) -> list[SearchResult]:
    """Return the results with their scores, best first; with equal scores the latest first.

    The score adds up text match, kind, age, session and compaction.
    """
    newest = max((result.at for result in results), default=0)
    last_line = max((result.line for result in results), default=1)
    scored = []
    for result in results:
        score = _score_text(result.text, query) + _KIND_BONUS.get(result.kind, 0.0)
        score += BEFORE_COMPACTION_BONUS * result.before_compaction
        score += OWN_SESSION_BONUS * (result.session == own_session)
        age = max(0, newest - result.at)
        recency = (0.5 ** (age / RECENCY_HALF_LIFE_SECONDS) + result.line / last_line) / 2
        score += RECENCY_BONUS * recency
        scored.append((score, result.at, result.id, result))
    scored.sort(key=lambda entry: entry[:3], reverse=True)
    return [result._replace(score=score) for score, *_, result in scored]


def _score_text(text: str, query: WeightedQuery) -> float:
    lower, total_weight = text.lower(), sum(query.weights) or 1.0
    length = K1 * (1 - B + B * len(text) / AVERAGE_TEXT_CHARS)
    score = 0.0
    for word, weight in zip(query.words, query.weights, strict=True):
        count = lower.count(word) or _count_by_parts(lower, word)
        # BM25: each further occurrence adds less, and in a long text less still.
        score += weight / total_weight * count * (K1 + 1) / (count + length)
    if query.text.lower() in lower:
        score += EXACT_BONUS + WHOLE_WORD_BONUS * (find_whole_word(lower, query.text.lower()) >= 0)
        if query.text in text:
            score += EXACT_CASE_BONUS
            score += WHOLE_WORD_BONUS * (find_whole_word(text, query.text) >= 0)
    elif len(query.words) > 1 and _are_words_near(lower, query):
        score += NEAR_BONUS
    return score


def _count_by_parts(lower: str, word: str) -> int:
    """Return 1 if all parts of a word are in the text: the index matched another spelling."""
    parts = "".join(char if char.isalnum() else " " for char in word).split()
    return int(len(parts) > 1 and all(part in lower for part in parts))


def _are_words_near(lower: str, query: WeightedQuery) -> bool:
    """Return whether all words of the query are within `NEARBY_CHARS` of one position."""
    position = _find_densest(lower, query)
    around = lower[max(0, position - NEARBY_CHARS) : position + NEARBY_CHARS]
    return all(word in around for word in query.words)


def find_best_position(text: str, query: WeightedQuery) -> int:
    """Return where the query itself is, preferably as a whole word; else where its words are
    closest together."""
    lower, lower_query = text.lower(), query.text.lower()
    for position in (
        find_whole_word(text, query.text),
        text.find(query.text),
        find_whole_word(lower, lower_query),
        lower.find(lower_query),
    ):
        if position >= 0:
            return position
    return _find_densest(lower, query)


def find_whole_word(text: str, wanted: str) -> int:
    """Return the first position where `wanted` is not part of a longer word, or -1."""
    position, tries = text.find(wanted), 0
    while position >= 0 and tries < MAX_OCCURRENCES:
        end = position + len(wanted)
        if not (_is_word_char(text[position - 1 : position]) or _is_word_char(text[end : end + 1])):
            return position
        position, tries = text.find(wanted, position + 1), tries + 1
    return -1


def _is_word_char(char: str) -> bool:
    return char == "_" or char.isalnum()


def _find_densest(lower: str, query: WeightedQuery) -> int:
    """Return an occurrence of one of the three heaviest words with the most weight around it."""
    best_score, best_position = -1.0, 0
    ordered = sorted(zip(query.weights, query.words, strict=True), reverse=True)
    for _, anchor in ordered[:3]:
        position, tries = lower.find(anchor), 0
        while position >= 0 and tries < MAX_OCCURRENCES:
            around = lower[max(0, position - NEARBY_CHARS) : position + NEARBY_CHARS]
            score = sum(weight for weight, word in ordered if word in around)
            if score > best_score:
                best_score, best_position = score, position
            position, tries = lower.find(anchor, position + 1), tries + 1
    return best_position
