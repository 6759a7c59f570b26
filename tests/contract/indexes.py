"""The indexes that the search contract runs on."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

from holdfast.search.index_db import SearchIndex
from holdfast.search.ingest import Source, ingest_transcript
from holdfast.search.push import push_session
from holdfast.search.ranking import SearchResult
from holdfast.search.search import NO_FILTER, Filter, search
from holdfast.search.team_index import TeamIndex
from tests.unit.search.transcripts import NOW


class ContractIndex(Protocol):
    """An index that transcripts are added to and that is searched."""

    def ingest(self, path: Path, session: str = "s1", project: str = "/p") -> None: ...

    def search(
        self,
        query: str,
        filters: Filter = NO_FILTER,
        *,
        project: str | None = None,
        session: str | None = None,
        own_session: str = "",
    ) -> list[SearchResult]: ...


class SqliteContractIndex:
    """The index of a machine, in SQLite."""

    def __init__(self, index: SearchIndex) -> None:
        self.index = index

    def ingest(self, path: Path, session: str = "s1", project: str = "/p") -> None:
        ingest_transcript(self.index, Source(session, project, str(path)), NOW)

    def search(self, query: str, filters: Filter = NO_FILTER, **options: Any) -> list[SearchResult]:
        return _search(self.index, query, filters, **options)


class PostgresContractIndex:
    """The index of a team, in PostgreSQL, filled from the index of a machine."""

    def __init__(self, index: SearchIndex, team: TeamIndex) -> None:
        self.local = SqliteContractIndex(index)
        self.team = team

    def ingest(self, path: Path, session: str = "s1", project: str = "/p") -> None:
        self.local.ingest(path, session, project)
        self.push()

    def push(self) -> int:
        """Push new documents and return their number."""
        rows = self.local.index.fetch_all("session_states")
        return sum(
            push_session(self.local.index, row, self.team, row["project"], NOW)[0] for row in rows
        )

    def search(self, query: str, filters: Filter = NO_FILTER, **options: Any) -> list[SearchResult]:
        return _search(self.team, query, filters, **options)


def _search(
    index: Any,
    query: str,
    filters: Filter,
    *,
    project: str | None = None,
    session: str | None = None,
    own_session: str = "",
) -> list[SearchResult]:
    scope = index.scope(project, session)
    return (
        []
        if scope is None
        else search(index, query, scope, filters=filters, own_session=own_session)
    )
