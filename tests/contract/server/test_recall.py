"""Lookups over HTTP: scoped, within a budget, and every hit opens by its ref."""

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
from tests.contract.server.conftest import Caller
from tests.unit.search.transcripts import (
    BOUNDARY,
    NOW,
    append,
    message_line,
    tool_call_line,
    tool_result_line,
)

MINE, OTHER = "5e55a0ce-0000-4000-8000-000000000001", "5e55a0ce-0000-4000-8000-000000000002"


class Memory:
    """Sessions as this server's database knows them."""

    def __init__(self, api: Caller, folder: Path) -> None:
        self.api = api
        self.folder = folder
        self.projects: dict[str, str] = {}

    def keep(self, session: str, project: str, *lines: Any) -> None:
        path = self.folder / f"{session}.jsonl"
        append(path, *lines)
        self.projects[project] = self.api.post("/api/projects", path=project)["id"]
        with self.api.databases.connect() as db, self.api.databases.index(db) as index:
            if isinstance(index, TeamIndex):
                with SearchIndex(IN_MEMORY) as here:
                    ingest_transcript(here, Source(session, project, str(path)), NOW)
                    (row,) = here.fetch_all("session_states")
                    push_session(here, row, index, self.projects[project], NOW)
                return
            db.store.save_session(
                session=session, host="claude-code", project=project, transcript=str(path),
                cursor=None, state=new_state(), revision=0, now=1.0,
            )  # fmt: skip

    def hits(self, query: str, **asked: Any) -> list[dict[str, Any]]:
        asked = asked or {"project_path": "/srv/a"}
        found: list[dict[str, Any]] = self.api.get("/api/recall", q=query, **asked)["hits"]
        return found


@pytest.fixture
def memory(api: Caller, tmp_path: Path) -> Memory:
    made = Memory(api, tmp_path)
    made.keep(
        MINE,
        "/srv/a",
        message_line("use full jitter"),
        tool_call_line("t1", "Bash", command="grep jitter src/worker.py"),
        tool_result_line("t1", "2: jitter"),
        BOUNDARY,
        message_line("jitter again"),
    )
    made.keep(OTHER, "/srv/b", message_line("jitter of another project"), message_line("obelisk"))
    return made


def test_a_project_is_searched_by_path_or_id_and_nothing_else(memory: Memory) -> None:
    for asked in (
        {"project_path": "/srv/a"},
        {"project_path": "/srv/a/src/deep"},
        {"project_id": memory.projects["/srv/a"]},
        {"session_id": MINE},
    ):
        assert {hit["session_id"] for hit in memory.hits("jitter", **asked)} == {MINE}
        assert memory.hits("obelisk", **asked) == []
    everywhere = memory.hits("jitter", all_projects=True)
    assert {hit["session_id"] for hit in everywhere} == {MINE, OTHER}


def test_whoever_does_not_say_where_is_asked(memory: Memory) -> None:
    told = memory.api.get("/api/recall", 400, q="jitter")
    assert "all_projects" in told["hint"]
    assert memory.api.get("/api/recall", 404, q="jitter", project_path="/nowhere")["status"] == 404
    assert memory.hits("jitter", project_id="nobody") == memory.hits("jitter", session_id="x") == []


def test_filters_are_those_of_the_command(memory: Memory) -> None:
    cases = [
        ({}, {1, 2, 3, 5}),
        ({"kind": "prompt"}, {1, 5}),
        ({"kind": ["prompt", "tool_call"]}, {1, 2, 5}),
        ({"tool": "bash"}, {2, 3}),
        ({"file": "src/worker.py"}, {2}),
        ({"before_compaction": "true"}, {1, 2, 3}),
        ({"since": "2026-11-16"}, set()),
    ]
    for asked, lines in cases:
        found = memory.hits("jitter", project_path="/srv/a", **asked)
        assert {hit["line"] for hit in found} == lines, asked
        asked = {("kinds" if name == "kind" else name): value for name, value in asked.items()}
        if isinstance(asked.get("kinds"), str):
            asked["kinds"] = [asked["kinds"]]
        if "before_compaction" in asked:
            asked["before_compaction"] = True
        posted = memory.api.post("/api/recall", query="jitter", project_path="/srv/a", **asked)
        assert posted["hits"] == found, asked


def test_every_hit_opens_by_its_ref(memory: Memory) -> None:
    for hit in memory.hits("jitter", all_projects=True):
        (opened,) = memory.api.get(f"/api/recall/{hit['ref']}")["hits"]
        assert (opened["text"], opened["ref"]) == (hit["text"], hit["ref"])
    some = memory.api.get(f"/api/recall/{MINE}:L1-2")["hits"]
    assert [one["line"] for one in some] == [1, 2]
    assert memory.api.get("/api/recall/L1", session_id=OTHER)["hits"][0]["session_id"] == OTHER


def test_a_ref_that_leads_nowhere_is_told(memory: Memory) -> None:
    cases = [
        ("nothing", 400),
        ("L1", 400),
        (f"{MINE}:L99", 404),
        ("5e55a0ce-0000-4000-8000-00000000000f:L1", 404),
    ]
    for path, status in cases:
        assert memory.api.get(f"/api/recall/{path}", status)["hint"], path


def test_the_budget_holds(memory: Memory) -> None:
    memory.keep(MINE, "/srv/a", *[message_line(f"obsidian {n} " + "x " * 200) for n in range(9)])
    told = memory.api.get("/api/recall", q="obsidian", session_id=MINE, max_tokens=300)
    assert told["left_out"] > 0
    assert estimate_tokens("".join(hit["text"] for hit in told["hits"])) <= 300


def test_any_question_can_be_posted(memory: Memory) -> None:
    for query in ['"', "zz AND", "'x' & !", "x" * 100_000, "🎉" * 30_000, "%"]:
        told = memory.api.post("/api/recall", query=query, project_path="/srv/a")
        assert told["hits"] == [], query


def test_an_empty_question_is_refused(memory: Memory) -> None:
    for query in ["", " "]:
        refused = (
            memory.api.get("/api/recall", 400, q=query, project_path="/srv/a"),
            memory.api.post("/api/recall", 400, query=query, project_path="/srv/a"),
        )
        assert all("hits" not in told and told["detail"] for told in refused), query


def test_it_is_described_for_programs(local: Caller) -> None:
    told = local.get("/openapi/openapi.json")
    described = told["paths"]["/api/recall"]["get"]
    names = {one["name"] for one in described["parameters"]}
    assert {"q", "kind", "max_tokens", "project_path", "all_projects", "since"} <= names
    (example,) = described["responses"]["200"]["content"]["application/json"]["examples"].values()
    assert example["value"]["hits"][0]["ref"].endswith(":L107")
    assert "/api/recall/{ref}" in told["paths"]
