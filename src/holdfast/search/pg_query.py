"""Find matches in the team's index in PostgreSQL; for common words only the latest.

A GIN index returns all matches of a word, in no order. So a query is first limited to the latest
sessions that should have enough matches according to PostgreSQL's statistics, and then to more
sessions if they do not.
"""

from __future__ import annotations

import zlib
from bisect import bisect_left
from typing import TYPE_CHECKING, Any

from holdfast.search import document_ids
from holdfast.search.documents import KINDS
from holdfast.search.pg_tokenizer import (
    estimate_share,
    markers_tsquery,
    sessions_tsquery,
    to_like_patterns,
    to_tsquery,
)
from holdfast.search.search import MAX_MATCHES_PER_TERM, MAX_SCANNED_DOCUMENTS, RECENT_DOCUMENTS
from holdfast.search.session_rows import to_search_result
from holdfast.search.tokenizer import to_match, to_storable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.search.ranking import SearchResult
    from holdfast.search.search import Filter
    from holdfast.search.team_index import Row, TeamIndex, TeamScope
    from holdfast.search.tokenizer import MatchExpression

_LEXEMES = "recall_lexemes(d.id, d.project, d.kind, d.words)"
_JOIN_SESSIONS = " JOIN recall_sessions s ON s.number = d.id >> 31"
# MATERIALIZED: otherwise PostgreSQL would scan by id, expecting to find a rare word soon, and read
# the whole table.
_FIND = (
    "WITH matches AS MATERIALIZED (SELECT d.id FROM recall_documents d{join} WHERE {where}) "
    "SELECT id FROM matches ORDER BY id DESC LIMIT :limit"
)
# Session by session, so that it need not be known how many sessions hold so many documents.
_LATEST = (
    "SELECT d.id, d.text FROM recall_sessions s CROSS JOIN LATERAL ("
    "SELECT d.id, d.text FROM recall_documents d WHERE {where} "
    "AND d.id BETWEEN s.number << 31 AND (s.number << 31) + 2147483647 "
    "ORDER BY d.id DESC LIMIT :limit) d WHERE {sessions} "
    "ORDER BY s.number DESC, d.id DESC LIMIT :limit"
)
_LOAD = (
    "SELECT d.id, d.kind, d.tool, d.at, d.text, s.session, s.compaction FROM recall_documents d"
    f"{_JOIN_SESSIONS} WHERE d.id = ANY(CAST(:ids AS BIGINT[]))"
)
_SESSIONS_IN_SCOPE = (
    "number BETWEEN :first AND :last AND CAST(:project AS BIGINT) IN (0, project) "
    "AND NOT number = ANY(CAST(:excluded AS BIGINT[])) AND last_at >= :since"
)
_NEXT_SESSIONS = (
    f"SELECT number, documents FROM recall_sessions WHERE {_SESSIONS_IN_SCOPE} "
    "AND number < :before ORDER BY number DESC LIMIT :limit"
)
# With fewer expected matches than this, reading all of them is faster than limiting the sessions.
MIN_MATCHES_TO_NARROW = 600
# The first window has at least so many of the latest documents, and so many times more than the
# statistics suggest; each further window is so many times larger.
MIN_WINDOW_DOCUMENTS, WINDOW_MARGIN, WINDOW_GROWTH = 1000, 1.15, 4
# How many sessions are read first, and how many times more are read next.
FIRST_PAGE_SESSIONS, PAGE_GROWTH = 64, 4


