"""Recall: search everything that was said, done or printed, with the source beside the results."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlencode

from litestar import get
from litestar.params import QueryParameter
from litestar.response import Template

from holdfast.errors import HoldfastError, InvalidInput, NotFound
from holdfast.search.excerpt import make_excerpt
from holdfast.search.search import Filter
from holdfast.search.tokenizer import parse_terms, split_term
from holdfast.server.databases import Connections
from holdfast.server.dependencies import CallerDatabases
from holdfast.server.web import rendering
from holdfast.server.web.marked_text import Piece, find_densest, mark_words
from holdfast.server.web.session_access import title_of
from holdfast.services.recall.lookup import Hit, LookupAnswer, to_ref
from holdfast.services.recall.refs import Ref, parse_ref
from holdfast.services.recall.server_lookup import (
    SearchBackend,
    ServerScope,
    open_session_ref,
    search_words,
)
from holdfast.services.time_parsing import parse_time
from holdfast.store.protocols import TranscriptRow

# The filters: what the page says, and the kinds of documents that it means.
KINDS = {
    "prompt": ("prompts", ("prompt", "command")),
    "reply": ("replies", ("reply",)),
    "tool": ("tool calls and results", ("tool_call", "tool_result")),
    "note": ("notes", ("note",)),
    "summary": ("summaries", ("summary",)),
}
KIND_NAMES = {
    "tool_call": "call",
    "tool_result": "result",
    "pull_request": "PR",
    "agent_done": "agent",
}
TIMES = {"1h": "the last hour", "1d": "the last day", "7d": "the last week", "30d": "30 days"}
# Enough for every hit: the page shows whole excerpts, and no model pays for them.
MAX_TOKENS = 10_000_000
# How many lines before and after the opened one are shown, and how much of each.
CONTEXT_LINES = 2
MAX_CONTEXT_CHARS = 300
MAX_SOURCE_CHARS = 8_000
MAX_LISTED_CHARS = 240
MAX_CHARS_BEFORE_WORD = 60

MAX_QUERY_CHARS = 2_000
Query = Annotated[str, QueryParameter(max_length=MAX_QUERY_CHARS)]
Folder = Annotated[str, QueryParameter(max_length=4096)]
Session = Annotated[str, QueryParameter(max_length=500)]
Word = Annotated[str, QueryParameter(max_length=100)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What is looked for, as the address of the page says."""

    q: str = ""
    project: str = ""
    session: str = ""
    kind: str = ""
    since: str = ""

    def make_path(self, **changed: str) -> str:
        """Return the address of this search, with other values for some fields."""
        names = ("q", "project", "session", "kind", "since")
        values = {name: getattr(self, name) for name in names} | changed
        return f"/recall?{urlencode({name: value for name, value in values.items() if value})}"

    @property
    def has_filter(self) -> bool:
        return bool(self.project or self.session or self.kind or self.since)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One result in the list."""

    ref: str
    path: str
    """The address of this page with the result opened."""
    session: str
    line: int
    kind: str
    tool: str
    project: str
    title: str
    at: int
    note: str
    """Where the text comes from, if not from the log itself."""
    text: list[Piece]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceLine:
    """A line of the opened source."""

    line: int
    kind: str
    text: list[Piece]
    is_found: bool
    """Whether it is the line that was opened, rather than one around it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What the right column shows."""

    ref: str
    session: str
    project: str
    title: str
    in_notes: bool
    lines: list[SourceLine]
    problem: str = ""


@get("/recall", sync_to_thread=True)
def show_recall(
    databases: CallerDatabases,
    q: Query = "",
    project: Folder = "",
    session: Session = "",
    kind: Word = "",
    since: Word = "",
    at: Session = "",
) -> Template:
    """Search for words, or open a ref, and show the source of one result."""
    search = Search(
        q=q.strip(), project=project, session=session.strip(), since=since.strip(),
        kind=kind if kind in KINDS else "",
    )  # fmt: skip
    with databases.connect() as db, databases.open_index(db) as index:
        backend = SearchBackend(db.store, db.ledger, index)
        rows = db.store.transcripts(None)
        answer, problem = find(backend, rows, search)
        words = list_words(search.q)
        opened = parse_ref(at) if at else None
        if opened is None and answer.hits:
            opened = parse_ref(to_ref(answer.hits[0]))
        source = None
        if opened and search.q:
            source = load_source(db, backend, opened, words)
        results = to_results(db, answer.hits, search, words)
    page = rendering.render(
        "recall.html", section="recall", title="Recall", search=search, results=results,
        source=source, problem=problem, notes=answer.notes, sessions=len(rows),
        folders=list_folders(rows), kinds={name: text for name, (text, _) in KINDS.items()},
        times=TIMES if search.since in ("", *TIMES) else {search.since: search.since, **TIMES},
    )  # fmt: skip
    if not at:
        # The form sends its empty fields too; the address bar shows only what is set.
        page.headers["HX-Replace-Url"] = search.make_path()
    return page


def find(
    backend: SearchBackend, rows: list[TranscriptRow], search: Search
) -> tuple[LookupAnswer, str]:
    """Return the hits, or none and why there can be none."""
    if not search.q:
        return LookupAnswer([], 0), ""
    try:
        scope = to_scope(rows, search)
        ref = parse_ref(search.q)
        if ref and (session := find_session(rows, ref.session or search.session)):
            return open_session_ref(backend, ref._replace(session=session), MAX_TOKENS), ""
        now = time.time()
        only = Filter(
            kinds=KINDS[search.kind][1] if search.kind else (),
            since=parse_time(search.since, now) if search.since else 0.0,
        )
        return search_words(backend, search.q, scope, MAX_TOKENS, only, now), ""
    except (NotFound, InvalidInput) as problem:
        return LookupAnswer([], 0), f"{problem}. {problem.hint}".strip()


def to_scope(rows: list[TranscriptRow], search: Search) -> ServerScope:
    """Return where to search. Raises NotFound for a session or project without a row."""
    session = None
    if search.session:
        session = find_session(rows, search.session)
        if not session:
            raise NotFound(f"No session {search.session} is recorded")
    folder = search.project or None
    if folder and not any(row["project"] == folder for row in rows):
        raise NotFound(f"No session of {folder} is recorded")
    return ServerScope(session=session, folder=folder)


def find_session(rows: Iterable[TranscriptRow], start: str) -> str:
    """Return the id of the latest session whose id begins like this; "" if there is none."""
    return next((row["id"] for row in rows if row["id"].startswith(start)), "") if start else ""


def list_folders(rows: Iterable[TranscriptRow]) -> list[tuple[str, str]]:
    """Return the folders with sessions and their names; equal names get the folder above."""
    folders = sorted(
        {row["project"] for row in rows}, key=lambda path: (os.path.basename(path), path)
    )
    names = [os.path.basename(folder) or folder for folder in folders]
    return [
        (folder, name if names.count(name) == 1 else f"{name} ({os.path.dirname(folder)})")
        for folder, name in zip(folders, names, strict=True)
    ]


def list_words(query: str) -> list[str]:
    """Return the words of a query that are highlighted, with the parts of paths and names."""
    terms = parse_terms(query)
    return [part.text for term in terms for part in (term, *split_term(term))]


def to_results(
    db: Connections, hits: Iterable[Hit], search: Search, words: list[str]
) -> list[Result]:
    """Return the hits as the list shows them."""
    known: dict[str, tuple[str, str]] = {}
    results = []
    for hit in hits:
        if hit.session not in known:
            known[hit.session] = describe_session(db, hit.session)
        project, title = known[hit.session]
        ref = to_ref(hit)
        result = Result(
            ref=ref, path=search.make_path(at=ref), session=hit.session, line=hit.line,
            kind=KIND_NAMES.get(hit.kind, hit.kind), tool=hit.tool, project=project, title=title,
            at=hit.at, text=mark_line(hit.text, words),
            note="stored copy" if hit.is_copy else "team's copy" if hit.of_team else "",
        )  # fmt: skip
        results.append(result)
    return results


def describe_session(db: Connections, session: str) -> tuple[str, str]:
    """Return project and title of a session; a team's index may have sessions without a row."""
    row = db.store.session(session)
    return (os.path.basename(row["project"]), title_of(row, 70)) if row else ("", session)


