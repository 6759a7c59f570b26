"""The timeline of a colleague's session, from the texts in PostgreSQL."""

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
from tests.unit.cli.test_timeline import happened
from tests.unit.search.transcripts import NOW
from tests.unit.transcript_lines import ROOT, bash, user

from .colleagues import THEIRS, send_as_colleague


@pytest.fixture
def colleague_s(seasoned: Terminal, rehearsal: SelfTest, postgres_place: str) -> Terminal:
    """The example is also a colleague's session, pushed from another machine."""
    with SearchIndex(IN_MEMORY) as index:
        project = rehearsal.demo.project_dir
        ingest_transcript(index, Source(THEIRS, project, rehearsal.transcript), time.time())
        send_as_colleague(postgres_place, index)
    with closing(PostgresStore.at(postgres_place)) as store:
        store.save_session(
            session=THEIRS, host="claude-code", project=project, transcript="/theirs/x.jsonl",
            cursor=None, state=new_state(), revision=0, now=1.0,
        )  # fmt: skip
    seasoned.set(HOLDFAST_DATABASE=postgres_place)
    return seasoned


def test_a_colleague_s_timeline_is_rebuilt_from_pushed_texts(colleague_s: Terminal) -> None:
    own = colleague_s.run("timeline", "--json").json
    for team in (["--team"], []):
        ran = colleague_s.run("timeline", "--session", THEIRS, "--json", *team)
        assert happened(ran.json) == happened(own)
        assert {entry["source"] for entry in ran.json} == {"team's copy"}
        assert "another machine" in ran.err
        for entry in ran.json[::10]:
            assert colleague_s.run("show", entry["ref"], "--all-projects").code == 0
    page = colleague_s.run("timeline", "--session", THEIRS, "--team").out
    assert "failed       make test-fast" in page
    assert "──── compaction 1" in page


def test_an_own_session_s_timeline_comes_from_its_transcript(
    colleague_s: Terminal, rehearsal: SelfTest
) -> None:
    session = rehearsal.demo.session_id
    ran = colleague_s.run("timeline", "--session", session, "--team", "--json")
    assert {entry["source"] for entry in ran.json} == {"transcript"}


def test_a_timeline_of_the_team_needs_a_session(colleague_s: Terminal) -> None:
    ran = colleague_s.run("timeline", "--team")
    assert (ran.code, ran.out) == (1, "")
    assert "--session ID" in ran.err
    for unknown in ("nobody's", f"{THEIRS[:-1]}0"):
        ran = colleague_s.run("timeline", "--team", "--session", unknown)
        assert (ran.code, ran.out) == (1, "")
        assert "neither here nor in the team database" in ran.err
    colleague_s.set(HOLDFAST_DATABASE="")
    assert (
        "No team database is configured"
        in colleague_s.run("timeline", "--team", "--session", THEIRS).err
    )
    assert "lists them" in colleague_s.run("timeline", "--session", THEIRS).err


def test_texts_pushed_without_outcomes_give_a_timeline_without_them(
    tmp_path: Path, postgres_place: str
) -> None:
    path = tmp_path / "session.jsonl"
    lines = [user("Go."), *bash("pytest -q", "1 failed", ok=False), *bash("ruff check .", "")]
    path.write_text("".join(f"{json.dumps(one)}\n" for one in lines), encoding="utf-8")
    with closing(PostgresStore.at(postgres_place)) as store, SearchIndex(IN_MEMORY) as index:
        ingest_transcript(index, Source("s1", ROOT, str(path)), NOW)
        team = TeamIndex(store.database)
        push_session(index, index.fetch_all("session_states")[0], team, "p", NOW)

        def checks() -> list[tuple[str, bool | None]]:
            entries = build_timeline(load_indexed_events(team, "s1", ROOT))
            return [(entry.text, entry.ok) for entry in entries if entry.kind != "turn"]

        assert checks() == [("pytest -q", False), ("ruff check .", True)]
        team.database.run("UPDATE recall_documents SET call = NULL, ok = NULL, aside = NULL")
        assert all(ok is None for _, ok in checks()), "nothing is made up"
