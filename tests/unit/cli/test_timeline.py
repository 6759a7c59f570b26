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
from tests.unit.transcript_lines import ROOT, call, raw, reply, result, user

from .test_recall import hidden


def test_the_timeline_of_the_example_session(seasoned: Terminal) -> None:
    out = seasoned.run("timeline").out
    assert "“Last night the mail provider was down" in out
    assert "──── compaction 1 (" in out
    assert "failed       make test-fast" in out
    assert out.index("“Last night") < out.index("compaction 1")


def test_consecutive_changes_are_one_line() -> None:
    entries = [TimelineEntry(line, "edit", path) for line, path in ((1, "a"), (2, "b"), (3, "a"))]
    entries += [TimelineEntry(4, "delete", "c"), TimelineEntry(5, "commit", "3f2c1ab Done")]
    assert [*render_timeline(entries)] == [
        "L4       changed      a ×2, b, c (deleted)",
        "L5       commit       3f2c1ab Done",
    ]


def test_every_ref_opens(seasoned: Terminal) -> None:
    entries = seasoned.run("timeline", "--json").json
    assert len(entries) > 20
    for entry in entries[::5]:
        assert seasoned.run("show", entry["ref"]).code == 0


def test_a_file_needs_no_store(terminal: Terminal, rehearsal: SelfTest) -> None:
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


def test_without_the_transcript_the_timeline_comes_from_the_index(
    seasoned: Terminal, rehearsal: SelfTest
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


def test_without_transcript_and_index_it_is_an_error(
    seasoned: Terminal, rehearsal: SelfTest
) -> None:
    with hidden(rehearsal.transcript):
        ran = seasoned.run("timeline")
    assert (ran.code, ran.out) == (1, "")
    assert rehearsal.transcript in ran.err


@pytest.mark.parametrize("content", ["", '{"hello": 1}\n', "\x00\x01nothing\n"])
def test_a_file_that_is_not_a_transcript_is_an_error(
    terminal: Terminal, tmp_path: Path, content: str
) -> None:
    (tmp_path / "notes.jsonl").write_text(content)
    ran = terminal.run("timeline", "--transcript", tmp_path / "notes.jsonl")
    assert (ran.code, ran.out) == (1, "")
    assert "notes.jsonl holds no message of a session" in ran.err


def test_the_log_of_a_sub_agent_has_a_timeline(terminal: Terminal, tmp_path: Path) -> None:
    aside = {"isSidechain": True, "agentId": "a1b2"}
    lines = [
        user("Find who calls Queue.push in src/courier.", **aside),
        call("Edit", {"file_path": f"{ROOT}/src/worker.py"}, **aside),
        result("ok", **aside),
        reply("Three places call it; src/worker.py is mended.", **aside),
    ]
    log = tmp_path / "agent-a1b2.jsonl"
    log.write_bytes(b"\n".join(map(raw, lines)) + b"\n")
    lines_text = terminal.run("timeline", "--transcript", log).out
    assert "“Find who calls Queue.push" in lines_text
    assert "src/worker.py" in lines_text
    brief = terminal.run("brief", "--transcript", log).out
    assert "Latest request: “Find who calls Queue.push in src/courier.” (L1)" in brief
    assert "src/worker.py edited" in brief
    assert "last said: “Three places call it" in brief
