"""timeline: a page for a person, entries for a program."""

from __future__ import annotations

import os
import time
from contextlib import closing
from typing import Any

import pytest

from holdfast.actions.rehearse import Rehearsal
from holdfast.index.database import IN_MEMORY, Index
from holdfast.index.fill import Source, fill
from holdfast.state.fold import new_state
from holdfast.store.postgres import PostgresStore
from holdfast.surfaces.cli.timeline import told
from holdfast.views.timeline import Entry

from .conftest import THEIRS, Terminal, send_as_colleague
from .test_cli_recall import hidden


def test_the_example_reads_as_it_happened(seasoned: Terminal) -> None:
    out = seasoned.run("timeline").out
    assert "“Last night the mail provider was down" in out
    assert "──── compaction 1 (" in out
    assert "failed       make test-fast" in out
    assert out.index("“Last night") < out.index("compaction 1")


def test_changes_in_a_row_are_one_line() -> None:
    entries = [Entry(line, "edit", path) for line, path in ((1, "a"), (2, "b"), (3, "a"))]
    entries += [Entry(4, "delete", "c"), Entry(5, "commit", "3f2c1ab Done")]
    assert [*told(entries)] == [
        "L4       changed      a ×2, b, c (deleted)",
        "L5       commit       3f2c1ab Done",
    ]


def test_every_ref_opens(seasoned: Terminal) -> None:
    entries = seasoned.run("timeline", "--json").json
    assert len(entries) > 20
    for entry in entries[::5]:
        assert seasoned.run("show", entry["ref"]).code == 0


def test_a_file_needs_no_store(terminal: Terminal, rehearsal: Rehearsal) -> None:
    ran = terminal.run("timeline", "--transcript", rehearsal.transcript)
    assert "“Last night" in ran.out
    assert not os.path.exists(terminal.store)
    missing = terminal.run("timeline", "--transcript", "nowhere.jsonl")
    assert (missing.code, missing.out) == (1, "")


def happened(entries: list[dict[str, Any]]) -> list[tuple[str, str, bool | None]]:
    """Without what a copy does not know of compactions."""
    return [
        (entry["kind"], entry["text"], entry["ok"])
        for entry in entries
        if entry["kind"] != "compaction"
    ]


def test_a_session_whose_transcript_is_gone_is_told_from_the_stored_copy(
    seasoned: Terminal, rehearsal: Rehearsal
) -> None:
    before = seasoned.run("timeline", "--json").json
    assert {entry["source"] for entry in before} == {"transcript"}
    seasoned.run("recall", "lock")
    with hidden(rehearsal.transcript):
        after = seasoned.run("timeline", "--json")
        page = seasoned.run("timeline")
        assert f"{rehearsal.transcript} is gone" in after.err
        assert f"{rehearsal.transcript} is gone" in page.err
        assert seasoned.run("show", after.json[-1]["ref"]).code == 0
    assert {entry["source"] for entry in after.json} == {"stored copy"}

    assert happened(after.json) == happened(before)
    assert "──── compaction 1 (" in page.out
    assert "“Last night the mail provider was down" in page.out


def test_a_session_that_was_never_indexed_cannot_be_told(
    seasoned: Terminal, rehearsal: Rehearsal
) -> None:
    with hidden(rehearsal.transcript):
        ran = seasoned.run("timeline")
    assert (ran.code, ran.out) == (1, "")
    assert rehearsal.transcript in ran.err


# With a team


@pytest.fixture
def colleague_s(seasoned: Terminal, rehearsal: Rehearsal, postgres_url: str) -> Terminal:
    """The example is also a colleague's session, sent from where nobody here can read it."""
    with Index(IN_MEMORY) as index:
        project = rehearsal.example.session.project_dir
        fill(index, Source(THEIRS, project, rehearsal.transcript), time.time())
        send_as_colleague(postgres_url, index)
    with closing(PostgresStore.at(postgres_url)) as store:
        store.save_session(
            session=THEIRS, host="claude-code", project=project, transcript="/theirs/x.jsonl",
            cursor=None, state=new_state(), revision=0, now=1.0,
        )  # fmt: skip
    seasoned.set(HOLDFAST_DATABASE=postgres_url)
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
