"""Notes are found by `holdfast recall` and by the MCP tools."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.notes.files import get_notes_path
from holdfast.services.doctor.self_test import SelfTest
from tests.terminal import Terminal
from tests.unit.mcp.test_mcp import call_tool


@pytest.fixture
def session(demo_terminal: Terminal, self_test: SelfTest) -> str:
    """The id of the example session, to which a note was added."""
    assert demo_terminal.run("note", "the obelisk stays", "--decision").code == 0
    return self_test.demo.session_id


def test_a_note_is_found_by_words_and_opened_by_its_ref(
    demo_terminal: Terminal, session: str
) -> None:
    heading, text, _ = demo_terminal.run("recall", "obelisk", "--kind", "note").out.split("\n", 2)
    ref = heading.split()[0]
    assert heading.startswith(f"{ref} note ")
    assert text == "- **decision:** the obelisk stays"
    for query in (ref, f"{session}:{ref}"):
        assert demo_terminal.run("show", query).out == f"{text}\n"
        assert demo_terminal.run("recall", query).out == f"{ref} note\n{text}\n"
    (hit,) = demo_terminal.run("recall", ref, "--json").json["hits"]
    assert (hit["ref"], hit["source"], hit["kind"]) == (ref, "notes", "note")
    assert demo_terminal.run("recall", "obelisk", "--session", session).out.startswith(ref)
    (shown,) = demo_terminal.run("show", ref, "--json").json
    assert shown == {"ref": ref, "source": "notes", "content": text}


def test_notes_derived_from_the_transcript_are_not_found_as_notes(
    demo_terminal: Terminal, session: str, self_test: SelfTest
) -> None:
    notes = Path(get_notes_path(self_test.demo.project_dir, session)).read_text("utf-8")
    assert "decided by the user" in notes
    output = demo_terminal.run("recall", "decided by the user", "--kind", "note", "--json").json
    assert output["hits"] == []


def test_an_agent_finds_and_opens_a_note_with_mcp_tools(
    demo_terminal: Terminal, session: str, self_test: SelfTest
) -> None:
    project = self_test.demo.project_dir
    ok, text = call_tool(project, "recall", {"query": "obelisk", "kinds": ["note"]})
    assert ok
    ref = text.split()[0]
    assert ref.startswith("notes:L")
    for tool, arguments in (("show", {"ref": ref}), ("recall", {"query": ref})):
        ok, text = call_tool(project, tool, arguments)
        assert ok
        assert "- **decision:** the obelisk stays" in text


def test_notes_of_a_transcript_file_are_an_error(
    demo_terminal: Terminal, self_test: SelfTest
) -> None:
    result = demo_terminal.run("show", "notes:L1", "--transcript", self_test.transcript)
    assert (result.code, result.out) == (1, "")
    assert "A transcript file has no notes" in result.err