def load_source(db: Connections, backend: SearchBackend, ref: Ref, words: list[str]) -> Source:
    """Return the lines of a ref and those around it, or why they cannot be read."""
    project, title = describe_session(db, ref.session)
    lines: list[SourceLine] = []
    problem = ""
    try:
        lines = [to_source_line(hit, ref, words) for hit in open_around(backend, ref)]
    except HoldfastError as error:
        problem = f"{error}. {error.hint}"
    return Source(
        ref=str(ref), session=ref.session, project=project, title=title,
        in_notes=ref.in_notes, lines=lines, problem=problem,
    )  # fmt: skip


def open_around(backend: SearchBackend, ref: Ref) -> list[Hit]:
    """Return the events on the lines of a ref and around it; notes are opened without more."""
    if not ref.in_notes:
        wider = ref._replace(first=max(1, ref.first - CONTEXT_LINES), last=ref.last + CONTEXT_LINES)
        hits = open_session_ref(backend, wider, MAX_TOKENS).hits
        # A line without any text is shown only if it was opened.
        hits = [hit for hit in hits if hit.kind != "line" or _is_within(hit, ref)]
        if any(_is_within(hit, ref) for hit in hits):
            return hits
    return open_session_ref(backend, ref, MAX_TOKENS).hits


def _is_within(hit: Hit, ref: Ref) -> bool:
    return ref.first <= hit.line <= ref.last


def to_source_line(hit: Hit, ref: Ref, words: list[str]) -> SourceLine:
    """Return one event of the source."""
    is_found = _is_within(hit, ref)
    return SourceLine(
        line=hit.line, kind=KIND_NAMES.get(hit.kind, hit.kind), is_found=is_found,
        text=mark_around(hit.text, words, MAX_SOURCE_CHARS if is_found else MAX_CONTEXT_CHARS),
    )  # fmt: skip


def mark_around(text: str, words: list[str], max_chars: int) -> list[Piece]:
    """Return a text with the words marked; a long one is cut around them."""
    plain = rendering.clean(text, max_chars=len(text))
    return mark_words(make_excerpt(plain, find_densest(plain, words), max_chars), words)


def mark_line(text: str, words: list[str]) -> list[Piece]:
    """Return a few lines from the one with the words on, with the words marked."""
    plain = rendering.clean(text, max_chars=len(text))
    place = find_densest(plain, words)
    start = max(plain.rfind("\n", 0, place) + 1, place - MAX_CHARS_BEFORE_WORD)
    part = plain[start : start + MAX_LISTED_CHARS].strip()
    is_cut = start + MAX_LISTED_CHARS < len(plain)
    return mark_words(f"{'… ' if start else ''}{part}{' …' if is_cut else ''}", words)
