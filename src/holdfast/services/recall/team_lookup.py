"""Lookups that include what other machines pushed to the team database.

The team database is searched if the caller wants it, or if a ref names a session that this machine
does not have. Modules that only a team needs are imported late, because most lookups have none.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, NamedTuple

from holdfast.errors import InvalidInput, NotFound
from holdfast.search.search import NO_FILTER, Filter, search
from holdfast.services.projects import to_project_id
from holdfast.services.recall import lookup, refs
from holdfast.services.recall.lookup import Hit, LookupAnswer, LookupContext, ShownLine
from holdfast.store.dsn import DATABASE_VARIABLE, find_team_url

if TYPE_CHECKING:
    from holdfast.ledger.repository import Ledger
    from holdfast.search.team_index import Row, TeamIndex, TeamScope
    from holdfast.services.recall.refs import Ref, StoredCopy
    from holdfast.store.protocols import Store
    from holdfast.transcript.types import Event


class TeamSources(NamedTuple):
    """The team's index and store, and this machine's ledger, which knows the project ids."""

    texts: TeamIndex
    store: Store
    ledger: Ledger


def has_team(include_team: bool) -> bool:
    """Whether a team database is configured; raises InvalidInput if it is wanted and is not."""
    url = find_team_url(os.environ)
    if include_team and not url:
        raise InvalidInput(
            "No team database is configured",
            hint=f"set {DATABASE_VARIABLE}=postgresql://user@host/database",
        )
    return bool(url)


@contextmanager
def open_team(ledger_path: str) -> Iterator[TeamSources]:
    """Open the team database and this machine's ledger; close both at the end."""
    from holdfast.ledger.connect import open_local_ledger
    from holdfast.search.team_index import TeamIndex
    from holdfast.store.postgres import PostgresStore

    ledger = open_local_ledger(ledger_path)
    with closing(ledger.database), closing(PostgresStore.at(find_team_url(os.environ))) as store:
        yield TeamSources(TeamIndex(store.database), store, ledger)


def look_up_with_team(
    context: LookupContext,
    query: str,
    max_tokens: int,
    only: Filter,
    *,
    ledger: str,
    include_team: bool,
) -> LookupAnswer:
    """Look up on this machine, and in the team database if wanted or if the ref is from there."""
    if has_team(include_team) and (include_team or is_team_session(context, refs.parse_ref(query))):
        with open_team(ledger) as team:
            return search_with_team(context, team, query, max_tokens, only)
    return lookup.look_up(context, query, max_tokens, only)


def show_with_team(
    context: LookupContext, ref: Ref, *, ledger: str, include_team: bool
) -> list[ShownLine]:
    """Return the lines of a ref; for a session of another machine, from the team database."""
    if has_team(include_team) and is_team_session(context, ref):
        with open_team(ledger) as team:
            copies = find_team_copies(context, team, ref)
            return [ShownLine(copy.line, copy.text, is_copy=False, of_team=True) for copy in copies]
    row = lookup.resolve_ref(context, ref)
    if row is None:
        raise NotFound(f"No session {ref.session} is recorded")
    return lookup.show_lines(context.index, row["id"], row["transcript"], ref)


def is_team_session(context: LookupContext, ref: Ref | None) -> bool:
    """Whether a ref names a session that this machine does not know."""
    if ref is None or not ref.session or not lookup.is_uuid(ref.session):
        return False
    return refs.find_session(context.store.transcripts(None), ref.session) is None


def search_with_team(
    context: LookupContext,
    team: TeamSources,
    query: str,
    max_tokens: int,
    only: Filter = NO_FILTER,
) -> LookupAnswer:
    """Return the lines of a ref, or the best hits here and in the team database together.

    Sessions of this machine are always answered from this machine.
    """
    ref = refs.parse_ref(query)
    if ref and is_team_session(context, ref):
        hits = to_team_hits(ref, find_team_copies(context, team, ref))
        return lookup.fit_hits(hits, max_tokens, context.own)
    if ref and lookup.resolve_ref(context, ref):
        return lookup.look_up(context, query, max_tokens, only)
    notes = lookup.refresh_scope(context)
    scope = context.index.scope(context.scope.project, context.scope.session)
    scored = [
        *lookup.search_local(context.index, query, scope, only, context.own),
        *search_team(team.texts, query, _team_scope(context, team), only, context.own),
    ]
    answer = lookup.rank_hits(scored, max_tokens, context.own)
    return answer._replace(notes=(*answer.notes, *notes))


def to_team_hits(ref: Ref, copies: list[StoredCopy]) -> list[Hit]:
    """Turn copies of a ref's lines into hits marked as the team's."""
    hits = [
        Hit(ref.session, copy.line, copy.kind, copy.text, copy.tool, copy.at, of_team=True)
        for copy in copies
    ]
    return lookup.join_note_lines(hits) if ref.in_notes else hits


def find_team_copies(context: LookupContext, team: TeamSources, ref: Ref) -> list[StoredCopy]:
    """Return the team's copies of the lines of a ref; raises NotFound if there are none."""
    find_team_session(context, team, ref.session)
    copies = refs.find_copies(team.texts, ref.session, ref)
    if not copies:
        raise NotFound(f"{ref} is not in the team database", hint="lines without text are not sent")
    return copies


def load_team_events(team: TeamSources, session: str) -> list[Event]:
    """Rebuild the events of another machine's session from the texts that it pushed."""
    from holdfast.services.recall.indexed_events import load_indexed_events

    row = team.store.session(session)
    events = load_indexed_events(team.texts, session, row["project"] if row else "")
    if not events:
        raise NotFound(
            f"No session {session} is recorded", hint="neither here nor in the team database"
        )
    return events


def find_team_session(context: LookupContext, team: TeamSources, session: str) -> Row:
    """Return the row of another machine's session.

    Raises NotFound if the team has no such session or it belongs to a project out of scope.
    """
    row = team.texts.session(session)
    if row is None:
        raise NotFound(
            f"No session {session} is recorded", hint="neither here nor in the team database"
        )
    project = context.scope.project
    if project is not None and row["project_id"] != to_project_id(team.ledger, project):
        raise NotFound(
            f"No session {session} in this project",
            hint="it belongs to another one: ask for all projects to open it",
        )
    return row


def _team_scope(context: LookupContext, team: TeamSources) -> TeamScope | None:
    """Return the lookup's scope in the team's index, without the sessions of this machine.

    None if the lookup is limited to a session of this machine.
    """
    project, session = context.scope.project, context.scope.session
    local_sessions = tuple(row["session"] for row in context.index.fetch_all("transcripts"))
    if session in local_sessions:
        return None
    if session is not None:
        find_team_session(context, team, session)
    project_id = None if project is None else to_project_id(team.ledger, project)
    return team.texts.scope(project_id, session, local_sessions)


def search_team(
    index: TeamIndex, query: str, scope: TeamScope | None, only: Filter, own: str = ""
) -> Iterator[tuple[float, Hit]]:
    """Yield score and hit of what the team's index finds."""
    if scope is not None:
        results = search(
            index, query, scope, filters=only, own_session=own, limit=3 * lookup.MAX_HITS
        )
        for result in results:
            yield result.score, lookup.to_hit(result, of_team=True)
