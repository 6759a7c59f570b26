"""Lookups for the server: each request names its own scope, and every ref names its session."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from holdfast.errors import NotFound
from holdfast.ledger import projects
from holdfast.ledger.schema import PROJECT_PATHS
from holdfast.notes.files import get_notes_path
from holdfast.search.index_db import SearchIndex
from holdfast.services.recall import index_refresh, lookup, refs
from holdfast.services.recall.team_lookup import search_team, to_team_hits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.ledger.repository import Ledger
    from holdfast.search.search import Filter
    from holdfast.search.team_index import TeamIndex
    from holdfast.services.recall.lookup import Hit, LookupAnswer
    from holdfast.services.recall.refs import Ref
    from holdfast.store.protocols import Store

# A background worker of the server keeps the index filled; this covers the last moments.
SERVER_REFRESH_SECONDS = 0.2
# Only the latest sessions can have grown since the worker's last run.
MAX_REFRESHED_SESSIONS = 100


class ServerScope(NamedTuple):
    """One session, or one project by its ledger id or its folder; with none, everything."""

    project: str | None = None
    session: str | None = None
    folder: str | None = None
    """A folder that sessions ran in; projects that only have sessions are not in the ledger."""


class SearchBackend(NamedTuple):
    """An index, with the store and the ledger that belong to it."""

    store: Store
    ledger: Ledger
    texts: SearchIndex | TeamIndex


def search_words(
    backend: SearchBackend,
    query: str,
    scope: ServerScope,
    max_tokens: int,
    only: Filter,
    now: float,
    refresh_seconds: float = SERVER_REFRESH_SECONDS,
) -> LookupAnswer:
    """Return the best hits for words that fit the budget; with `refresh_seconds=0`, of what is
    indexed already.
    """
    if isinstance(backend.texts, SearchIndex):
        hits = [*_search_machine(backend, backend.texts, query, scope, only, now, refresh_seconds)]
    else:
        project = scope.project
        if project is None and scope.folder is not None:
            project = projects.find_project_id(backend.ledger, scope.folder)
        team_scope = backend.texts.scope(project, scope.session)
        hits = [*search_team(backend.texts, query, team_scope, only)]
    return lookup.rank_hits(hits, max_tokens)


def _search_machine(
    backend: SearchBackend,
    index: SearchIndex,
    query: str,
    scope: ServerScope,
    only: Filter,
    now: float,
    refresh_seconds: float,
) -> Iterator[tuple[float, Hit]]:
    for path in _find_paths(backend.ledger, scope):
        if refresh_seconds:
            rows = [
                row for row in backend.store.transcripts(path) if scope.session in (None, row["id"])
            ]
            index_refresh.refresh_index(index, rows[:MAX_REFRESHED_SESSIONS], now, refresh_seconds)
        id_range = index.scope(path, scope.session)
        yield from lookup.search_local(index, query, id_range, only, "")


def _find_paths(ledger: Ledger, scope: ServerScope) -> list[str | None]:
    if scope.folder is not None or scope.project is None:
        return [scope.folder]
    # A project of the ledger may have several clones on one machine.
    return [row["id"] for row in ledger.find(PROJECT_PATHS, project=scope.project)]


def open_session_ref(backend: SearchBackend, ref: Ref, max_tokens: int) -> LookupAnswer:
    """Return exactly the lines of a ref that names its session; raises NotFound."""
    if isinstance(backend.texts, SearchIndex):
        row = refs.find_session(backend.store.transcripts(None), ref.session)
        if row is None:
            raise NotFound(f"No session {ref.session} is recorded", hint="/api/sessions lists them")
        path = get_notes_path(row["project"], row["id"]) if ref.in_notes else row["transcript"]
        return lookup.open_ref(backend.texts, ref.session, path, ref, max_tokens)
    copies = refs.find_copies(backend.texts, ref.session, ref)
    if not copies:
        raise NotFound(
            f"{ref} is not in the team database", hint="its machine may not have sent it"
        )
    return lookup.fit_hits(to_team_hits(ref, copies), max_tokens)
