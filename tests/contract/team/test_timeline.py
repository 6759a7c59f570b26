"""The timeline of a colleague's session, built from the texts in the team database."""

from __future__ import annotations

import json
import time
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.reports.timeline import build_timeline
from holdfast.search.index_db import IN_MEMORY, SearchIndex
from holdfast.search.ingest import Source, ingest_transcript
from holdfast.search.push import push_session
from holdfast.search.team_index import TeamIndex
from holdfast.services.doctor.self_test import SelfTest
from holdfast.services.recall.indexed_events import load_indexed_events
from holdfast.state.fold import new_state
from holdfast.store.postgres import PostgresStore
from tests.terminal import Terminal
from tests.unit.cli.test_timeline import drop_compactions
from tests.unit.search.transcripts import NOW
from tests.unit.transcript_lines import ROOT, bash, user

from .colleagues import COLLEAGUE_SESSION, push_as_colleague


@pytest.fixture
def team_terminal(
    demo_terminal: Terminal, self_test: SelfTest, migrated_postgres_url: str
) -> Terminal:
    """A terminal whose team database also has the example session, pushed by a colleague."""
    with SearchIndex(IN_MEMORY) as index:
        project = self_test.demo.project_dir
        ingest_transcript(
            index, Source(COLLEAGUE_SESSION, project, self_test.transcript), time.time()
        )
        push_as_colleague(migrated_postgres_url, index)
    with closing(PostgresStore.at(migrated_postgres_url)) as store:
        store.save_session(
            session=COLLEAGUE_SESSION, host="claude-code", project=project,
            transcript="/colleague/x.jsonl", cursor=None, state=new_state(), revision=0, now=1.0,
        )  # fmt: skip
    demo_terminal.set_env(HOLDFAST_DATABASE=migrated_postgres_url)
    return demo_terminal


def test_a_colleagues_timeline_is_built_from_pushed_texts(team_terminal: Terminal) -> None:
    own = team_terminal.run("timeline", "--json").json
    for team in (["--team"], []):
        result = team_terminal.run("timeline", "--session", COLLEAGUE_SESSION, "--json", *team)
        assert drop_compactions(result.json) == drop_compactions(own)
        assert {entry["source"] for entry in result.json} == {"team's copy"}
        assert "another machine" in result.err
        for entry in result.json[::10]:
            assert team_terminal.run("show", entry["ref"], "--all-projects").code == 0
    text = team_terminal.run("timeline", "--session", COLLEAGUE_SESSION, "--team").out
    assert "failed       make test-fast" in text
    assert "──── compaction 1" in text


def test_the_timeline_of_an_own_session_is_built_from_its_transcript(
    team_terminal: Terminal, self_test: SelfTest
) -> None:
    session = self_test.demo.session_id
    result = team_terminal.run("timeline", "--session", session, "--team", "--json")
    assert {entry["source"] for entry in result.json} == {"transcript"}


def test_a_timeline_of_the_team_needs_a_session(team_terminal: Terminal) -> None:
    result = team_terminal.run("timeline", "--team")
    assert (result.code, result.out) == (1, "")
    assert "--session ID" in result.err
    for unknown in ("unknown", f"{COLLEAGUE_SESSION[:-1]}0"):
        result = team_terminal.run("timeline", "--team", "--session", unknown)
        assert (result.code, result.out) == (1, "")
        assert "neither here nor in the team database" in result.err
    team_terminal.set_env(HOLDFAST_DATABASE="")
    assert (
        "No team database is configured"
        in team_terminal.run("timeline", "--team", "--session", COLLEAGUE_SESSION).err
    )
    assert "lists them" in team_terminal.run("timeline", "--session", COLLEAGUE_SESSION).err


def test_texts_pushed_without_outcomes_give_a_timeline_without_them(
    tmp_path: Path, migrated_postgres_url: str
) -> None:
    path = tmp_path / "session.jsonl"
    lines = [user("Go."), *bash("pytest -q", "1 failed", ok=False), *bash("ruff check .", "")]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    with closing(PostgresStore.at(migrated_postgres_url)) as store, SearchIndex(IN_MEMORY) as index:
        ingest_transcript(index, Source("s1", ROOT, str(path)), NOW)
        team = TeamIndex(store.database)
        push_session(index, index.fetch_all("session_states")[0], team, "p", NOW)

        def checks() -> list[tuple[str, bool | None]]:
            entries = build_timeline(load_indexed_events(team, "s1", ROOT))
            return [(entry.text, entry.ok) for entry in entries if entry.kind != "turn"]

        assert checks() == [("pytest -q", False), ("ruff check .", True)]
        team.database.run("UPDATE recall_documents SET call = NULL, ok = NULL, aside = NULL")
        assert all(ok is None for _, ok in checks()), "outcomes must not be invented"
