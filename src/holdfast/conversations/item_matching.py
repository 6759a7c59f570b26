"""Compares the items of a checkpoint: the same words, slightly other words, the same decision."""

from __future__ import annotations

import re
from dataclasses import dataclass

from holdfast.state.text import content_words, padded_words

# How items begin that later compactions recognize again.
GOAL_PREFIX, REQUEST_PREFIX = "goal: ", "asked: "
FAILED_PREFIX, GIVEN_UP_PREFIX, RULED_OUT_PREFIX = "failed: ", "given up: ", "ruled out: "
FOUND_PREFIX, WORKED_PREFIX = "found: ", "worked: "
WAITING_PREFIX, RESOLVED_PREFIX = "waits: ", "resolved: "
WORK_PREFIXES = (
    GOAL_PREFIX,
    REQUEST_PREFIX,
    FAILED_PREFIX,
    GIVEN_UP_PREFIX,
    WAITING_PREFIX,
    RESOLVED_PREFIX,
)
# Between the work and what was reported about it.
REPORT_SEPARATOR = "” → “"

# Two items that share more than this part of their significant words are the same.
MIN_SIMILARITY = 0.7
# The same for the main clauses of two decisions, of which fewer words are significant.
MIN_DECISION_SIMILARITY = 0.6
# A word of at least this length is the same as a longer one that begins with it.
MIN_PREFIX_CHARS = 5
REASON_PATTERN = re.compile(
    r"\s(?:because|since|so that|due to|as it|as they|given that|for the reason)\s|\s[—–-]\s|[;(]"
)
ALTERNATIVE_PATTERN = re.compile(r"\s(?:rather than|instead of|over|and not|but not)\s|,\s+not\s")
NEGATIONS = frozenset((
    "not", "never", "no", "don't", "dont", "won't", "without", "against", "avoid", "cannot",
    "can't",
))  # fmt: skip
# Words that say that something is decided, and not what.
DECISION_WORDS = frozenset((
    "decision", "decided", "decide", "decisions", "choose", "chose", "chosen", "choice", "pick",
    "picked", "settle", "settled", "opted", "opt", "agreed", "go", "going", "goes", "use", "using",
    "uses", "used", "will", "we'll", "i'll", "let's", "lets", "shall", "should", "keep", "keeping",
    "stay", "stays", "our", "us", "now", "be", "do", "have", "has", "just", "instead",
)) | NEGATIONS  # fmt: skip


def item_key(item: str) -> str:
    """Return the words of an item; items with the same words are the same item."""
    return padded_words(item).strip() or item.strip()


def item_subject(item: str) -> str:
    """Return what an item is about, without its prefix and without what was reported about it."""
    prefix = next((prefix for prefix in WORK_PREFIXES if item.startswith(prefix)), "")
    text = item.removeprefix(prefix)
    if not prefix or not text.startswith("“"):
        return text
    return text.partition(REPORT_SEPARATOR)[0].removeprefix("“").removesuffix("”")


def is_same(item: str, other: str) -> bool:
    """Return whether two items have the same words."""
    return item_key(item_subject(item)) == item_key(item_subject(other))


def is_similar(item: str, other: str) -> bool:
    """Return whether two items say the same in slightly different words.

    Items with different numbers or identifiers are different.
    """
    if is_same(item, other):
        return True
    words, other_words = _significant_words(item), _significant_words(other)
    if _differ_in_identifiers(words, other_words):
        return False
    shared, total = len(words & other_words), len(words | other_words)
    return shared > MIN_SIMILARITY * total


def is_mentioned(item: str, other: str) -> bool:
    """Return whether `other` says the same as `item`, or contains its words."""
    key = item_key(item_subject(item))
    return is_similar(item, other) or f" {key} " in padded_words(other)


def is_same_decision(item: str, other: str) -> bool:
    """Return whether two texts state the same decision, maybe in other words.

    What is compared is what was chosen or ruled out. The reason and the alternative may differ.
    """
    if is_same(item, other):
        return True
    first, second = _parse_choice(item), _parse_choice(other)
    if first.is_rejection != second.is_rejection or not first.words or not second.words:
        return False
    if _differ_in_identifiers(first.words, second.words):
        return False
    shared = sum(_has_word(word, second.words) for word in first.words)
    total = len(first.words) + len(second.words) - shared
    return shared >= MIN_DECISION_SIMILARITY * total


def shared_word_count(item: str, other: str) -> int:
    """Return how many of the significant words of `item` the other text has."""
    other_words = _stems(content_words(other))
    return sum(_has_word(word, other_words) for word in _stems(content_words(item)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Choice:
    words: frozenset[str]
    is_rejection: bool


def _parse_choice(text: str) -> _Choice:
    """Return the words of what a decision chooses, and whether it rules that out."""
    is_ruled_out = text.startswith(RULED_OUT_PREFIX)
    clause = text.removeprefix(RULED_OUT_PREFIX).replace("’", "'")
    clause = REASON_PATTERN.split(clause, maxsplit=1)[0]
    chosen = ALTERNATIVE_PATTERN.split(clause, maxsplit=1)[0]
    words = padded_words(chosen).split()
    is_rejection = is_ruled_out or bool(NEGATIONS.intersection(words))
    return _Choice(words=_stems(content_words(chosen) - DECISION_WORDS), is_rejection=is_rejection)


def _stems(words: frozenset[str]) -> frozenset[str]:
    """Return the words without the plural s."""
    return frozenset(word.removesuffix("s") if len(word) > 3 else word for word in words)


def _has_word(word: str, words: frozenset[str]) -> bool:
    return word in words or any(
        len(min(word, other, key=len)) >= MIN_PREFIX_CHARS
        and (word.startswith(other) or other.startswith(word))
        for other in words
    )


def _differ_in_identifiers(words: frozenset[str], other_words: frozenset[str]) -> bool:
    """Return whether a number or an identifier is in one text only."""
    return any(not word.replace("'", "").replace("-", "").isalpha() for word in words ^ other_words)


def _significant_words(text: str) -> frozenset[str]:
    words = item_key(item_subject(text)).split()
    return frozenset(word for word in words if len(word) > 3 or not word.isalpha())
