"""The team's search index in PostgreSQL: documents that every machine has sent.

`pg_query.py` searches it, `push.py` fills it.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.search import document_ids
from holdfast.search.tokenizer import to_storable

if TYPE_CHECKING:
    from holdfast.search.pg_query import PostgresLookup
    from holdfast.search.search import Filter
    from holdfast.store.protocols import Database

Row = dict[str, Any]
# PostgreSQL's own statistics: the most common words and their share of all texts. As two strings,
# which are faster to read than thousands of values.
_WORD_STATISTICS = (
    "SELECT array_to_string(CAST(CAST(most_common_elems AS TEXT) AS TEXT[]), ' ') AS words, "
    "array_to_string(most_common_elem_freqs, ' ') AS shares, c.reltuples AS texts "
    "FROM pg_stats JOIN pg_class c ON c.oid = to_regclass('recall_documents') "
    "WHERE schemaname = current_schema() AND tablename = 'recall_documents_by_words' "
    "AND most_common_elems IS NOT NULL"
)
_LAST_SESSION_NUMBER = "SELECT max(number) AS number FROM recall_sessions"
_DOCUMENTS_BETWEEN = (
    "SELECT id, kind, tool, file, at, text, call, ok, aside FROM recall_documents "
    "WHERE id BETWEEN :low AND :high ORDER BY id"
)


class TeamScope(NamedTuple):
    """What to search: a project number (0 is every project), ids, and sessions to leave out."""

    project: int
    range: document_ids.IdRange
    excluded: tuple[int, ...] = ()


class WordStatistics(NamedTuple):
    """The share of all texts that contain each common word, and the number of texts."""

    shares: dict[str, float]
    texts: float


class TeamIndex:
    """The team's index, in an open database."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def fetch_all(self, statement: str, **values: Any) -> list[Row]:
        """Run a statement and return its rows."""
        return self.database.run(statement, values)[0]

    def session(self, session: str) -> Row | None:
        """Return the row of a session, with its project's id as `project_id`."""
        rows = self.fetch_all(
            "SELECT s.*, p.project AS project_id FROM recall_sessions s "
            "JOIN recall_projects p ON p.number = s.project WHERE session = :session",
            session=to_storable(session),
        )
        return rows[0] if rows else None

    def scope(
        self, project: str | None, session: str | None, excluded: tuple[str, ...] = ()
    ) -> TeamScope | None:
        """Return the scope of a session, of a project by its id, or of everything.

        None if the session or the project is unknown. Sessions in `excluded` are left out.
        """
        if session is not None:
            row = self.session(session)
            return TeamScope(0, document_ids.session_range(row["number"])) if row else None
        number = 0
        if project is not None:
            rows = self.fetch_all(
                "SELECT number FROM recall_projects WHERE project = :project",
                project=to_storable(project),
            )
            if not rows:
                return None
            number = rows[0]["number"]
        return TeamScope(number, (0, (1 << 62) - 1), self._session_numbers(excluded))

    def _session_numbers(self, sessions: tuple[str, ...]) -> tuple[int, ...]:
        rows = self.fetch_all(
            "SELECT number FROM recall_sessions WHERE session = ANY(CAST(:sessions AS TEXT[]))",
            sessions=[to_storable(session) for session in sessions],
        )
        return tuple(row["number"] for row in rows)

    @cached_property
    def word_statistics(self) -> WordStatistics:
        """The statistics of common words; empty until PostgreSQL has run ANALYZE."""
        for row in self.fetch_all(_WORD_STATISTICS):
            shares = zip(row["words"].split(), map(float, row["shares"].split()), strict=False)
            return WordStatistics(dict(shares), row["texts"])
        return WordStatistics({}, 0.0)

    @cached_property
    def last_session_number(self) -> int:
        """The number of the session that arrived last, or 0."""
        number: int | None = self.fetch_all(_LAST_SESSION_NUMBER)[0]["number"]
        return number or 0

    def lookup(self, scope: TeamScope, filters: Filter) -> PostgresLookup:
        """Return the lookup that `search.search` uses for a scope and a filter."""
        from holdfast.search.pg_query import PostgresLookup

        return PostgresLookup(self, scope, filters)

    def documents_between(self, low: int, high: int) -> list[Row]:
        """Return the documents from id `low` to `high`, in order."""
        return self.fetch_all(_DOCUMENTS_BETWEEN, low=low, high=high)
