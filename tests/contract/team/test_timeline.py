"""timeline of a colleague's session, from what their machine sent to PostgreSQL."""

from __future__ import annotations

import json
import time
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.actions.kept_events import kept_events
from holdfast.actions.rehearse import Rehearsal
from holdfast.index.database import IN_MEMORY, Index
from holdfast.index.fill import Source, fill
from holdfast.index.sending import send
from holdfast.index.team import TeamIndex
from holdfast.state.fold import new_state
from holdfast.store.postgres import PostgresStore
from holdfast.views.timeline import timeline
from tests.terminal import Terminal
from tests.unit.index.transcripts import NOW
from tests.unit.surfaces.test_cli_timeline import happened
from tests.unit.transcript_lines import ROOT, bash, user

from .colleagues import THEIRS, send_as_colleague


@pytest.fixture
def colleague_s(seasoned: Terminal, rehearsal: Rehearsal, postgres_place: str) -> Terminal:
    """The example is also a colleague's session, sent from where nobody here can read it."""
    with Index(IN_MEMORY) as index:
        project = rehearsal.example.session.project_dir
        fill(index, Source(THEIRS, project, rehearsal.transcript), time.time())
        send_as_colleague(postgres_place, index)
    with closing(PostgresStore.at(postgres_place)) as store:
        store.save_session(
            session=THEIRS, host="claude-code", project=project, transcript="/theirs/x.jsonl",
            cursor=None, state=new_state(), revision=0, now=1.0,
        )  # fmt: skip
    seasoned.set(HOLDFAST_DATABASE=postgres_place)
    return seasoned


def test_a_colleague_s_session_is_told_from_what_was_sent(colleague_s: Terminal) -> None:
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


def test_this_machine_s_own_session_is_told_by_its_transcript(
    colleague_s: Terminal, rehearsal: Rehearsal
) -> None:
    session = rehearsal.example.session.session_id
    ran = colleague_s.run("timeline", "--session", session, "--team", "--json")
    assert {entry["source"] for entry in ran.json} == {"transcript"}


def test_whose_session_has_to_be_said(colleague_s: Terminal) -> None:
    ran = colleague_s.run("timeline", "--team")
    assert (ran.code, ran.out) == (1, "")
    assert "--session ID" in ran.err
    for unknown in ("nobody's", f"{THEIRS[:-1]}0"):
        ran = colleague_s.run("timeline", "--team", "--session", unknown)
        assert (ran.code, ran.out) == (1, "")
        assert "neither here nor in the team's store" in ran.err
    colleague_s.set(HOLDFAST_DATABASE="")
    assert "no team is named" in colleague_s.run("timeline", "--team", "--session", THEIRS).err
    assert "lists them" in colleague_s.run("timeline", "--session", THEIRS).err


def test_what_was_sent_before_outcomes_were_is_told_without_them(
    tmp_path: Path, postgres_place: str
) -> None:
    path = tmp_path / "session.jsonl"
    lines = [user("Go."), *bash("pytest -q", "1 failed", ok=False), *bash("ruff check .", "")]
    path.write_text("".join(f"{json.dumps(one)}\n" for one in lines), encoding="utf-8")
    with closing(PostgresStore.at(postgres_place)) as store, Index(IN_MEMORY) as index:
        fill(index, Source("s1", ROOT, str(path)), NOW)
        team = TeamIndex(store.database)
        send(index, index.all("standings")[0], team, "p", NOW)

        def checks() -> list[tuple[str, bool | None]]:
            entries = timeline(kept_events(team, "s1", ROOT))
            return [(entry.text, entry.ok) for entry in entries if entry.kind != "turn"]

        assert checks() == [("pytest -q", False), ("ruff check .", True)]
        team.database.run("UPDATE recall_pieces SET call = NULL, ok = NULL, aside = NULL")
        assert all(ok is None for _, ok in checks()), "nothing is made up"
