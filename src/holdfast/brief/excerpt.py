"""Shortens a long message to the part that says what comes next."""

from __future__ import annotations

from holdfast.state.text import one_line, split_sentences

# How sentences begin that announce the next step.
INTENT_STARTS = (
    "let me", "now let", "now i", "let's", "i'll ", "i will ", "i'm ", "i am ", "next", "first,",
    "i need to", "i should", "going to",
)  # fmt: skip
# A sentence of fewer words, such as “All done.”, is not the key sentence.
MIN_SENTENCE_WORDS = 4
# So few words before the key sentence are dropped.
MAX_DROPPED_WORDS = 2


def make_excerpt(text: str, max_chars: int) -> str:
    """At most `max_chars` of the text in one line: its beginning if that has the key sentence, else
    the key sentence and what fits before it."""
    beginning = one_line(text, max_chars)
    sentences = split_sentences(text)
    if not beginning.endswith("…") or not sentences:
        return beginning
    flat = " ".join(text.split())
    key_sentence = " ".join(_find_key_sentence(sentences).split())
    end = flat.find(key_sentence) + len(key_sentence)
    if not key_sentence or end < max_chars or flat.startswith(key_sentence):
        return beginning
    if len(key_sentence) >= max_chars:
        return f"…{one_line(key_sentence, max_chars - 1)}"
    before = flat[flat.find(" ", end - max_chars) + 1 : end - len(key_sentence)]
    has_context = len(before.split()) > MAX_DROPPED_WORDS
    return f"…{before}{key_sentence}" if has_context else f"…{key_sentence}"


def _find_key_sentence(sentences: list[str]) -> str:
    """The question at the end, else the last announced step, else the first long sentence."""
    if sentences[-1].endswith(("?", "？")):
        return sentences[-1]
    intents = [one for one in sentences if one.lower().replace("’", "'").startswith(INTENT_STARTS)]
    long_enough = [
        one for one in sentences if len(one.split()) >= MIN_SENTENCE_WORDS and not one.endswith(":")
    ]
    return next(iter(intents[-1:] or long_enough), "")
