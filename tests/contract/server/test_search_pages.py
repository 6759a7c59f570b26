"""The search page and the palette: they find what the API finds, and hostile text stays text."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from holdfast.search.search import NO_FILTER
from holdfast.services.recall import server_lookup
from holdfast.services.recall.server_lookup import SearchBackend, ServerScope, search_words
from tests.contract.server.conftest import ApiClient, make_state
from tests.contract.server.test_recall import OTHER_SESSION, SESSION, IndexedSessions
from tests.unit.search.transcripts import (
    BOUNDARY,
    NOW,
    message_line,
    tool_call_line,
    tool_result_line,
)
from tests.unit.transcript_lines import boundary, state_of, user

POSTGRES_IS_SLOW = True
HOSTILE = (
    "obsidian <script>document.title='pwned'</script><img src=x onerror=alert(1)> "
    "\x1b[31mred\x1b[0m \u202eevil\u202c </mark></textarea>{{ 7*7 }}"
)


@pytest.fixture
def sessions(api: ApiClient, tmp_path: Path) -> IndexedSessions:
    sessions = IndexedSessions(api, tmp_path)
    sessions.add_session(
        SESSION,
        "/srv/a",
        message_line("use full jitter"),
        tool_call_line("t1", "Bash", command="grep jitter src/worker.py"),
        tool_result_line("t1", "2: jitter"),
        BOUNDARY,
        message_line("jitter again"),
        message_line(HOSTILE),
        tool_call_line("t2", "Bash", command="cat basalt.txt"),
        tool_result_line("t2", f"{'x' * 600_000} basalt {HOSTILE} {'y' * 400_000}"),
    )
    sessions.add_session(OTHER_SESSION, "/srv/b", message_line("jitter of another project"))
    return sessions


def open_page(api: ApiClient, path: str, **query: Any) -> str:
    response = api.client.get(path, params=query)
    assert response.status_code == 200, response.text
    assert response.headers["content-type"].startswith("text/html")
    assert "script-src 'self'" in response.headers["content-security-policy"]
    return str(response.text)


def find_lines(page: str) -> set[int]:
    """The lines of the results in the left column."""
    found = page.partition('id="found"')[2].partition('id="opened"')[0]
    return {int(line) for line in re.findall(r"\bL(\d+)\b", found)}


def test_the_page_finds_words_with_the_filters_of_the_api(sessions: IndexedSessions) -> None:
    cases: list[tuple[dict[str, str], set[int]]] = [
        ({}, {1, 2, 3, 5}),
        ({"kind": "prompt"}, {1, 5}),
        ({"kind": "tool"}, {2, 3}),
        ({"kind": "note"}, set()),
        ({"since": "1d"}, set()),
        ({"kind": "no such kind"}, {1, 2, 3, 5}),
    ]
    for filters, lines in cases:
        page = open_page(sessions.api, "/recall", q="jitter", **filters)
        assert find_lines(page) == lines, filters
        assert ('<mark class="found">jitter</mark>' in page) == bool(lines), filters


def test_the_source_of_the_best_or_of_the_named_result_is_beside_it(
    sessions: IndexedSessions,
) -> None:
    page = open_page(sessions.api, "/recall", q="jitter", at=f"{SESSION}:L3")
    source = page.partition('id="opened"')[2]
    assert f'href="/sessions/{SESSION}/lines/3"' in source
    assert "grep" in source, "the lines around it are shown too"
    assert f"holdfast recall {SESSION}:L3" in source
    first = open_page(sessions.api, "/recall", q="jitter")
    assert "holdfast recall " in first.partition('id="opened"')[2]
    missing = open_page(sessions.api, "/recall", q="jitter", at=f"{SESSION}:L99")
    assert "L99" in missing.partition('id="opened"')[2]


def test_every_empty_page_says_what_to_do_next(sessions: IndexedSessions) -> None:
    api = sessions.api
    assert "Try fewer or other words" in open_page(api, "/recall", q="zzz")
    assert "Search without filters" in open_page(api, "/recall", q="jitter", kind="note")
    assert "is not a time" in open_page(api, "/recall", q="jitter", since="never")
    assert "is recorded" in open_page(api, "/recall", q="jitter", session="zz")
    assert "is recorded" in open_page(api, "/recall", q="jitter", project="/unknown")
    assert "autofocus" in open_page(api, "/recall")


def test_hostile_text_stays_text_on_the_page(sessions: IndexedSessions) -> None:
    for query in ("obsidian", "basalt", "script", "<script>", HOSTILE):
        page = open_page(sessions.api, "/recall", q=query)
        assert "<script>document" not in page, query
        assert "<img" not in page, query
        assert "\x1b" not in page, query
        assert "\u202e" not in page, query
        assert "49" not in page.partition('id="found"')[2].replace("L49", ""), query
        assert len(page) < 100_000, query
    source = open_page(sessions.api, "/recall", q="basalt", at=f"{SESSION}:L8")
    assert '<mark class="found">basalt</mark>' in source.partition('id="opened"')[2]


def test_the_palette_is_a_short_list_of_clean_titles(sessions: IndexedSessions) -> None:
    # The palette does not index: the page's own search did before.
    open_page(sessions.api, "/recall", q="jitter")
    for query in ("", "jitter", HOSTILE, "obsidian", "x" * 2000):
        response = sessions.api.client.get("/palette", params={"q": query})
        assert response.status_code == 200, query
        entries = response.json()
        assert 0 < len(entries) <= 12, query
        for entry in entries:
            assert set(entry) == {"title", "path", "kind"}
            assert entry["path"].startswith("/")
            assert "\x1b" not in entry["title"]
            assert "\u202e" not in entry["title"]
            assert len(entry["title"]) < 150
    (first, *_, last) = sessions.api.client.get("/palette", params={"q": "jitter"}).json()
    assert "jitter" in first["title"]
    assert last == {"title": "Search for “jitter”", "path": "/recall?q=jitter", "kind": "recall"}


def test_a_folder_is_a_scope_on_every_database(sessions: IndexedSessions) -> None:
    databases = sessions.api.databases
    with databases.connect() as db, databases.open_index(db) as index:
        backend = SearchBackend(db.store, db.ledger, index)
        for folder, found in (
            ("/srv/a", {SESSION}),
            ("/srv/b", {OTHER_SESSION}),
            ("/srv/c", set()),
        ):
            scope = ServerScope(folder=folder)
            answer = search_words(backend, "jitter", scope, 5000, NO_FILTER, NOW)
            assert {hit.session for hit in answer.hits} == found, folder


class TestOnThisMachine:
    """What needs sessions in the store, which machines do not push to a team."""

    @pytest.fixture
    def api(self, sqlite_api: ApiClient, tmp_path: Path) -> ApiClient:
        log = tmp_path / "log.jsonl"
        log.write_text("")
        for ident, project, request in (
            ("aa11", "/srv/courier", "Back off failed jobs"),
            ("bb22", "/srv/billing", "Port the invoice renderer"),
        ):
            state = make_state(request)
            if ident == "aa11":
                state["compactions"] = state_of(user("Go"), boundary(trigger="auto"))["compactions"]
            with sqlite_api.databases.connect() as db:
                db.store.save_session(
                    session=ident, host="codex", project=project, transcript=str(log),
                    cursor=None, state=state, revision=0, now=1.0,
                )  # fmt: skip
        return sqlite_api

    def test_the_palette_finds_pages_sessions_and_compactions(self, api: ApiClient) -> None:
        for query, path in (
            ("qual", "/quality"),
            ("courier", "/sessions/aa11"),
            ("back off", "/sessions/aa11"),
            ("bb2", "/sessions/bb22"),
            ("compaction 1", "/sessions/aa11/compactions/1"),
            ("courier compaction", "/sessions/aa11/compactions/1"),
        ):
            entries = api.client.get("/palette", params={"q": query}).json()
            assert entries[0]["path"] == path, query
        kinds = [entry["kind"] for entry in api.client.get("/palette").json()]
        assert kinds == ["page"] * 6 + ["session"] * 2 + ["compaction"]

    def test_the_palette_searches_what_is_indexed_and_indexes_nothing(
        self, api: ApiClient, tmp_path: Path
    ) -> None:
        IndexedSessions(api, tmp_path).add_session(SESSION, "/srv/a", message_line("jitter one"))
        for is_indexed in (False, True):
            entries = api.client.get("/palette", params={"q": "jitter"}).json()
            assert any(entry["kind"] == "prompt" for entry in entries) == is_indexed
            open_page(api, "/recall", q="jitter")

    def test_a_search_indexes_only_the_latest_sessions(
        self, api: ApiClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(server_lookup, "MAX_REFRESHED_SESSIONS", 0)
        IndexedSessions(api, tmp_path).add_session(SESSION, "/srv/a", message_line("jitter one"))
        assert "Nothing was found" in open_page(api, "/recall", q="jitter")
        monkeypatch.undo()
        assert "jitter</mark> one" in open_page(api, "/recall", q="jitter", session=SESSION)

    def test_a_search_is_limited_to_a_project_by_its_folder(
        self, api: ApiClient, tmp_path: Path
    ) -> None:
        sessions = IndexedSessions(api, tmp_path)
        sessions.add_session(SESSION, "/srv/a", message_line("jitter one"))
        sessions.add_session(OTHER_SESSION, "/srv/b", message_line("jitter two"))
        page = open_page(api, "/recall", q="jitter", project="/srv/b")
        assert OTHER_SESSION in page
        assert SESSION not in page
        page = open_page(api, "/recall", q="jitter", session=SESSION[:-1] + "1")
        assert "jitter</mark> one" in page
        assert "jitter</mark> two" not in page
        opened = open_page(api, "/recall", q=f"{SESSION}:L1")
        assert "one" in opened.partition('id="opened"')[2]
