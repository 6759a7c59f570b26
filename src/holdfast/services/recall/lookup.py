"""Look up what is not in the brief: lines by their ref, or anything by its words.

A lookup runs for one session (the one that asks), within a scope (a session, a project, or
everything), and returns hits or lines within a token budget.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from holdfast.errors import NotFound, UnreadableTranscript
from holdfast.notes.files import get_notes_path
from holdfast.redaction import redact_log_line
from holdfast.search import documents
from holdfast.search.excerpt import make_excerpt
from holdfast.search.index_db import SearchIndex
from holdfast.search.search import NO_FILTER, Filter, search
from holdfast.services.recall import index_refresh, refs
from holdfast.services.recall.refs import Ref
from holdfast.tokens.estimate import token_cost

if TYPE_CHECKING:
    from holdfast.search.document_ids import IdRange
    from holdfast.search.ranking import SearchResult
    from holdfast.store.protocols import Store, TranscriptRow

MAX_HITS = 20
# Deleted transcripts that a lookup names in its notes.
MAX_LOST_NOTES = 3


class LookupScope(NamedTuple):
    """Where to look, and for which session."""

    own: TranscriptRow | None
    """The session that asks."""
    project: str | None
    """None means every project."""
    session: str | None = None
    """None means every session of the project."""


class LookupContext:
    """The store, the index, the scope and the time of one lookup."""

    __slots__ = ("index", "now", "scope", "store")

    def __init__(self, store: Store, index: SearchIndex, scope: LookupScope, now: float) -> None:
        self.store = store
        self.index = index
        self.scope = scope
        self.now = now

    @property
    def own(self) -> str:
        """The id of the session that asks, or an empty string."""
        return self.scope.own["id"] if self.scope.own else ""


class Hit(NamedTuple):
    """A search result: where it is, and its exact text or an excerpt of it."""

    session: str
    line: int
    kind: str
    text: str
    tool: str = ""
    at: int = 0
    """The time of the event in seconds since 1970; 0 if unknown."""
    before: bool = False
    """Whether it is from before the last compaction of its session."""
    is_copy: bool = False
    """The source file is gone; this is the copy that the index stored."""
    last: int = 0
    """The last line of a hit that spans several lines."""
    of_team: bool = False
    """Pushed by another machine; only this copy is available here."""


class LookupAnswer(NamedTuple):
    """The hits of a lookup that fit its budget."""

    hits: list[Hit]
    left_out: int
    """The number of hits that did not fit the budget."""
    notes: tuple[str, ...] = ()
    """Remarks for the caller, such as sessions that are not indexed yet."""


class ShownLine(NamedTuple):
    """One whole line of a transcript or notes file, without secrets."""

    line: int
    text: str
    is_copy: bool
    """The source file is gone; this is the copy that the index stored."""
    of_team: bool = False
    """Pushed to the team database by another machine."""


@contextmanager
def open_lookup(store: Store, path: str, scope: LookupScope, now: float) -> Iterator[LookupContext]:
    """Open the index at `path`. It is refreshed only when it is searched."""
    with SearchIndex(path) as index:
        yield LookupContext(store, index, scope, now)


def find_asking_session(
    store: Store,
    project: str,
    *,
    session: str | None = None,
    calling: str | None = None,
    is_open: bool = False,
) -> TranscriptRow | None:
    """Return the session that asks: `session`, else `calling`, else the project's latest.

    Raises NotFound if `session` is not recorded. A long-lived process may still name a session
    that has ended: with `is_open` such a session does not count as calling.
    """
    rows = store.transcripts(None if session or calling else project)
    if session:
        row = refs.find_session(rows, session)
        if row is None:
            raise NotFound(
                f"No session {session} is recorded", hint="`holdfast status --all` lists them"
            )
        return row
    row = refs.find_session(rows, calling) if calling else None
    if row is not None and is_open and row["ended_at"] is not None:
        project, row = row["project"], None
    return row or next((row for row in rows if row["project"] == project), None)


def look_up(
    context: LookupContext, query: str, max_tokens: int, only: Filter = NO_FILTER
) -> LookupAnswer:
    """Return the lines of a ref, or the best hits for words, within a budget."""
    ref = refs.parse_ref(query)
    row = resolve_ref(context, ref) if ref else None
    if ref and row:
        return open_ref(context.index, row["id"], row["transcript"], ref, max_tokens)
    notes = refresh_scope(context)
    scope = context.index.scope(context.scope.project, context.scope.session)
    answer = find_words(context.index, query, scope, max_tokens, only=only, own=context.own)
    return answer._replace(notes=(*answer.notes, *notes))


def look_up_in_file(
    path: str, query: str, max_tokens: int, only: Filter = NO_FILTER
) -> LookupAnswer:
    """Look up in a single transcript file, without a store and without its session's notes."""
    ref = refs.parse_ref(query)
    if ref and not ref.session and not ref.in_notes:
        return open_ref(None, "", path, ref, max_tokens)
    with index_refresh.index_file(path) as index:
        return find_words(index, query, index.scope(None, None), max_tokens, only=only)


