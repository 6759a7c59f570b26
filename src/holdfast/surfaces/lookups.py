"""Look things up in a transcript as an agent would: what the measures of `holdfast eval` ask."""

from __future__ import annotations

from functools import lru_cache

from holdfast.actions.indexing import index_of_file
from holdfast.actions.recall import Hit, at_ref, by_words, printed
from holdfast.actions.refs import Ref
from holdfast.errors import HoldfastError
from holdfast.eval.recoverability import Desk
from holdfast.index.database import Index

WHOLE_LINE = 1_000_000
LOOKUP_TOKENS = 800  # what `holdfast recall` shows unless told otherwise


def looked_up(transcript: str, words: str) -> str:
    """What an agent is shown that looks these words up."""
    return "\n".join(printed(hit) for hit in _hits(transcript, words))


def texts_for(transcript: str, words: str) -> list[str]:
    """The hits for these words, the best first."""
    return [hit.text for hit in _hits(transcript, words)]


def texts_at(transcript: str, line: int) -> list[str]:
    """What a ref to this line opens."""
    try:
        return [
            hit.text for hit in at_ref(None, "", transcript, Ref("", line, line), WHOLE_LINE).hits
        ]
    except HoldfastError:
        return []


DESK = Desk(by_words=texts_for, at_line=texts_at)


def _hits(transcript: str, words: str) -> list[Hit]:
    try:
        index = _index(transcript)
        return by_words(index, words, index.scope(None, None), LOOKUP_TOKENS).hits
    except HoldfastError:
        return []


@lru_cache(maxsize=1)
def _index(transcript: str) -> Index:
    """Session after session is asked about, each many times."""
    return index_of_file(transcript)
