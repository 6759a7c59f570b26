"""The palette: pages, sessions, compactions and the best search results for what is typed."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from itertools import islice
from typing import Annotated, TypedDict
from urllib.parse import quote, urlencode

from litestar import get
from litestar.params import QueryParameter

from holdfast.search.search import NO_FILTER
from holdfast.server.databases import Connections
from holdfast.server.dependencies import CallerDatabases
from holdfast.server.web import rendering
from holdfast.server.web.session_access import title_of
from holdfast.services.recall.lookup import to_ref
from holdfast.services.recall.server_lookup import SearchBackend, ServerScope, search_words
from holdfast.store.protocols import SessionRow

PAGES = {
    "Now": "/", "Sessions": "/sessions", "Work": "/work", "Conversations": "/conversations",
    "Recall": "/recall", "Quality": "/quality",
}  # fmt: skip
MAX_ENTRIES = 12
MAX_OF_EACH = {"page": 6, "session": 5, "compaction": 3}
# Titles are in the states, which take time to decode. Older sessions are found by their ids, and
# their words by the search.
MAX_SESSIONS = 200
MIN_ID_CHARS = 4
MAX_TITLE_CHARS = 110
HIT_TOKENS = 4_000

Query = Annotated[str, QueryParameter(max_length=2_000)]


class Entry(TypedDict):
    """One line of the palette."""

    title: str
    path: str
    kind: str


@get("/palette", sync_to_thread=True)
def list_entries(databases: CallerDatabases, q: Query = "") -> list[Entry]:
    """List what the typed words may mean, pages first."""
    words = q.lower().split()
    entries = [*_take("page", find_pages(words))]
    with databases.connect() as db:
        rows = find_rows(db, q.strip())
        entries += _take("session", find_sessions(rows, words))
        entries += _take("compaction", find_compactions(rows, words))
        if words:
            entries = entries[: MAX_ENTRIES - 1]
            with databases.open_index(db) as index:
                backend = SearchBackend(db.store, db.ledger, index)
                found = find_texts(backend, q.strip())
            entries += found[: MAX_ENTRIES - 1 - len(entries)]
            title = f"Search for “{rendering.clean(q.strip(), MAX_TITLE_CHARS)}”"
            path = f"/recall?{urlencode({'q': q.strip()})}"
            entries.append({"title": title, "path": path, "kind": "recall"})
    return entries[:MAX_ENTRIES]


def _take(kind: str, entries: Iterator[Entry]) -> Iterator[Entry]:
    return islice(entries, MAX_OF_EACH[kind])


def find_rows(db: Connections, text: str) -> list[SessionRow]:
    """Return the latest sessions, after older ones whose id begins with the text."""
    rows = db.store.sessions(None, MAX_SESSIONS)
    if len(text) < MIN_ID_CHARS or len(rows) < MAX_SESSIONS:
        return rows
    known = {row["id"] for row in rows}
    older = (
        row["id"]
        for row in db.store.transcripts(None)
        if row["id"].startswith(text) and row["id"] not in known
    )
    found = (db.store.session(ident) for ident in islice(older, MAX_OF_EACH["session"]))
    return [*(row for row in found if row), *rows]


def find_pages(words: list[str]) -> Iterator[Entry]:
    for title, path in PAGES.items():
        if all(word in title.lower() for word in words):
            yield {"title": title, "path": path, "kind": "page"}


def find_sessions(rows: list[SessionRow], words: list[str]) -> Iterator[Entry]:
    """Yield the sessions whose project, title or id has every word."""
    for row in rows:
        title = make_title(row)
        if _has_words(f"{title} {row['id']} session", words):
            yield {"title": title, "path": f"/sessions/{quote(row['id'])}", "kind": "session"}


def find_compactions(rows: list[SessionRow], words: list[str]) -> Iterator[Entry]:
    """Yield the compactions of such sessions, the latest first."""
    for row in rows:
        for number in range(len(row["state"]["compactions"]), 0, -1):
            title = f"compaction {number} of {make_title(row)}"
            if _has_words(f"{title} {row['id']}", words):
                path = f"/sessions/{quote(row['id'])}/compactions/{number}"
                yield {"title": title, "path": path, "kind": "compaction"}


def _has_words(text: str, words: list[str]) -> bool:
    lower = text.lower()
    return all(word in lower for word in words)


def make_title(row: SessionRow) -> str:
    """Return project and title of a session in one line."""
    project = os.path.basename(row["project"]) or row["project"]
    return rendering.clean(f"{project}: {title_of(row, 80)}", MAX_TITLE_CHARS)


def find_texts(backend: SearchBackend, query: str) -> list[Entry]:
    """Return search results as entries. Nothing is indexed meanwhile: it has to be fast."""
    answer = search_words(
        backend, query, ServerScope(), HIT_TOKENS, NO_FILTER, time.time(), refresh_seconds=0.0
    )
    return [
        {
            "title": rendering.clean(" ".join(hit.text.split()), MAX_TITLE_CHARS),
            "path": f"/recall?{urlencode({'q': query, 'at': to_ref(hit)})}",
            "kind": hit.kind.replace("_", " "),
        }
        for hit in answer.hits
    ]
