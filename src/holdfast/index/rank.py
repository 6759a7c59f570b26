"""How well a text answers a question: its words, how near they are, what it is and how old."""

from __future__ import annotations

from math import log
from typing import NamedTuple

# What was said and noted weighs more than a file that was printed; a summary only repeats what
# stands elsewhere, and an earlier lookup repeats itself.
_KINDS = {
    "prompt": 0.3, "note": 0.3, "reply": 0.2, "tool_call": 0.1, "summary": -0.2, "injected": -0.3,
    "lookup": -1.0,
}  # fmt: skip
COMMON = 400
EXACT, EXACT_CASE, NEAR = 0.6, 0.2, 0.3
# What stands as it was asked for, and not within a longer name.
ALONE = 0.2
# What the model still has before its eyes needs no lookup.
BEFORE_COMPACTION, OWN_SESSION, LATEST = 0.1, 0.25, 0.2
# A text of this many characters is of ordinary length (bm25's average).
ORDINARY = 2000
K1, B = 1.2, 0.5
NEARBY = 300
MOST_TRIES = 50
WEEK = 7 * 86400.0


class Found(NamedTuple):
    """A piece that may answer: where it stands, and its whole text."""

    id: int
    session: str
    line: int
    kind: str
    tool: str
    at: int
    before: bool
    """Whether it stands before its session's last compaction."""
    text: str
    place: int = 0
    """Where in the text the answer is."""
    score: float = 0.0
    """How well it answers; the same in every index."""


class Question(NamedTuple):
    """What is asked: the words, in small letters, and what each of them counts."""

    text: str
    words: list[str]
    weights: list[float]


def weight_of(places: int) -> float:
    """What a word counts: a rare one much, one that stands everywhere little."""
    return log(1.0 + (COMMON + 1) / (places + 0.5))


def best_first(found: list[Found], question: Question, own: str) -> list[Found]:
    """Sorted by text match, kind, age, session and compaction; of equals the latest first."""
    newest = max((piece.at for piece in found), default=0)
    last = max((piece.line for piece in found), default=1)
    scored = []
    for piece in found:
        score = _match(piece.text, question) + _KINDS.get(piece.kind, 0.0)
        score += BEFORE_COMPACTION * piece.before + OWN_SESSION * (piece.session == own)
        age = max(0, newest - piece.at)
        score += LATEST * (0.5 ** (age / WEEK) + piece.line / last) / 2
        scored.append((score, piece.at, piece.id, piece))
    scored.sort(key=lambda entry: entry[:3], reverse=True)
    return [piece._replace(score=score) for score, *_, piece in scored]


def _match(text: str, question: Question) -> float:
    low, whole = text.lower(), sum(question.weights) or 1.0
    length = K1 * (1 - B + B * len(text) / ORDINARY)
    score = 0.0
    for word, weight in zip(question.words, question.weights, strict=True):
        times = low.count(word) or _loosely(low, word)
        # As in bm25: the second time says less than the first, and in a long text less still.
        score += weight / whole * times * (K1 + 1) / (times + length)
    if question.text.lower() in low:
        score += EXACT + ALONE * (stands_alone(low, question.text.lower()) >= 0)
        if question.text in text:
            score += EXACT_CASE + ALONE * (stands_alone(text, question.text) >= 0)
    elif len(question.words) > 1 and _near(low, question):
        score += NEAR
    return score


def _loosely(low: str, word: str) -> int:
    """Whether a word is there in another spelling: FTS5 found it by its parts."""
    parts = "".join(sign if sign.isalnum() else " " for sign in word).split()
    return int(len(parts) > 1 and all(part in low for part in parts))


def _near(low: str, question: Question) -> bool:
    """Whether the words that count stand together in one place."""
    at = _densest(low, question)
    around = low[max(0, at - NEARBY) : at + NEARBY]
    return all(word in around for word in question.words)


def place_in(text: str, question: Question) -> int:
    """Where to look: the question itself, best as a word, else where its words stand closest."""
    low, asked = text.lower(), question.text.lower()
    for at in (
        stands_alone(text, question.text),
        text.find(question.text),
        stands_alone(low, asked),
        low.find(asked),
    ):
        if at >= 0:
            return at
    return _densest(low, question)


def stands_alone(text: str, asked: str) -> int:
    """Where this stands and is no part of a longer word, or -1."""
    at, tries = text.find(asked), 0
    while at >= 0 and tries < MOST_TRIES:
        end = at + len(asked)
        if not (_is_wordy(text[at - 1 : at]) or _is_wordy(text[end : end + 1])):
            return at
        at, tries = text.find(asked, at + 1), tries + 1
    return -1


def _is_wordy(sign: str) -> bool:
    return sign == "_" or sign.isalnum()


def _densest(low: str, question: Question) -> int:
    best, place = -1.0, 0
    ordered = sorted(zip(question.weights, question.words, strict=True), reverse=True)
    for _, anchor in ordered[:3]:
        at, tries = low.find(anchor), 0
        while at >= 0 and tries < MOST_TRIES:
            around = low[max(0, at - NEARBY) : at + NEARBY]
            score = sum(weight for weight, word in ordered if word in around)
            if score > best:
                best, place = score, at
            at, tries = low.find(anchor, at + 1), tries + 1
    return place
