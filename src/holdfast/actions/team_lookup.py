"""A lookup that also knows what colleagues' machines have sent to the team."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from holdfast.actions import lookup, recall, refs
from holdfast.actions.kept_events import kept_events
from holdfast.actions.recall import Answer, Hit
from holdfast.actions.send_texts import project_of_path
from holdfast.errors import NoSuchRecord
from holdfast.index.search import ANYTHING, Filter, search

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.actions.lookup import Desk
    from holdfast.actions.refs import Copy, Ref
    from holdfast.index.team import Row, TeamIndex, TeamScope
    from holdfast.ledger.ledger import Ledger
    from holdfast.store.base import Store
    from holdfast.transcript.model import Event


class Team(NamedTuple):
    """The team's index and store, and the ledger here, which knows its names for projects."""

    texts: TeamIndex
    store: Store
    ledger: Ledger


def is_theirs(desk: Desk, ref: Ref | None) -> bool:
    """Whether a ref names a session that this machine does not know."""
    if ref is None or not ref.session or not lookup.is_uuid(ref.session):
        return False
    return refs.named(desk.store.transcripts(None), ref.session) is None


def look_up(desk: Desk, team: Team, query: str, max_tokens: int, only: Filter = ANYTHING) -> Answer:
    """What a ref or words lead to. For its own sessions a machine answers itself."""
    ref = refs.parse(query)
    if ref and is_theirs(desk, ref):
        found = [
            Hit(ref.session, one.line, one.kind, one.text, one.tool, one.at, of_team=True)
            for one in copies(desk, team, ref)
        ]
        return recall.fitting(recall.joined(found) if ref.in_notes else found, max_tokens, desk.own)
    if ref and lookup.target(desk, ref):
        return lookup.look_up(desk, query, max_tokens, only)
    notes = lookup.catch_up(desk)
    scope = desk.index.scope(desk.scope.project, desk.scope.session)
    hits = [
        *recall.hits_here(desk.index, query, scope, only, desk.own),
        *_hits_there(team.texts, query, _scope(desk, team), only, desk.own),
    ]
    answer = recall.best(hits, max_tokens, desk.own)
    return answer._replace(notes=(*answer.notes, *notes))


def copies(desk: Desk, team: Team, ref: Ref) -> list[Copy]:
    """What the team has of the lines of somebody else's session."""
    known_session(desk, team, ref.session)
    found = refs.copies(team.texts, ref.session, ref)
    if not found:
        raise NoSuchRecord(f"{ref} in the team's store", hint="lines without words are not sent")
    return found


def events_of(team: Team, session: str) -> list[Event]:
    """What happened in somebody else's session, as far as what they sent tells it."""
    row = team.store.session(session)
    found = kept_events(team.texts, session, row["project"] if row else "")
    if not found:
        raise NoSuchRecord(f"session {session}", hint="neither here nor in the team's store")
    return found


def known_session(desk: Desk, team: Team, session: str) -> Row:
    """Somebody else's session, if it is of the project that is asked about."""
    row = team.texts.session(session)
    if row is None:
        raise NoSuchRecord(f"session {session}", hint="neither here nor in the team's store")
    project = desk.scope.project
    if project is not None and row["project_id"] != project_of_path(team.ledger, project):
        raise NoSuchRecord(
            f"session {session} in this project",
            hint="it belongs to another one: ask for all projects to open it",
        )
    return row


def _scope(desk: Desk, team: Team) -> TeamScope | None:
    """What others have sent of the same; sessions of this machine are left out."""
    project, session = desk.scope.project, desk.scope.session
    mine = tuple(row["session"] for row in desk.index.all("transcripts"))
    if session in mine:
        return None
    if session is not None:
        known_session(desk, team, session)
    known = None if project is None else project_of_path(team.ledger, project)
    return team.texts.scope(known, session, mine)


def _hits_there(
    index: TeamIndex, query: str, scope: TeamScope | None, only: Filter, own: str
) -> Iterator[tuple[float, Hit]]:
    if scope is not None:
        for piece in search(index, query, scope, only=only, own=own, most=3 * recall.MOST_HITS):
            yield piece.score, recall.as_hit(piece, of_team=True)
