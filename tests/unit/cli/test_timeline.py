"""`holdfast timeline`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from holdfast.cli.timeline import render_timeline
from holdfast.reports.timeline import TimelineEntry
from holdfast.services.doctor.self_test import SelfTest
from tests.terminal import Terminal
from tests.unit.transcript_lines import ROOT, call, raw, reply, user
from tests.unit.transcript_lines import result as tool_result

from .test_recall import hide_file


def test_the_timeline_shows_prompts_checks_and_compactions_in_order(
    demo_terminal: Terminal,
) -> None:
    out = demo_terminal.run("timeline").out
    assert "“Last night the mail provider was down" in out
    assert "──── compaction 1 (" in out
    assert "failed       make test-fast" in out
    assert out.index("“Last night") < out.index("compaction 1")


def test_consecutive_changes_are_rendered_as_one_line() -> None:
    entries = [TimelineEntry(line, "edit", path) for line, path in ((1, "a"), (2, "b"), (3, "a"))]
    entries += [TimelineEntry(4, "delete", "c"), TimelineEntry(5, "commit", "3f2c1ab Done")]
    assert [*render_timeline(entries)] == [
        "L4       changed      a ×2, b, c (deleted)",
        "L5       commit       3f2c1ab Done",
    ]


def test_refs_of_the_timeline_can_be_opened(demo_terminal: Terminal) -> None:
    entries = demo_terminal.run("timeline", "--json").json
    assert len(entries) > 20
    for entry in entries[::5]:
        assert demo_terminal.run("show", entry["ref"]).code == 0


def test_the_timeline_of_a_transcript_file_creates_no_store(
    terminal: Terminal, self_test: SelfTest
) -> None:
    result = terminal.run("timeline", "--transcript", self_test.transcript)
    assert "“Last night" in result.out
    assert not os.path.exists(terminal.store)
    missing = terminal.run("timeline", "--transcript", "nowhere.jsonl")
    assert (missing.code, missing.out) == (1, "")


def drop_compactions(entries: list[dict[str, Any]]) -> list[tuple[str, str, bool | None]]:
    """Return all entries but compactions, of which a stored copy has no details."""
    return [
        (entry["kind"], entry["text"], entry["ok"])
        for entry in entries
        if entry["kind"] != "compaction"
    ]


def test_without_the_transcript_the_timeline_comes_from_the_index(
    demo_terminal: Terminal, self_test: SelfTest
) -> None:
    before = demo_terminal.run("timeline", "--json").json
    assert {entry["source"] for entry in before} == {"transcript"}
    demo_terminal.run("recall", "lock")
    with hide_file(self_test.transcript):
        after = demo_terminal.run("timeline", "--json")
        as_text = demo_terminal.run("timeline")
        assert f"{self_test.transcript} is gone" in after.err
        assert f"{self_test.transcript} is gone" in as_text.err
        assert demo_terminal.run("show", after.json[-1]["ref"]).code == 0
    assert {entry["source"] for entry in after.json} == {"stored copy"}

    assert drop_compactions(after.json) == drop_compactions(before)
    assert "──── compaction 1 (" in as_text.out
    assert "“Last night the mail provider was down" in as_text.out


def test_without_transcript_and_index_the_timeline_is_an_error(
    demo_terminal: Terminal, self_test: SelfTest
) -> None:
    with hide_file(self_test.transcript):
        result = demo_terminal.run("timeline")
    assert (result.code, result.out) == (1, "")
    assert self_test.transcript in result.err


@pytest.mark.parametrize("content", ["", '{"hello": 1}\n', "\x00\x01nothing\n"])
def test_a_file_that_is_not_a_transcript_is_an_error(
    terminal: Terminal, tmp_path: Path, content: str
) -> None:
    (tmp_path / "notes.jsonl").write_text(content)
    result = terminal.run("timeline", "--transcript", tmp_path / "notes.jsonl")
    assert (result.code, result.out) == (1, "")
    assert "notes.jsonl holds no message of a session" in result.err


def test_the_log_of_a_sub_agent_has_a_timeline(terminal: Terminal, tmp_path: Path) -> None:
    sidechain = {"isSidechain": True, "agentId": "a1b2"}
    lines = [
        user("Find who calls Queue.push in src/courier.", **sidechain),
        call("Edit", {"file_path": f"{ROOT}/src/worker.py"}, **sidechain),
        tool_result("ok", **sidechain),
        reply("Three places call it; src/worker.py is fixed.", **sidechain),
    ]
    log = tmp_path / "agent-a1b2.jsonl"
    log.write_bytes(b"\n".join(map(raw, lines)) + b"\n")
    timeline = terminal.run("timeline", "--transcript", log).out
    assert "“Find who calls Queue.push" in timeline
    assert "src/worker.py" in timeline
    brief = terminal.run("brief", "--transcript", log).out
    assert "Latest request: “Find who calls Queue.push in src/courier.” (L1)" in brief
    assert "edited src/worker.py" in brief
    assert "last said: “Three places call it" in brief