class PostgresLookup:
    """Implements `holdfast.search.search.Lookup`."""

    def __init__(self, index: TeamIndex, scope: TeamScope, filters: Filter) -> None:
        self._index = index
        self._scope = scope
        self._filters = filters
        self._recent = RecentSessions(index, scope, filters.since)
        self._file = to_match(to_storable(filters.file)) if filters.file else ()
        # A file name without any word, such as "/", matches nothing.
        self._matches_nothing = bool(filters.file) and not self._file
        self._join = _JOIN_SESSIONS if filters.before_compaction else ""
        self._where, self._values = _conditions(scope, filters)

    def find(self, match: MatchExpression, since: int = 0) -> list[int]:
        combined = (*match, *self._file)
        if not match or self._matches_nothing or not to_tsquery(combined):
            return []
        ids: list[int] = []
        for start in self._window_starts(combined, max(since, self._scope.range[0])):
            ids = self._find_from(combined, start)
            if len(ids) >= MAX_MATCHES_PER_TERM:
                break
        return ids

    def _window_starts(self, match: MatchExpression, low: int) -> Iterator[int]:
        """Yield the first ids to search from: for common words ever earlier ones, last `low`."""
        shares, texts = self._index.word_statistics
        upper_bound, likely = estimate_share(match, shares)
        if upper_bound * texts > MIN_MATCHES_TO_NARROW:
            # Words may occur together more often than by chance, so `likely` has a lower limit.
            share = max(likely, upper_bound / WINDOW_GROWTH**2)
            window = max(WINDOW_MARGIN * MAX_MATCHES_PER_TERM / share, MIN_WINDOW_DOCUMENTS)
            while (start := self._recent.start(window)) > low:
                yield start
                window *= WINDOW_GROWTH
        yield low

    def _find_from(self, match: MatchExpression, low: int) -> list[int]:
        where = [*self._where]
        values = {**self._values, "low": low, "limit": MAX_MATCHES_PER_TERM}
        tsqueries = filter(None, (to_tsquery(match), *self._marker_tsqueries(low)))
        for number, tsquery in enumerate(tsqueries):
            # Separate conditions: GIN then skips from one to the next, and never reads all matches
            # of a common word.
            where.append(f"{_LEXEMES} @@ CAST(:tsquery{number} AS tsquery)")
            values[f"tsquery{number}"] = tsquery
        for number, patterns in enumerate(to_like_patterns(match)):
            where.append(f"' ' || d.words || ' ' LIKE ANY(CAST(:patterns{number} AS TEXT[]))")
            values[f"patterns{number}"] = patterns
        statement = _FIND.format(join=self._join, where=" AND ".join(where))
        return [row["id"] for row in self._index.fetch_all(statement, **values)]

    def _marker_tsqueries(self, low: int) -> Iterator[str]:
        """Yield the conditions on session, project and kind that the GIN index can answer."""
        if low:
            last = self._scope.range[1] // document_ids.IDS_PER_SESSION
            first = low // document_ids.IDS_PER_SESSION
            yield sessions_tsquery(first, min(last, self._index.last_session_number))
        shares = self._index.word_statistics.shares
        yield markers_tsquery("_p", filter(None, (self._scope.project,)), shares)
        yield markers_tsquery("_k", map(KINDS.index, self._filters.kinds), shares)

    def scan(self, text: str) -> list[int]:
        if self._file or self._matches_nothing or not text:
            return []
        sessions, values = self._recent.condition
        statement = _LATEST.format(where=" AND ".join(self._where), sessions=sessions)
        values = {**self._values, **values, "limit": MAX_SCANNED_DOCUMENTS}
        rows = self._index.fetch_all(statement, **values)
        return [row["id"] for row in rows if text in _decompress(row).lower()]

    def recent_start(self) -> int:
        return self._recent.start(RECENT_DOCUMENTS)

    def load(self, ids: list[int]) -> list[SearchResult]:
        rows = {row["id"]: row for row in self._index.fetch_all(_LOAD, ids=ids)} if ids else {}
        return [to_search_result(rows[document_id]) for document_id in ids if document_id in rows]


class RecentSessions:
    """The sessions of a scope, latest first; rows are read only as far back as needed."""

    def __init__(self, index: TeamIndex, scope: TeamScope, since: float) -> None:
        self._index = index
        self._first_id = scope.range[0]
        first, last = (bound // document_ids.IDS_PER_SESSION for bound in scope.range)
        values: Row = {"first": first, "last": last, "project": scope.project}
        values |= {"excluded": [*scope.excluded], "since": since}
        self.condition = _SESSIONS_IN_SCOPE, values
        self._numbers: list[int] = []
        # How many documents each session and the later ones have together.
        self._cumulative: list[int] = []
        self._is_complete = False

    def start(self, documents: float) -> int:
        """Return the first id of the latest sessions that have so many documents together.

        If all of them have fewer, the first id of the scope.
        """
        while not self._is_complete and (not self._cumulative or self._cumulative[-1] < documents):
            self._read_page()
        place = bisect_left(self._cumulative, documents)
        if place == len(self._cumulative):
            return self._first_id
        return max(document_ids.session_range(self._numbers[place])[0], self._first_id)

    def _read_page(self) -> None:
        limit = max(FIRST_PAGE_SESSIONS, len(self._numbers) * PAGE_GROWTH)
        before = self._numbers[-1] if self._numbers else 1 << 62
        values = {**self.condition[1], "before": before, "limit": limit}
        rows = self._index.fetch_all(_NEXT_SESSIONS, **values)
        self._is_complete = len(rows) < limit
        for row in rows:
            total = self._cumulative[-1] if self._cumulative else 0
            self._numbers.append(row["number"])
            self._cumulative.append(total + row["documents"])


def _decompress(row: Row) -> str:
    return zlib.decompress(row["text"]).decode()


def _conditions(scope: TeamScope, filters: Filter) -> tuple[list[str], Row]:
    """Return the WHERE conditions of a scope and a filter, and their values."""
    # `+ 0` keeps PostgreSQL from using the primary key: the GIN index on the words already limits
    # the sessions.
    where = ["d.id + 0 BETWEEN :low AND :high"]
    values: dict[str, Any] = {"low": scope.range[0], "high": scope.range[1]}
    optional: list[tuple[Any, str, str]] = [
        (scope.project, "project", "d.project = :project"),
        ([*scope.excluded], "excluded", "NOT d.id >> 31 = ANY(CAST(:excluded AS BIGINT[]))"),
        ([KINDS.index(kind) for kind in filters.kinds], "kinds", "d.kind = ANY(:kinds)"),
        (to_storable(filters.tool), "tool", "lower(d.tool) = lower(:tool)"),
        (filters.since, "since", "d.at >= :since"),
    ]
    for value, name, condition in optional:
        if value:
            where.append(condition)
            values[name] = value
    if filters.before_compaction:
        where.append("(d.id >> 6 & 33554431) < s.compaction")
    return where, values