def resolve_ref(context: LookupContext, ref: Ref) -> TranscriptRow | None:
    """Return the session of a ref; for a ref to notes, `transcript` is the notes file.

    Returns None if the text only looks like a ref. Raises NotFound if the ref needs a session
    and there is none, or if the session belongs to another project.
    """
    row = _find_ref_session(context, ref)
    if row is None or not ref.in_notes:
        return row
    return {**row, "transcript": get_notes_path(row["project"], row["id"])}


def _find_ref_session(context: LookupContext, ref: Ref) -> TranscriptRow | None:
    if not ref.session:
        if context.scope.own is None:
            raise NotFound("No session to look in", hint="name one: SESSION:L12, or --session")
        return context.scope.own
    row = refs.find_session(context.store.transcripts(None), ref.session)
    if row is None and is_uuid(ref.session):
        raise NotFound(
            f"No session {ref.session} is recorded", hint="`holdfast status --all` lists them"
        )
    if row is not None and context.scope.project not in (None, row["project"]):
        raise NotFound(
            f"No session {ref.session} in this project",
            hint="it belongs to another one: ask for all projects to open it",
        )
    return row


def is_uuid(name: str) -> bool:
    return len(name) == 36 and [len(part) for part in name.split("-")] == [8, 4, 4, 4, 12]


def refresh_scope(context: LookupContext) -> list[str]:
    """Index what is new within the scope, the asking session first.

    Returns notes about transcripts that could not be indexed.
    """
    scope, own = context.scope, context.scope.own
    rows = [
        row
        for row in context.store.transcripts(scope.project)
        if scope.session in (None, row["id"])
    ]
    rows.sort(key=lambda row: own is None or row["id"] != own["id"])
    behind = index_refresh.refresh_index(
        context.index, rows, context.now, index_refresh.REFRESH_SECONDS
    )
    lost = index_refresh.find_lost(context.index, rows)[:MAX_LOST_NOTES]
    notes = [f"{row['transcript']} is gone, and was never indexed" for row in lost]
    if behind:
        notes.append(
            f"{len(behind)} sessions are not indexed yet: `holdfast index rebuild` does it"
        )
    return notes


def open_ref(
    index: SearchIndex | None, session: str, path: str, ref: Ref, max_tokens: int
) -> LookupAnswer:
    """Return the events on the lines of a ref, from the file or else from copies in the index.

    Raises NotFound if neither has them.
    """
    hits = _read_hits(session, path, ref) or [
        Hit(session, copy.line, copy.kind, copy.text, copy.tool, copy.at, is_copy=True)
        for copy in refs.find_copies(index, session, ref)
    ]
    if not hits:
        raise refs.missing_lines_error(path, ref)
    return fit_hits(join_note_lines(hits) if ref.in_notes else hits, max_tokens, session)


def _read_hits(session: str, path: str, ref: Ref) -> list[Hit]:
    if ref.in_notes:
        return [Hit(session, line, "note", text) for line, text in refs.read_note_lines(path, ref)]
    try:
        return [*_read_event_hits(session, path, ref)]
    except UnreadableTranscript:
        return []


def _read_event_hits(session: str, path: str, ref: Ref) -> Iterator[Hit]:
    """Yield the events of these transcript lines in full; a line without events, as it is."""
    for number, raw in refs.read_raw_lines(path, ref):
        hits = [
            Hit(session, number, document.kind, document.text, document.tool, document.seconds)
            for document in documents.extract_full_documents(number, raw)
        ]
        yield from hits or [
            Hit(session, number, "line", redact_log_line(raw.decode("utf-8", "replace")))
        ]


def join_note_lines(hits: list[Hit]) -> list[Hit]:
    """Merge consecutive lines of notes into one hit."""
    joined = hits[:1]
    for hit in hits[1:]:
        previous = joined[-1]
        if hit.line == max(previous.line, previous.last) + 1:
            joined[-1] = previous._replace(text=f"{previous.text}\n{hit.text}", last=hit.line)
        else:
            joined.append(hit)
    return joined


def show_lines(index: SearchIndex | None, session: str, path: str, ref: Ref) -> list[ShownLine]:
    """Return the whole lines of a ref, from the file or else from the copies in the index.

    Raises NotFound if neither has them.
    """
    lines = [ShownLine(number, text, False) for number, text in _read_whole_lines(path, ref)] or [
        ShownLine(copy.line, copy.text, True) for copy in refs.find_copies(index, session, ref)
    ]
    if not lines:
        raise refs.missing_lines_error(path, ref)
    return lines


