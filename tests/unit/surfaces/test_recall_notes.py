"""What was noted is one command, or one tool call, away."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.actions.notes import path_of
from holdfast.actions.rehearse import Rehearsal
from tests.terminal import Terminal

from .test_mcp import call


@pytest.fixture
def session(seasoned: Terminal, rehearsal: Rehearsal) -> str:
    assert seasoned.run("note", "the obelisk stays", "--decision").code == 0
    return rehearsal.example.session.session_id


def test_a_note_is_found_by_words_and_opened_by_its_ref(seasoned: Terminal, session: str) -> None:
    heading, text, _ = seasoned.run("recall", "obelisk", "--kind", "note").out.split("\n", 2)
    ref = heading.split()[0]
    assert heading.startswith(f"{ref} note ")
    assert text == "- **decision:** the obelisk stays"
    for asked in (ref, f"{session}:{ref}"):
        assert seasoned.run("show", asked).out == f"{text}\n"
        assert seasoned.run("recall", asked).out == f"{ref} note\n{text}\n"
    (hit,) = seasoned.run("recall", ref, "--json").json["hits"]
    assert (hit["ref"], hit["source"], hit["kind"]) == (ref, "notes", "note")
    assert seasoned.run("recall", "obelisk", "--session", session).out.startswith(ref)
    (shown,) = seasoned.run("show", ref, "--json").json
    assert shown == {"ref": ref, "source": "notes", "content": text}


def test_what_holdfast_derived_from_the_log_is_found_there_only(
    seasoned: Terminal, session: str, rehearsal: Rehearsal
) -> None:
    notes = Path(path_of(rehearsal.example.session.project_dir, session)).read_text("utf-8")
    assert "decided by the user" in notes
    found = seasoned.run("recall", "decided by the user", "--kind", "note", "--json").json
    assert found["hits"] == []


def test_an_agent_finds_and_opens_it_with_its_tools(
    seasoned: Terminal, session: str, rehearsal: Rehearsal
) -> None:
    project = rehearsal.example.session.project_dir
    ok, text = call(project, "recall", {"query": "obelisk", "kinds": ["note"]})
    assert ok
    ref = text.split()[0]
    assert ref.startswith("notes:L")
    for tool, given in (("show", {"ref": ref}), ("recall", {"query": ref})):
        ok, text = call(project, tool, given)
        assert ok
        assert "- **decision:** the obelisk stays" in text


def test_a_file_has_no_notes(seasoned: Terminal, rehearsal: Rehearsal) -> None:
    ran = seasoned.run("show", "notes:L1", "--transcript", rehearsal.transcript)
    assert (ran.code, ran.out) == (1, "")
    assert "a file has no notes" in ran.err
