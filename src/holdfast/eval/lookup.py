"""Search a transcript as an agent would, with the search of `holdfast recall`."""

from __future__ import annotations

from functools import lru_cache

from holdfast.errors import HoldfastError
from holdfast.eval.recoverability import Lookups
from holdfast.search.index_db import SearchIndex
from holdfast.services.recall.index_refresh import index_file
from holdfast.services.recall.lookup import Hit, find_words, open_ref, render_hit
from holdfast.services.recall.refs import Ref

WHOLE_LINE_TOKENS = 1_000_000
# The default of `holdfast recall`.
LOOKUP_TOKENS = 800


def look_up(transcript: str, words: str) -> str:
    """Return what an agent sees when it searches for these words; "" if nothing is found."""
    return "\n".join(render_hit(hit) for hit in _hits(transcript, words))


def search_texts(transcript: str, words: str) -> list[str]:
    """Return the texts of the hits for these words, the best first."""
    return [hit.text for hit in _hits(transcript, words)]


def line_texts(transcript: str, line: int) -> list[str]:
    """Return what a reference to this line opens; empty if it opens nothing."""
    try:
        return [
            hit.text
            for hit in open_ref(None, "", transcript, Ref("", line, line), WHOLE_LINE_TOKENS).hits
        ]
    except HoldfastError:
        return []


LOOKUPS = Lookups(by_words=search_texts, at_line=line_texts)


def _hits(transcript: str, words: str) -> list[Hit]:
    try:
        index = _index(transcript)
        return find_words(index, words, index.scope(None, None), LOOKUP_TOKENS).hits
    except HoldfastError:
        return []


@lru_cache(maxsize=1)
def _index(transcript: str) -> SearchIndex:
    """Index a transcript; cached, because each is searched many times before the next one."""
    return index_file(transcript)
