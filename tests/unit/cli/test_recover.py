"""`holdfast recover` and `holdfast state`."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from holdfast.demo import append_lines, load_demo
from holdfast.services.doctor.self_test import SelfTest
from holdfast.state.fold import VERSION
from tests.terminal import Terminal

SESSION = "0a1b2c3d-0000-4000-8000-000000000001"


@pytest.fixture
def old_transcripts(terminal: Terminal) -> Path:
    """A folder of transcripts from before Holdfast: a session, two logs of sub-agents, and junk."""
    demo = load_demo(str(terminal.project), SESSION, 1_790_000_000.0)
    folder = terminal.root / "projects" / "-project"
    (folder / SESSION / "subagents").mkdir(parents=True)
    append_lines(str(folder / f"{SESSION}.jsonl"), demo.before)
    append_lines(str(folder / SESSION / "subagents" / "agent-1.jsonl"), demo.before[:9])
    append_lines(str(folder / "agent-2.jsonl"), demo.before[:9])
    (folder / "junk.jsonl").write_text("not a line of any session\n", encoding="utf-8")
    return folder.parent


def test_a_folder_tree_is_imported(terminal: Terminal, old_transcripts: Path) -> None:
    result = terminal.run("recover", old_transcripts, "--json")
    assert result.code == 0
    (session,) = result.json["recovered"]
    assert (session["session"], session["requests"], session["compactions"]) == (SESSION, 8, 0)
    assert [Path(name.split(" ")[0]).name for name in result.json["skipped"]] == ["junk.jsonl"]
    assert [row["id"] for row in terminal.run("status", "--json").json["sessions"]] == [SESSION]


def test_an_imported_session_gives_a_brief(terminal: Terminal, old_transcripts: Path) -> None:
    terminal.run("recover", old_transcripts)
    assert "Never touch anything under migrations/" in terminal.run("brief").out


def test_recovering_twice_changes_nothing(terminal: Terminal, old_transcripts: Path) -> None:
    first = terminal.run("recover", old_transcripts, "--json").json
    assert terminal.run("recover", old_transcripts, "--json").json == first


def test_a_last_line_without_a_newline_is_imported(
    terminal: Terminal, old_transcripts: Path
) -> None:
    path = old_transcripts / "-project" / f"{SESSION}.jsonl"
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    lines = terminal.run("state", "--transcript", path, "--json").json["lines"]
    terminal.run("recover", path)
    assert terminal.run("state", "--json").json["lines"] == lines


def test_recover_prints_a_table_and_counts(terminal: Terminal, old_transcripts: Path) -> None:
    result = terminal.run("recover", old_transcripts)
    assert SESSION in result.out
    assert "1 of 2 transcripts were imported." in result.err
    assert "skipped: " in result.err


@pytest.mark.parametrize("name", ["nothing-here", "empty"])
def test_a_missing_or_empty_folder_is_an_error(terminal: Terminal, name: str) -> None:
    (terminal.root / "empty").mkdir()
    result = terminal.run("recover", terminal.root / name)
    assert result.code == 1
    assert "nothing-here" in result.err or "error:" in result.err


def test_state_prints_its_sections_with_line_numbers(demo_terminal: Terminal) -> None:
    result = demo_terminal.run("state")
    assert result.code == 0
    for text in ("## Rules of the user", "## Changed files", "Never touch anything", "(L"):
        assert text in result.out
    assert "tool calls" in result.err


def test_state_is_printed_as_json(demo_terminal: Terminal, self_test: SelfTest) -> None:
    output = demo_terminal.run("state", "--json").json
    assert output["version"] == VERSION
    assert len(output["compactions"]) == 1
    assert {rule["kind"] for rule in output["rules"]} == {"prohibition", "requirement"}


def test_state_of_a_compressed_transcript_creates_no_store(
    terminal: Terminal, self_test: SelfTest
) -> None:
    path = terminal.root / "old.jsonl.gz"
    path.write_bytes(gzip.compress(Path(self_test.transcript).read_bytes()))
    output = json.loads(terminal.run("state", "--transcript", path, "--json").out)
    assert output["requests"]
    assert not terminal.store.exists()


def test_imported_sessions_are_ordered_by_when_they_ran(terminal: Terminal, tmp_path: Path) -> None:
    for name, timestamp in (("a-new", 1_790_000_000.0), ("z-old", 1_700_000_000.0)):
        demo = load_demo(str(terminal.project), name, timestamp)
        append_lines(str(tmp_path / f"{name}.jsonl"), demo.before)
    for _ in range(2):
        assert terminal.run("recover", tmp_path).code == 0
        output = terminal.run("status", "--json").json["sessions"]
        assert [row["id"] for row in output] == ["a-new", "z-old"]
