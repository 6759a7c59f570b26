"""Recall over HTTP: limited to a project, within a token budget, with hits that can be opened."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from holdfast.search.index_db import IN_MEMORY, SearchIndex
from holdfast.search.ingest import Source, ingest_transcript
from holdfast.search.push import push_session
from holdfast.search.team_index import TeamIndex
from holdfast.state.fold import new_state
from holdfast.tokens.estimate import estimate_tokens
from tests.contract.server.conftest import ApiClient
from tests.unit.search.transcripts import (
    BOUNDARY,
    NOW,
    append,
    message_line,
    tool_call_line,
    tool_result_line,
)

SESSION = "5e55a0ce-0000-4000-8000-000000000001"
OTHER_SESSION = "5e55a0ce-0000-4000-8000-000000000002"


class IndexedSessions:
    """Sessions in the server's store and search index."""

    def __init__(self, api: ApiClient, folder: Path) -> None:
        self.api = api
        self.folder = folder
        self.projects: dict[str, str] = {}

    def add_session(self, session: str, project: str, *lines: Any) -> None:
        path = self.folder / f"{session}.jsonl"
        append(path, *lines)
        self.projects[project] = self.api.post("/api/projects", path=project)["id"]
        with self.api.databases.connect() as db, self.api.databases.open_index(db) as index:
            if isinstance(index, TeamIndex):
                with SearchIndex(IN_MEMORY) as local_index:
                    ingest_transcript(local_index, Source(session, project, str(path)), NOW)
                    (row,) = local_index.fetch_all("session_states")
                    push_session(local_index, row, index, self.projects[project], NOW)
                return
            db.store.save_session(
                session=session, host="claude-code", project=project, transcript=str(path),
                cursor=None, state=new_state(), revision=0, now=1.0,
            )  # fmt: skip

    def search(self, query: str, **filters: Any) -> list[dict[str, Any]]:
        filters = filters or {"project_path": "/srv/a"}
        hits: list[dict[str, Any]] = self.api.get("/api/recall", q=query, **filters)["hits"]
        return hits


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
    )
    sessions.add_session(
        OTHER_SESSION, "/srv/b", message_line("jitter of another project"), message_line("obelisk")
    )
    return sessions


def test_a_search_is_limited_to_a_project_or_session(sessions: IndexedSessions) -> None:
    for filters in (
        {"project_path": "/srv/a"},
        {"project_path": "/srv/a/src/deep"},
        {"project_id": sessions.projects["/srv/a"]},
        {"session_id": SESSION},
    ):
        hits = sessions.search("jitter", **filters)
        assert {hit["session_id"] for hit in hits} == {SESSION}
        assert sessions.search("obelisk", **filters) == []
    all_hits = sessions.search("jitter", all_projects=True)
    assert {hit["session_id"] for hit in all_hits} == {SESSION, OTHER_SESSION}


def test_a_search_without_a_project_is_refused_with_a_hint(
    sessions: IndexedSessions,
) -> None:
    problem = sessions.api.get("/api/recall", 400, q="jitter")
    assert "all_projects" in problem["hint"]
    problem = sessions.api.get("/api/recall", 404, q="jitter", project_path="/unknown")
    assert problem["status"] == 404
    assert sessions.search("jitter", project_id="unknown") == []
    assert sessions.search("jitter", session_id="unknown") == []


def test_get_and_post_have_the_filters_of_the_recall_command(
    sessions: IndexedSessions,
) -> None:
    cases = [
        ({}, {1, 2, 3, 5}),
        ({"kind": "prompt"}, {1, 5}),
        ({"kind": ["prompt", "tool_call"]}, {1, 2, 5}),
        ({"tool": "bash"}, {2, 3}),
        ({"file": "src/worker.py"}, {2}),
        ({"before_compaction": "true"}, {1, 2, 3}),
        ({"since": "2026-11-16"}, set()),
    ]
    for filters, lines in cases:
        hits = sessions.search("jitter", project_path="/srv/a", **filters)
        assert {hit["line"] for hit in hits} == lines, filters
        filters = {("kinds" if name == "kind" else name): value for name, value in filters.items()}
        if isinstance(filters.get("kinds"), str):
            filters["kinds"] = [filters["kinds"]]
        if "before_compaction" in filters:
            filters["before_compaction"] = True
        posted = sessions.api.post("/api/recall", query="jitter", project_path="/srv/a", **filters)
        assert posted["hits"] == hits, filters


def test_every_hit_can_be_opened_by_its_ref(sessions: IndexedSessions) -> None:
    for hit in sessions.search("jitter", all_projects=True):
        (opened,) = sessions.api.get(f"/api/recall/{hit['ref']}")["hits"]
        assert (opened["text"], opened["ref"]) == (hit["text"], hit["ref"])
    hits = sessions.api.get(f"/api/recall/{SESSION}:L1-2")["hits"]
    assert [hit["line"] for hit in hits] == [1, 2]
    (hit,) = sessions.api.get("/api/recall/L1", session_id=OTHER_SESSION)["hits"]
    assert hit["session_id"] == OTHER_SESSION


def test_an_invalid_or_unknown_ref_is_refused_with_a_hint(
    sessions: IndexedSessions,
) -> None:
    cases = [
        ("invalid", 400),
        ("L1", 400),
        (f"{SESSION}:L99", 404),
        ("5e55a0ce-0000-4000-8000-00000000000f:L1", 404),
    ]
    for ref, status in cases:
        assert sessions.api.get(f"/api/recall/{ref}", status)["hint"], ref


def test_the_hits_fit_the_token_budget(sessions: IndexedSessions) -> None:
    sessions.add_session(
        SESSION, "/srv/a", *[message_line(f"obsidian {n} " + "x " * 200) for n in range(9)]
    )
    response = sessions.api.get("/api/recall", q="obsidian", session_id=SESSION, max_tokens=300)
    assert response["left_out"] > 0
    assert estimate_tokens("".join(hit["text"] for hit in response["hits"])) <= 300


def test_queries_with_operators_or_very_long_text_find_nothing_and_do_not_fail(
    sessions: IndexedSessions,
) -> None:
    for query in ['"', "zz AND", "'x' & !", "x" * 100_000, "🎉" * 30_000, "%"]:
        response = sessions.api.post("/api/recall", query=query, project_path="/srv/a")
        assert response["hits"] == [], query


def test_an_empty_query_is_refused(sessions: IndexedSessions) -> None:
    for query in ["", " "]:
        problems = (
            sessions.api.get("/api/recall", 400, q=query, project_path="/srv/a"),
            sessions.api.post("/api/recall", 400, query=query, project_path="/srv/a"),
        )
        assert all("hits" not in problem and problem["detail"] for problem in problems), query


def test_the_schema_describes_recall_with_an_example(sqlite_api: ApiClient) -> None:
    schema = sqlite_api.get("/openapi/openapi.json")
    operation = schema["paths"]["/api/recall"]["get"]
    names = {parameter["name"] for parameter in operation["parameters"]}
    assert {"q", "kind", "max_tokens", "project_path", "all_projects", "since"} <= names
    (example,) = operation["responses"]["200"]["content"]["application/json"]["examples"].values()
    assert example["value"]["hits"][0]["ref"].endswith(":L107")
    assert "/api/recall/{ref}" in schema["paths"]
