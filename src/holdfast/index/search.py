"""Find the pieces that answer a question: a few bounded look-ups, then a careful ranking.

No step depends on how much is indexed: of a word that stands everywhere only the latest places
are looked at, and a rare word leads straight to its few.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.index.rank import Found, Question, best_first, place_in, weight_of
from holdfast.index.words import LONGEST_QUERY, beginning, phrase, pieces_of, terms

if TYPE_CHECKING:
    from typing import Protocol

    from holdfast.index.words import Asked, Term

    class Lookup(Protocol):
        """Places of words within a scope and a filter, the latest first."""

        def places(self, asked: Asked, since: int = 0) -> list[int]:
            """Ids from `since` on, at most `MOST_PLACES`; without it, in all of the scope."""

        def holding(self, text: str) -> list[int]:
            """Where a text stands that is no word: the latest `MOST_SCANNED` are looked through."""

        def recent(self) -> int:
            """The first id of the latest sessions that together hold `RECENT` pieces."""

        def read(self, chosen: list[int]) -> list[Found]: ...

    class Searchable(Protocol):
        """An index of whichever kind; what a scope is, it knows itself."""

        def lookup(self, scope: Any, only: Filter) -> Lookup: ...


# How many places of one word are looked at; a word with more of them is common.
MOST_PLACES = 400
# In how many pieces, the latest ones, words are looked for together. Further back a common word is
# found only where a rarer one of the question stands too.
RECENT = 50_000
# How many words, the rarest ones, are looked for together.
MOST_TOGETHER = 8
# How many candidates are worth reading.
MOST_READ = 80
# How many texts are looked through for signs that are no words.
MOST_SCANNED = 2000

Places = dict[str, list[int]]


class Filter(NamedTuple):
    """What a hit must be; the default is anything."""

    kinds: tuple[str, ...] = ()
    tool: str = ""
    file: str = ""
    since: float = 0.0
    before_compaction: bool = False


ANYTHING = Filter()


def search(
    index: Searchable,
    query: str,
    scope: Any,
    *,
    only: Filter = ANYTHING,
    own: str = "",
    most: int = 20,
) -> list[Found]:
    """The best pieces for a question, best first; `own` is the session that asks."""
    lookup = index.lookup(scope, only)
    wanted, places = _places(lookup, terms(query))
    words = [term.text for term in wanted]
    weights = [weight_of(len(places[word])) for word in words]
    since = lookup.recent() if len(wanted) > 1 else 0
    together = _together(lookup, wanted, places, since)
    # Fewer than that are all read, and then it shows which of them have the very phrase.
    exact = lookup.places(phrase(query), since) if len(together) > MOST_READ else []
    likely = _likely(places, weights, exact, together)
    likely = likely or lookup.holding(query.strip()[:LONGEST_QUERY].lower())
    question = Question(query.strip(), words, weights)
    ranked = best_first(lookup.read(likely[:MOST_READ]), question, own)[:most]
    return [piece._replace(place=place_in(piece.text, question)) for piece in ranked]


def _places(lookup: Lookup, wanted: list[Term]) -> tuple[list[Term], Places]:
    """Where each word stands. One that stands nowhere gives way to its parts, and if nothing at
    all is found, words that begin so count."""
    places: Places = {}
    used: dict[str, Term] = {}
    for term in wanted:
        found = lookup.places(term.match)
        for other in [term] if found else pieces_of(term) or [term]:
            if other.text not in places:
                used[other.text] = other
                places[other.text] = found or lookup.places(other.match)
    if not any(places.values()):
        places = {term.text: lookup.places(beginning(term)) for term in wanted}
        used = {term.text: term for term in wanted}
    return [*used.values()], places


def _together(lookup: Lookup, wanted: list[Term], places: Places, since: int) -> list[int]:
    """Where as many of the words as possible stand together: the rarest are kept longest."""
    some = [term for term in wanted if places[term.text]]
    some = sorted(some, key=lambda term: len(places[term.text]))[:MOST_TOGETHER]
    while len(some) > 1:
        # Of these all places are known: where they do not meet, more words do not either.
        rare = [set(places[term.text]) for term in some if len(places[term.text]) < MOST_PLACES]
        found = reduce(set.__and__, rare) if rare else set()
        if len(rare) < len(some):
            both = tuple(need for term in some for need in term.match)
            may_be = not rare or any(ident >= since for ident in found)
            found = set(lookup.places(both, since)) if may_be else set()
        if found:
            return sorted(found, reverse=True)
        some = some[: len(some) * 2 // 3]
    return []


def _likely(
    places: Places, weights: list[float], exact: list[int], together: list[int]
) -> list[int]:
    """Candidates by what is known of them without reading them; of equals the latest first."""
    scores: dict[int, float] = {}
    for found, weight in zip(places.values(), weights, strict=True):
        for ident in found:
            scores[ident] = scores.get(ident, 0.0) + weight
    whole = sum(weights)
    for ident in together:
        # Also those that a common word's latest places do not reach.
        scores[ident] = max(scores.get(ident, 0.0), whole * 0.9)
    for ident in exact:
        scores[ident] = whole * 1.5
    return sorted(scores, key=lambda ident: (scores[ident], ident), reverse=True)
