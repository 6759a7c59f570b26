"""Find the pieces that answer a question: a few bounded look-ups, then a careful ranking.

No step depends on how much is indexed: of a word that stands everywhere only the latest places
are looked at, and a rare word leads straight to its few.
"""

from __future__ import annotations

from functools import reduce
from typing import NamedTuple

from holdfast.index import ids
from holdfast.index.database import Index, unpack
from holdfast.index.rank import Found, Question, best_first, place_in, weight_of
from holdfast.index.texts import KINDS
from holdfast.index.words import (
    LONGEST_QUERY,
    Term,
    beginning,
    match,
    phrase,
    pieces_of,
    storable,
    terms,
)

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
    index: Index,
    query: str,
    scope: ids.Range,
    *,
    only: Filter = ANYTHING,
    own: str = "",
    most: int = 20,
) -> list[Found]:
    """The best pieces for a question, best first; `own` is the session that asks."""
    lookup = _Lookup(index, scope, only)
    wanted, places = _places(lookup, terms(query))
    words = [term.text for term in wanted]
    weights = [weight_of(len(places[word])) for word in words]
    since = _recent(index, scope) if len(wanted) > 1 else 0
    together = _together(lookup, wanted, places, since)
    # Fewer than that are all read, and then it shows which of them have the very phrase.
    exact = lookup.places(phrase(query), since) if len(together) > MOST_READ else []
    likely = _likely(places, weights, exact, together)
    likely = likely or lookup.holding(query.strip()[:LONGEST_QUERY].lower())
    question = Question(query.strip(), words, weights)
    ranked = best_first(_read(index, likely[:MOST_READ]), question, own)[:most]
    return [piece._replace(place=place_in(piece.text, question)) for piece in ranked]


class _Lookup:
    """Places of words within a scope and a filter, the latest first."""

    def __init__(self, index: Index, scope: ids.Range, only: Filter) -> None:
        self._index = index
        self._low = scope[0]
        self._values = {
            "low": scope[0],
            "high": scope[1],
            "kinds": "".join(f" {KINDS.index(kind)} " for kind in only.kinds),
            "tool": only.tool,
            "since": only.since,
            "before": only.before_compaction,
        }
        self._name = "found" if only._replace(file="") == ANYTHING else "found_filtered"
        self._file = only.file and match(storable(only.file))
        self._nowhere = bool(only.file) and not self._file

    def places(self, asked: str, since: int = 0) -> list[int]:
        """Ids from `since` on; without it, all that the scope holds."""
        if not asked or self._nowhere:
            return []
        if self._file:
            asked = f"({asked}) AND {self._file}"
        low = max(since, self._low)
        values = {**self._values, "low": low, "match": asked, "most": MOST_PLACES}
        return [row["rowid"] for row in self._index.all(self._name, values)]

    def holding(self, text: str) -> list[int]:
        """Where a text stands that is no word: the latest pieces are looked through."""
        if self._file or self._nowhere:
            return []
        rows = self._index.all("latest_pieces", {**self._values, "most": MOST_SCANNED})
        return [row["id"] for row in rows if text and text in unpack(row["text"]).lower()]


def _recent(index: Index, scope: ids.Range) -> int:
    """The first id of the latest sessions, so many of them that they hold `RECENT` pieces."""
    count = 0
    numbers = (scope[0] // ids.PER_SESSION, scope[1] // ids.PER_SESSION)
    for row in index.all("latest_transcripts", numbers):
        count += row["pieces"]
        if count >= RECENT:
            return ids.of_session(row["number"])[0]
    return scope[0]


def _places(lookup: _Lookup, wanted: list[Term]) -> tuple[list[Term], Places]:
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


def _together(lookup: _Lookup, wanted: list[Term], places: Places, since: int) -> list[int]:
    """Where as many of the words as possible stand together: the rarest are kept longest."""
    some = [term for term in wanted if places[term.text]]
    some = sorted(some, key=lambda term: len(places[term.text]))[:MOST_TOGETHER]
    while len(some) > 1:
        if all(len(places[term.text]) < MOST_PLACES for term in some):
            found = reduce(set.__and__, (set(places[term.text]) for term in some))
        else:
            found = set(lookup.places(" AND ".join(f"({term.match})" for term in some), since))
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


def _read(index: Index, chosen: list[int]) -> list[Found]:
    found = []
    for ident in chosen:
        row = index.one("about", (ident,))
        if row is not None:
            line = ids.line_of(ident)
            found.append(
                Found(
                    id=ident,
                    session=row["session"],
                    line=line,
                    kind=KINDS[row["kind"]],
                    tool=row["tool"],
                    at=row["at"],
                    before=KINDS[row["kind"]] != "note" and line < row["compaction"],
                    text=unpack(row["text"]),
                )
            )
    return found
