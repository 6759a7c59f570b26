"""status, snapshots, snapshot and recall: tables for people, JSON for programs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from holdfast.cli.console import format_age, strip_control_chars, to_iso_time
from tests.terminal import Terminal

SESSION = "5e55a0ce-0000-4000-8000-00000000demo"
ESCAPE = re.compile(r"\x1b\[")
COLOUR = re.compile(r"\x1b\[(\d+;)*3\d")


def snapshot_of(terminal: Terminal) -> str:
    found: str = terminal.run("snapshots", "--json").json[0]["id"]
    return found


@pytest.mark.parametrize(
    "argv",
    [
        ["status", "--json"],
        ["status", "--all", "--json"],
        ["brief", "--json"],
        ["snapshots", "--json"],
        ["snapshot", "show", "ID", "--json"],
        ["recall", "global lock", "--json"],
        ["recall", "L107", "--json"],
        ["doctor", "--json"],
    ],
)
def test_json_is_the_only_output_on_stdout(seasoned: Terminal, argv: list[str]) -> None:
    ident = snapshot_of(seasoned)
    seasoned.set(FORCE_COLOR=1)
    ran = seasoned.run(*[ident if word == "ID" else word for word in argv])
    assert ran.code == 0
    assert ran.json
    assert not ESCAPE.search(ran.out)
    if "L107" not in argv and "global lock" not in argv:
        assert ran.err == ""


@pytest.mark.parametrize(
    "argv", [["status"], ["snapshots"], ["recall", "L107"], ["doctor"], ["brief"]]
)
def test_colour_is_used_on_terminals_or_if_forced(seasoned: Terminal, argv: list[str]) -> None:
    plain = seasoned.run(*argv)
    assert not ESCAPE.search(plain.out + plain.err)
    seasoned.set(FORCE_COLOR=1, NO_COLOR=1)
    assert not COLOUR.search(seasoned.run(*argv).out)


def test_doctor_prints_green_if_colour_is_forced(seasoned: Terminal) -> None:
    seasoned.set(FORCE_COLOR=1)
    assert COLOUR.search(seasoned.run("doctor").out)


def test_status_shows_context_last_save_and_receipts(seasoned: Terminal) -> None:
    header, line = seasoned.run("status").out.splitlines()
    assert header.split() == ["session", "seen", "context", "last", "save", "compactions", "briefs"]
    assert line.startswith(SESSION)
    assert line.rstrip().endswith("1: whole")
    (told,) = seasoned.run("status", "--json").json["sessions"]
    assert (told["id"], told["host"]) == (SESSION, "claude-code")
    assert told["context_tokens"] > 10_000
    (compaction,) = told["compactions"]
    assert (compaction["receipt"], compaction["trigger"]) == ("whole", "auto")
    assert compaction["snapshot"] == told["last_snapshot"] == snapshot_of(seasoned)


def test_status_is_about_this_project_unless_asked_for_all(seasoned: Terminal) -> None:
    seasoned.go(seasoned.project)
    ran = seasoned.run("status")
    assert (ran.code, ran.out) == (0, "")
    assert f"No session of {seasoned.project} is recorded yet." in ran.err
    assert seasoned.run("status", "--json").json["sessions"] == []
    assert SESSION in seasoned.run("status", "--all").out


def test_status_of_an_empty_store_names_no_project(terminal: Terminal) -> None:
    ran = terminal.run("status", "--all")
    assert (ran.code, ran.out) == (0, "")
    assert ran.err.startswith("No session is recorded yet.\n")


def test_lines_in_a_pipe_are_not_wrapped(seasoned: Terminal) -> None:
    seasoned.set(COLUMNS=30)
    assert len(seasoned.run("status").out.splitlines()) == 2
    assert len(seasoned.run("snapshots").out.splitlines()) == 2


def test_snapshots_are_listed_and_shown(seasoned: Terminal) -> None:
    header, line = seasoned.run("snapshots").out.splitlines()
    assert header.split() == ["id", "saved", "reason", "line", "context", "items"]
    ident = snapshot_of(seasoned)
    assert line.startswith(f"{ident}  ")
    shown = seasoned.run("snapshot", "show", ident)
    assert shown.code == 0
    assert shown.out.startswith("# Where this session stands (holdfast:")
    assert f"Snapshot {ident} of session {SESSION}" in shown.err
    whole = seasoned.run("snapshot", "show", ident, "--json").json
    assert whole["state"]["rules"]
    assert whole["session"] == SESSION


def test_a_session_without_a_snapshot_says_when_there_will_be_one(
    terminal: Terminal, tmp_path: Path
) -> None:
    payload = {"session_id": "s-1", "hook_event_name": "Stop", "cwd": str(terminal.project)}
    terminal.process("hook", stdin=json.dumps(payload).encode())
    ran = terminal.run("snapshots")
    assert (ran.code, ran.out) == (0, "")
    assert "Session s-1 has no snapshot yet" in ran.err
    assert terminal.run("snapshots", "--json").json == []


@pytest.mark.parametrize("ident", ["", "nope", SESSION, "%"])
def test_an_unknown_snapshot_is_an_error(seasoned: Terminal, ident: str) -> None:
    ran = seasoned.run("snapshot", "show", ident)
    assert (ran.code, ran.out) == (1, "")
    assert f"error: No snapshot {ident}" in ran.err
    assert "`holdfast snapshots` lists them" in ran.err


def test_a_session_is_found_only_by_its_exact_id(seasoned: Terminal) -> None:
    assert seasoned.run("snapshots", "--session", SESSION).code == 0
    ran = seasoned.run("snapshots", "--session", SESSION[:8])
    assert ran.code == 1
    assert "`holdfast status --all` lists them" in ran.err


def test_transcript_text_is_neither_markup_nor_terminal_control(
    terminal: Terminal, tmp_path: Path
) -> None:
    text = "\x1b]0;owned\x07\x1b[2Jred [red]x[/red] :bug: [/nothing] \x9b1m half \ud83d\tend"
    line = {"type": "user", "message": {"role": "user", "content": text}}
    path = tmp_path / "t.jsonl"
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")
    ran = terminal.run("recall", "L1", "--transcript", path)
    assert ran.out == "L1 prompt\n]0;owned[2Jred [red]x[/red] :bug: [/nothing] 1m half ?\tend\n"
    assert strip_control_chars("a\r\nb\tc\x00") == "a\nb\tc"


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (None, "never"),
        (-10, "just now"),
        (4, "just now"),
        (59, "59 s ago"),
        (60, "1 min ago"),
        (7300, "2 h ago"),
        (200_000, "2 d ago"),
    ],
)
def test_an_age_is_formatted_for_people(seconds: float | None, told: str) -> None:
    now = 1_800_000_000.0
    assert format_age(None if seconds is None else now - seconds, now) == told


def test_a_time_for_programs_is_iso_8601_in_utc() -> None:
    assert to_iso_time(0.0) == "1970-01-01T00:00:00Z"
    assert to_iso_time(None) is None
