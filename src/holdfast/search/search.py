"""Find the documents that answer a query: a few bounded index queries, then a ranking.

The work does not grow with the size of the index: for a common word only its latest matches are
read, and a rare word has only a few.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.search.ranking import (
    COMMON_TERM_MATCHES,
    SearchResult,
    WeightedQuery,
    find_best_position,
    rank,
    term_weight,
)
from holdfast.search.tokenizer import (
    MAX_QUERY_CHARS,
    parse_terms,
    split_term,
    to_phrase_match,
    to_prefix_match,
)

if TYPE_CHECKING:
    from typing import Protocol

    from holdfast.search.tokenizer import MatchExpression, Term

    class Lookup(Protocol):
        """Finds document ids within a scope and a filter, the latest first."""

        def find(self, match: MatchExpression, since: int = 0) -> list[int]:
            """Return the latest ids from `since` on that match, at most `MAX_MATCHES_PER_TERM`."""

        def scan(self, text: str) -> list[int]:
            """Return those of the latest `MAX_SCANNED_DOCUMENTS` that contain `text`.

            For a text without words, such as `=>`.
            """

        def recent_start(self) -> int:
            """Return the first id of the latest sessions with `RECENT_DOCUMENTS` documents."""

        def load(self, ids: list[int]) -> list[SearchResult]:
            """Return the documents with these ids, in this order."""

    class Searchable(Protocol):
        """An index in SQLite or PostgreSQL. What a scope is depends on the index."""

        def lookup(self, scope: Any, filters: Filter) -> Lookup: ...


# How many matches of one word are read. A word with more is a common word.
MAX_MATCHES_PER_TERM = COMMON_TERM_MATCHES
# Words are searched together in so many of the latest documents. In older ones, a common word is
# found only together with a rarer word of the query.
RECENT_DOCUMENTS = 50_000
# How many words, the rarest ones, are searched together.
MAX_COMBINED_TERMS = 8
# How many candidates are loaded and ranked.
MAX_CANDIDATES = 80
# How many documents are scanned for a text without words.
MAX_SCANNED_DOCUMENTS = 2000

# The ids of matching documents, by term.
Matches = dict[str, list[int]]


class Filter(NamedTuple):
    """Conditions for a result; by default none."""

    kinds: tuple[str, ...] = ()
    tool: str = ""
    file: str = ""
    since: float = 0.0
    before_compaction: bool = False


NO_FILTER = Filter()


def search(
    index: Searchable,
    query: str,
    scope: Any,
    *,
    filters: Filter = NO_FILTER,
    own_session: str = "",
    limit: int = 20,
) -> list[SearchResult]:
    """Return the best documents for a query, best first.

    `own_session` is the session that searches; its documents rank higher.
    """
    lookup = index.lookup(scope, filters)
    terms, matches = _match_terms(lookup, parse_terms(query))
    words = [term.text for term in terms]
    weights = [term_weight(len(matches[word])) for word in words]
    since = lookup.recent_start() if len(terms) > 1 else 0
    together = _match_together(lookup, terms, matches, since)
    # If there are fewer, all of them are loaded, and the ranking sees which contain the phrase.
    exact = lookup.find(to_phrase_match(query), since) if len(together) > MAX_CANDIDATES else []
    candidates = _order_candidates(matches, weights, exact, together)
    candidates = candidates or lookup.scan(query.strip()[:MAX_QUERY_CHARS].lower())
    weighted = WeightedQuery(query.strip(), words, weights)
    ranked = rank(lookup.load(candidates[:MAX_CANDIDATES]), weighted, own_session)[:limit]
    return [
        result._replace(position=find_best_position(result.text, weighted)) for result in ranked
    ]


def _match_terms(lookup: Lookup, terms: list[Term]) -> tuple[list[Term], Matches]:
    """Return the matches of each term, and the terms that were used.

    A term without matches is replaced by its parts. If nothing matches at all, the terms match as
    prefixes.
    """
    matches: Matches = {}
    used: dict[str, Term] = {}
    for term in terms:
        ids = lookup.find(term.match)
        for part in [term] if ids else split_term(term) or [term]:
            if part.text not in matches:
                used[part.text] = part
                matches[part.text] = ids or lookup.find(part.match)
    if not any(matches.values()):
        matches = {term.text: lookup.find(to_prefix_match(term)) for term in terms}
        used = {term.text: term for term in terms}
    return [*used.values()], matches


def _match_together(lookup: Lookup, terms: list[Term], matches: Matches, since: int) -> list[int]:
    """Return documents with as many of the terms as possible; common terms are dropped first."""
    matched = [term for term in terms if matches[term.text]]
    matched = sorted(matched, key=lambda term: len(matches[term.text]))[:MAX_COMBINED_TERMS]
    while len(matched) > 1:
        # All matches of a rare term are known. If the rare terms have no common document, adding
        # further terms cannot find one.
        rare = [
            set(matches[term.text])
            for term in matched
            if len(matches[term.text]) < MAX_MATCHES_PER_TERM
        ]
        ids = reduce(set.__and__, rare) if rare else set()
        if len(rare) < len(matched):
            combined = tuple(phrases for term in matched for phrases in term.match)
            is_possible = not rare or any(document_id >= since for document_id in ids)
            ids = set(lookup.find(combined, since)) if is_possible else set()
        if ids:
            return sorted(ids, reverse=True)
        matched = matched[: len(matched) * 2 // 3]
    return []


def _order_candidates(
    matches: Matches, weights: list[float], exact: list[int], together: list[int]
) -> list[int]:
    """Return ids, most promising first, without loading texts; of equals the latest first."""
    scores: dict[int, float] = {}
    for ids, weight in zip(matches.values(), weights, strict=True):
        for document_id in ids:
            scores[document_id] = scores.get(document_id, 0.0) + weight
    total_weight = sum(weights)
    for document_id in together:
        # Some of these are not among the latest matches of a common word.
        scores[document_id] = max(scores.get(document_id, 0.0), total_weight * 0.9)
    for document_id in exact:
        scores[document_id] = total_weight * 1.5
    return sorted(scores, key=lambda document_id: (scores[document_id], document_id), reverse=True)
