"""Lookups for a server: whoever asks says where, and every ref in the answer names its session."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from holdfast.actions import indexing, recall, refs
from holdfast.actions.notes_path import path_of
from holdfast.actions.recall import Answer, Hit
from holdfast.errors import NoSuchRecord
from holdfast.index.database import Index
from holdfast.index.search import search
from holdfast.ledger.tables import PROJECT_PATHS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.actions.refs import Ref
    from holdfast.index.search import Filter
    from holdfast.index.team import TeamIndex
    from holdfast.ledger.ledger import Ledger
    from holdfast.store.base import Store

# The server fills the index beside its work; this is for what was written a moment ago.
PATIENCE = 0.2


class Where(NamedTuple):
    """One session, or one project by the ledger's id, or, with neither, everything."""

    project: str | None = None
    session: str | None = None


class Shelf(NamedTuple):
    """Where to look things up: the index with the store and the ledger that belong to it."""

    store: Store
    ledger: Ledger
    texts: Index | TeamIndex


def look_up(
    shelf: Shelf, query: str, where: Where, max_tokens: int, only: Filter, now: float
) -> Answer:
    """The best hits for words, within a budget."""
    if isinstance(shelf.texts, Index):
        hits = [*_hits_here(shelf, shelf.texts, query, where, only, now)]
    else:
        hits = [*_hits_of_team(shelf.texts, query, where, only)]
    return recall.best(hits, max_tokens)


def _hits_here(
    shelf: Shelf, index: Index, query: str, where: Where, only: Filter, now: float
) -> Iterator[tuple[float, Hit]]:
    # A project of the ledger may have several clones on one machine.
    paths = [None] if where.project is None else _paths(shelf.ledger, where.project)
    for path in paths:
        rows = shelf.store.transcripts(path)
        some = [row for row in rows if where.session in (None, row["id"])]
        indexing.catch_up(index, some, now, PATIENCE)
        scope = index.scope(path, where.session)
        yield from recall.hits_here(index, query, scope, only, "")


def _paths(ledger: Ledger, project: str) -> list[str | None]:
    return [row["id"] for row in ledger.rows(PROJECT_PATHS, project=project)]


def _hits_of_team(
    index: TeamIndex, query: str, where: Where, only: Filter
) -> Iterator[tuple[float, Hit]]:
    scope = index.scope(where.project, where.session)
    if scope is not None:
        for piece in search(index, query, scope, only=only, most=3 * recall.MOST_HITS):
            yield piece.score, recall.as_hit(piece, of_team=True)


def open_ref(shelf: Shelf, ref: Ref, max_tokens: int) -> Answer:
    """Exactly the lines that a ref with a session names."""
    if isinstance(shelf.texts, Index):
        row = refs.named(shelf.store.transcripts(None), ref.session)
        if row is None:
            raise NoSuchRecord(f"session {ref.session}", hint="/api/sessions lists them")
        path = path_of(row["project"], row["id"]) if ref.in_notes else row["transcript"]
        return recall.at_ref(shelf.texts, ref.session, path, ref, max_tokens)
    found = [
        Hit(ref.session, one.line, one.kind, one.text, one.tool, one.at, of_team=True)
        for one in refs.copies(shelf.texts, ref.session, ref)
    ]
    if not found:
        raise NoSuchRecord(f"{ref} in the team's store", hint="its machine may not have sent it")
    return recall.fitting(recall.joined(found) if ref.in_notes else found, max_tokens)
