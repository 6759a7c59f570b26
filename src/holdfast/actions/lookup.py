"""A lookup as surfaces ask for it: which session asks, where to look, and what comes back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from holdfast.actions import indexing, refs
from holdfast.actions.notes_path import path_of
from holdfast.actions.recall import Answer, at_ref, by_words
from holdfast.actions.refs import Ref
from holdfast.errors import NoSuchRecord
from holdfast.index.database import Index
from holdfast.index.search import ANYTHING, Filter

if TYPE_CHECKING:
    from holdfast.store.base import Store, TranscriptRow

MOST_NOTES = 3


class Scope(NamedTuple):
    """Where to look: one session, or one project, or everywhere; and for whom."""

    own: TranscriptRow | None
    """The session that asks."""
    project: str | None
    """None is every project."""
    session: str | None = None


class Desk:
    """What a lookup needs at hand."""

    __slots__ = ("index", "now", "scope", "store")

    def __init__(self, store: Store, index: Index, scope: Scope, now: float) -> None:
        self.store = store
        self.index = index
        self.scope = scope
        self.now = now

    @property
    def own(self) -> str:
        return self.scope.own["id"] if self.scope.own else ""


@contextmanager
def open_desk(store: Store, path: str, scope: Scope, now: float) -> Iterator[Desk]:
    """The index, open; it is caught up only when it is searched."""
    with Index(path) as index:
        yield Desk(store, index, scope, now)


def asking(
    store: Store,
    project: str,
    *,
    session: str | None = None,
    calling: str | None = None,
    is_open: bool = False,
) -> TranscriptRow | None:
    """The session that asks: by id, else the one calling, else the project's latest.

    A process that outlives sessions may be told of one that has ended: with `is_open` it does not
    count as calling.
    """
    rows = store.transcripts(None if session or calling else project)
    if session:
        row = refs.named(rows, session)
        if row is None:
            raise NoSuchRecord(f"session {session}", hint="`holdfast status --all` lists them")
        return row
    row = refs.named(rows, calling) if calling else None
    if row is not None and is_open and row["ended_at"] is not None:
        project, row = row["project"], None
    return row or next((row for row in rows if row["project"] == project), None)


def look_up(desk: Desk, query: str, max_tokens: int, only: Filter = ANYTHING) -> Answer:
    """What a ref or words lead to, within a budget."""
    ref = refs.parse(query)
    row = target(desk, ref) if ref else None
    if ref and row:
        return at_ref(desk.index, row["id"], row["transcript"], ref, max_tokens)
    notes = catch_up(desk)
    scope = desk.index.scope(desk.scope.project, desk.scope.session)
    answer = by_words(desk.index, query, scope, max_tokens, only=only, own=desk.own)
    return answer._replace(notes=(*answer.notes, *notes))


def look_up_in_file(path: str, query: str, max_tokens: int, only: Filter = ANYTHING) -> Answer:
    """The same for one transcript file, without a store."""
    ref = refs.parse(query)
    if ref and not ref.session and not ref.in_notes:
        return at_ref(None, "", path, ref, max_tokens)
    with indexing.index_of_file(path) as index:
        return by_words(index, query, index.scope(None, None), max_tokens, only=only)


def target(desk: Desk, ref: Ref) -> TranscriptRow | None:
    """The session that a ref belongs to, with the file that it names in place of the transcript.

    Nothing if it only looks like a ref.
    """
    row = _session_of(desk, ref)
    if row is None or not ref.in_notes:
        return row
    return {**row, "transcript": path_of(row["project"], row["id"])}


def _session_of(desk: Desk, ref: Ref) -> TranscriptRow | None:
    if not ref.session:
        if desk.scope.own is None:
            raise NoSuchRecord("a session to look in", hint="say which: SESSION:L12, or --session")
        return desk.scope.own
    row = refs.named(desk.store.transcripts(None), ref.session)
    if row is None and is_uuid(ref.session):
        raise NoSuchRecord(f"session {ref.session}", hint="`holdfast status --all` lists them")
    if row is not None and desk.scope.project not in (None, row["project"]):
        raise NoSuchRecord(
            f"session {ref.session} in this project",
            hint="it belongs to another one: ask for all projects to open it",
        )
    return row


def catch_up(desk: Desk) -> list[str]:
    """Index what is new within the scope, the asking session first; what could not be."""
    scope, own = desk.scope, desk.scope.own
    rows = [
        row for row in desk.store.transcripts(scope.project) if scope.session in (None, row["id"])
    ]
    rows.sort(key=lambda row: own is None or row["id"] != own["id"])
    behind = indexing.catch_up(desk.index, rows, desk.now, indexing.PATIENCE)
    lost = indexing.lost(desk.index, rows)[:MOST_NOTES]
    notes = [f"{row['transcript']} is gone, and was never indexed" for row in lost]
    if behind:
        notes.append(
            f"{len(behind)} sessions are not indexed yet: `holdfast index rebuild` does it"
        )
    return notes


def is_uuid(name: str) -> bool:
    return len(name) == 36 and [len(part) for part in name.split("-")] == [8, 4, 4, 4, 12]
