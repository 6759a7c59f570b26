"""Shortens a report to a token budget by rules: what the next agent needs stays, how it was found
goes."""

from __future__ import annotations

from holdfast.handoff.mentions import FILE_KIND
from holdfast.handoff.path_list import path_suffixes, render_path_list
from holdfast.handoff.sentences import CONSTRAINT, PROCESS, Sentence, split_report
from holdfast.tokens.estimate import estimate_tokens, token_cost

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.handoff.mentions import Mention

MAX_TOKENS = 500
# The value of each new mention in a sentence, how many of them count, and the exponent of the
# sentence's tokens by which its value is divided.
MENTION_VALUE, MAX_VALUED_MENTIONS, LENGTH_EXPONENT = 1.5, 6, 0.7
# Reports say what matters at the beginning and at the end: sentences there are worth more.
EDGE_FACTOR, BEGINNING_SHARE, END_START = 1.3, 0.1, 0.85
# How much of the budget constraints may take before they compete with other sentences, and how
# much the list of files may take.
MAX_CONSTRAINT_SHARE, MAX_PATH_LIST_SHARE = 0.6, 0.8
MAX_SENTENCES = 600


def shorten(text: str, tokens: int = MAX_TOKENS) -> str:
    """Return the text if it fits into this many tokens, else its most valuable sentences.

    Constraints stay, and so does every path that the text names outside of code, as far as the
    budget allows at all. Empty if nothing fits.
    """
    if estimate_tokens(text) <= tokens:
        return text.strip()
    sentences = [sentence for sentence in split_report(text) if sentence.text][:MAX_SENTENCES]
    paths = list(dict.fromkeys(path for sentence in sentences for path in sentence.files))
    selected: set[int] = set()
    room = tokens - _line_tokens(render_path_list(paths, tokens * MAX_PATH_LIST_SHARE))
    _select_constraints(sentences, selected, min(room, tokens * MAX_CONSTRAINT_SHARE))
    # A path that a selected sentence names leaves the list, which makes room for more sentences.
    for _ in range(3):
        _select_by_value(
            sentences, selected, tokens - _line_tokens(_render(sentences, selected, paths, tokens))
        )
    result = _render(sentences, selected, paths, tokens)
    while estimate_tokens(result) > tokens and selected:
        selected.remove(
            max(selected, key=lambda index: (sentences[index].kind != CONSTRAINT, index))
        )
        result = _render(sentences, selected, paths, tokens)
    return result if estimate_tokens(result) <= tokens else ""


def _line_tokens(text: str) -> float:
    return token_cost(text) + 1.0 if text else 0.0


def _select_constraints(sentences: list[Sentence], selected: set[int], tokens: float) -> None:
    for index, sentence in enumerate(sentences):
        if sentence.kind == CONSTRAINT and sentence.tokens <= tokens:
            selected.add(index)
            tokens -= sentence.tokens


def _select_by_value(sentences: list[Sentence], selected: set[int], tokens: float) -> None:
    """Add to `selected` greedily the sentences with the highest value for their length.

    Only mentions that no selected sentence has count.
    """
    known = {mention for index in selected for mention in sentences[index].mentions}
    values = {
        index: _value(sentences, index, known)
        for index, sentence in enumerate(sentences)
        if index not in selected and sentence.kind != PROCESS
    }
    while values:
        best = max(values, key=values.__getitem__)
        value, sentence = values.pop(best), sentences[best]
        if value > 0 and sentence.tokens <= tokens:
            selected.add(best)
            tokens -= sentence.tokens
            new = sentence.mentions - known
            known |= new
            for index in values:
                if not new.isdisjoint(sentences[index].mentions):
                    values[index] = _value(sentences, index, known)


def _value(sentences: list[Sentence], index: int, known: set[Mention]) -> float:
    sentence = sentences[index]
    new_mentions = min(MAX_VALUED_MENTIONS, len(sentence.mentions - known))
    position = index / len(sentences)
    edge = EDGE_FACTOR if position <= BEGINNING_SHARE or position >= END_START else 1.0
    value: float = (
        edge * (sentence.kind + MENTION_VALUE * new_mentions) / sentence.tokens**LENGTH_EXPONENT
    )
    return value


def _render(sentences: list[Sentence], selected: set[int], paths: list[str], tokens: int) -> str:
    """Return the selected sentences in order, and a list of the files that none of them names."""
    lines = [sentences[index].text for index in sorted(selected)]
    named = {
        text for index in selected for kind, text in sentences[index].mentions if kind == FILE_KIND
    }
    named |= path_suffixes(named)
    missing = [path for path in paths if path not in named]
    path_list = render_path_list(missing, tokens * MAX_PATH_LIST_SHARE)
    return "\n".join([*lines, path_list] if path_list else lines)