def _read_whole_lines(path: str, ref: Ref) -> list[tuple[int, str]]:
    if ref.in_notes:
        return [*refs.read_note_lines(path, ref)]
    try:
        return [
            (number, redact_log_line(raw.decode("utf-8", "replace")))
            for number, raw in refs.read_raw_lines(path, ref)
        ]
    except UnreadableTranscript:
        return []


def find_words(
    index: SearchIndex,
    query: str,
    scope: IdRange | None,
    max_tokens: int,
    *,
    only: Filter = NO_FILTER,
    own: str = "",
) -> LookupAnswer:
    """Return the best hits for words that fit the budget, without secrets."""
    return rank_hits([*search_local(index, query, scope, only, own)], max_tokens, own)


def search_local(
    index: SearchIndex, query: str, scope: IdRange | None, only: Filter, own: str
) -> Iterator[tuple[float, Hit]]:
    """Yield score and hit of what this machine's index finds."""
    if scope is not None:
        is_gone = _source_checker(index)
        results = search(index, query, scope, filters=only, own_session=own, limit=3 * MAX_HITS)
        for result in results:
            yield result.score, to_hit(result, is_copy=is_gone(result))


def _source_checker(index: SearchIndex) -> Callable[[SearchResult], bool]:
    """Return a function that tells whether the file of a result is gone; one check per file."""
    gone: dict[tuple[str, str], bool] = {}

    def is_gone(result: SearchResult) -> bool:
        file = (result.session, "notes" if result.kind == "note" else "transcript")
        if file not in gone:
            row = index.fetch_one(file[1], (result.session,))
            gone[file] = row is not None and not os.path.exists(row["path"])
        return gone[file]

    return is_gone


def to_hit(result: SearchResult, *, is_copy: bool = False, of_team: bool = False) -> Hit:
    """Turn a search result into a hit with an excerpt around the matched words."""
    # A paragraph of notes spans lines; an event is on one line, however much text it holds.
    lines = result.text.count("\n") if result.kind == "note" else 0
    return Hit(
        result.session,
        result.line,
        result.kind,
        make_excerpt(result.text, result.position),
        result.tool,
        result.at,
        result.before_compaction,
        is_copy,
        last=result.line + lines if lines else 0,
        of_team=of_team,
    )


def rank_hits(scored: list[tuple[float, Hit]], max_tokens: int, own: str = "") -> LookupAnswer:
    """Return the hits with the highest scores that fit the budget."""
    scored.sort(key=lambda pair: pair[0], reverse=True)
    hits: dict[tuple[str, str], Hit] = {}
    for _, hit in scored:
        # The same text in several places counts once, with its best score.
        hits.setdefault((hit.kind, hit.text), hit)
    return fit_hits([*hits.values()][:MAX_HITS], max_tokens, own)


def fit_hits(hits: list[Hit], max_tokens: int, own: str = "") -> LookupAnswer:
    """Keep as many hits as the budget holds; the first one is shortened rather than dropped."""
    tokens_left = float(max_tokens)
    kept: list[Hit] = []
    for hit in hits:
        if token_cost(render_hit(hit, own)) > tokens_left:
            if kept:
                break
            hit = _shorten(hit, tokens_left, own)
        kept.append(hit)
        tokens_left -= token_cost(render_hit(hit, own))
    notes = [f"(stored copy): {refs.COPY_NOTE}"] if any(hit.is_copy for hit in kept) else []
    notes += [f"(team's copy): {refs.TEAM_COPY_NOTE}"] if any(hit.of_team for hit in kept) else []
    return LookupAnswer(kept, len(hits) - len(kept), tuple(notes))


def _shorten(hit: Hit, max_tokens: float, own: str) -> Hit:
    """Cut the text to the budget; if even that is too long, only the reference is left."""
    length = min(len(hit.text), int(4 * max_tokens))
    while length:
        shorter = hit._replace(text=hit.text[:length].rstrip() + "…")
        if token_cost(render_hit(shorter, own)) <= max_tokens:
            return shorter
        length = length * 9 // 10
    return hit._replace(text="…", tool="", at=0)


def render_hit(hit: Hit, own: str = "") -> str:
    """Return a hit as an agent sees it. The budget counts this text."""
    return f"{render_heading(hit, own)}\n{hit.text}\n"


def render_heading(hit: Hit, own: str = "") -> str:
    """Return one line that says where a hit is and what it is."""
    when = time.strftime("%Y-%m-%d %H:%M", time.gmtime(hit.at)) if hit.at else ""
    copy = "(stored copy)" if hit.is_copy else "(team's copy)" if hit.of_team else ""
    return " ".join(filter(None, [to_ref(hit, own), hit.kind, hit.tool, when, copy]))


def to_ref(hit: Hit, own: str = "") -> str:
    """Return a ref that opens this hit from the session `own`."""
    session = "" if hit.session == own else hit.session
    return str(Ref(session, hit.line, max(hit.line, hit.last), hit.kind == "note"))
