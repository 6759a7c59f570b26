"""Find matches in the SQLite index. Words reach FTS5 only as quoted phrases, so a query cannot use
its syntax."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.search import document_ids
from holdfast.search.documents import KINDS
from holdfast.search.index_db import decompress_text
from holdfast.search.search import (
    MAX_MATCHES_PER_TERM,
    MAX_SCANNED_DOCUMENTS,
    NO_FILTER,
    RECENT_DOCUMENTS,
)
from holdfast.search.session_rows import to_search_result
from holdfast.search.tokenizer import to_match, to_storable

if TYPE_CHECKING:
    from holdfast.search.index_db import SearchIndex
    from holdfast.search.ranking import SearchResult
    from holdfast.search.search import Filter
    from holdfast.search.tokenizer import MatchExpression, Phrase


class SqliteLookup:
    """Implements `holdfast.search.search.Lookup`."""

    def __init__(self, index: SearchIndex, scope: document_ids.IdRange, filters: Filter) -> None:
        self._index = index
        self._scope = scope
        self._values = {
            "low": scope[0],
            "high": scope[1],
            "kinds": "".join(f" {KINDS.index(kind)} " for kind in filters.kinds),
            "tool": filters.tool,
            "since": filters.since,
            "before": filters.before_compaction,
        }
        has_filter = filters._replace(file="") != NO_FILTER
        self._statement = "match_filtered" if has_filter else "match"
        self._file = to_match(to_storable(filters.file)) if filters.file else ()
        # A file name without any word, such as "/", matches nothing.
        self._matches_nothing = bool(filters.file) and not self._file

    def find(self, match: MatchExpression, since: int = 0) -> list[int]:
        if not match or self._matches_nothing:
            return []
        values = {
            **self._values,
            "low": max(since, self._scope[0]),
            "match": to_fts5_query((*match, *self._file)),
            "limit": MAX_MATCHES_PER_TERM,
        }
        return [row["rowid"] for row in self._index.fetch_all(self._statement, values)]

    def scan(self, text: str) -> list[int]:
        if self._file or self._matches_nothing:
            return []
        values = {**self._values, "limit": MAX_SCANNED_DOCUMENTS}
        rows = self._index.fetch_all("latest_documents", values)
        return [row["id"] for row in rows if text and text in decompress_text(row["text"]).lower()]

    def recent_start(self) -> int:
        count = 0
        numbers = (
            self._scope[0] // document_ids.IDS_PER_SESSION,
            self._scope[1] // document_ids.IDS_PER_SESSION,
        )
        for row in self._index.fetch_all("latest_transcripts", numbers):
            count += row["documents"]
            if count >= RECENT_DOCUMENTS:
                return document_ids.session_range(row["number"])[0]
        return self._scope[0]

    def load(self, ids: list[int]) -> list[SearchResult]:
        # One statement per id: each is a primary key lookup, and SQLite needs no list parameter.
        rows = (
            self._index.fetch_one("document_with_session", (document_id,)) for document_id in ids
        )
        return [to_search_result(row) for row in rows if row is not None]


def to_fts5_query(match: MatchExpression) -> str:
    """Return a match expression in the syntax of FTS5."""
    return " AND ".join(f"({' OR '.join(map(_quote, phrases))})" for phrases in match)


def _quote(phrase: Phrase) -> str:
    text = phrase.text.replace('"', '""')
    return f'"{text}"{" *" if phrase.is_prefix else ""}'
