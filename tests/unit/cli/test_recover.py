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
def old(terminal: Terminal) -> Path:
    """A tree of transcripts from before Holdfast: a session, a sub-agent's log, and junk."""
    made = load_demo(str(terminal.project), SESSION, 1_790_000_000.0)
    folder = terminal.root / "projects" / "-project"
    (folder / SESSION / "subagents").mkdir(parents=True)
    append_lines(str(folder / f"{SESSION}.jsonl"), made.before)
    append_lines(str(folder / SESSION / "subagents" / "agent-1.jsonl"), made.before[:9])
    append_lines(str(folder / "agent-2.jsonl"), made.before[:9])
    (folder / "junk.jsonl").write_text("not a line of any session\n", encoding="utf-8")
    return folder.parent


def test_a_folder_tree_is_imported(terminal: Terminal, old: Path) -> None:
    ran = terminal.run("recover", old, "--json")
    assert ran.code == 0
    (one,) = ran.json["recovered"]
    assert (one["session"], one["requests"], one["compactions"]) == (SESSION, 8, 0)
    assert [Path(name.split(" ")[0]).name for name in ran.json["skipped"]] == ["junk.jsonl"]
    assert [row["id"] for row in terminal.run("status", "--json").json["sessions"]] == [SESSION]


def test_an_imported_session_gives_a_brief(terminal: Terminal, old: Path) -> None:
    terminal.run("recover", old)
    assert "Never touch anything under migrations/" in terminal.run("brief").out


def test_recovering_twice_changes_nothing(terminal: Terminal, old: Path) -> None:
    first = terminal.run("recover", old, "--json").json
    assert terminal.run("recover", old, "--json").json == first


def test_a_last_line_without_a_newline_counts(terminal: Terminal, old: Path) -> None:
    path = old / "-project" / f"{SESSION}.jsonl"
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    whole = terminal.run("state", "--transcript", path, "--json").json["lines"]
    terminal.run("recover", path)
    assert terminal.run("state", "--json").json["lines"] == whole


def test_people_see_a_table_and_a_count(terminal: Terminal, old: Path) -> None:
    ran = terminal.run("recover", old)
    assert SESSION in ran.out
    assert "1 of 2 transcripts were imported." in ran.err
    assert "skipped: " in ran.err


@pytest.mark.parametrize("name", ["nothing-here", "empty"])
def test_without_a_transcript_it_is_an_error(terminal: Terminal, name: str) -> None:
    (terminal.root / "empty").mkdir()
    ran = terminal.run("recover", terminal.root / name)
    assert ran.code == 1
    assert "nothing-here" in ran.err or "error:" in ran.err


def test_state_shows_every_part_with_its_lines(seasoned: Terminal) -> None:
    ran = seasoned.run("state")
    assert ran.code == 0
    for words in ("## Rules of the user", "## Files", "Never touch anything", "(L"):
        assert words in ran.out
    assert "tool calls" in ran.err


def test_state_as_json_is_the_whole_state(seasoned: Terminal, rehearsal: SelfTest) -> None:
    output = seasoned.run("state", "--json").json
    assert output["version"] == VERSION
    assert len(output["compactions"]) == 1
    assert {rule["kind"] for rule in output["rules"]} == {"prohibition", "requirement"}


def test_state_of_a_compressed_file_needs_no_store(terminal: Terminal, rehearsal: SelfTest) -> None:
    path = terminal.root / "old.jsonl.gz"
    path.write_bytes(gzip.compress(Path(rehearsal.transcript).read_bytes()))
    output = json.loads(terminal.run("state", "--transcript", path, "--json").out)
    assert output["requests"]
    assert not terminal.store.exists()


def test_the_latest_session_is_the_one_that_ran_last_not_the_one_imported_last(
    terminal: Terminal, tmp_path: Path
) -> None:
    for name, then in (("a-new", 1_790_000_000.0), ("z-old", 1_700_000_000.0)):
        made = load_demo(str(terminal.project), name, then)
        append_lines(str(tmp_path / f"{name}.jsonl"), made.before)
    for _ in range(2):
        assert terminal.run("recover", tmp_path).code == 0
        output = terminal.run("status", "--json").json["sessions"]
        assert [row["id"] for row in output] == ["a-new", "z-old"]
