"""`holdfast status` and `snapshots`, and what all commands print: tables, JSON, colour, times."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from holdfast.cli.console import format_age, strip_control_chars, to_iso_time
from tests.terminal import Terminal

SESSION = "5e55a0ce-0000-4000-8000-00000000demo"
ESCAPE = re.compile(r"\x1b\[")
COLOUR_ESCAPE = re.compile(r"\x1b\[(\d+;)*3\d")


def latest_snapshot_id(terminal: Terminal) -> str:
    ident: str = terminal.run("snapshots", "--json").json[0]["id"]
    return ident


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
def test_json_is_the_only_output_on_stdout(demo_terminal: Terminal, argv: list[str]) -> None:
    ident = latest_snapshot_id(demo_terminal)
    demo_terminal.set_env(FORCE_COLOR=1)
    result = demo_terminal.run(*[ident if argument == "ID" else argument for argument in argv])
    assert result.code == 0
    assert result.json
    assert not ESCAPE.search(result.out)
    if "L107" not in argv and "global lock" not in argv:
        assert result.err == ""


@pytest.mark.parametrize(
    "argv", [["status"], ["snapshots"], ["recall", "L107"], ["doctor"], ["brief"]]
)
def test_pipes_and_no_color_get_no_colour(demo_terminal: Terminal, argv: list[str]) -> None:
    plain = demo_terminal.run(*argv)
    assert not ESCAPE.search(plain.out + plain.err)
    demo_terminal.set_env(FORCE_COLOR=1, NO_COLOR=1)
    assert not COLOUR_ESCAPE.search(demo_terminal.run(*argv).out)


def test_doctor_prints_colour_if_it_is_forced(demo_terminal: Terminal) -> None:
    demo_terminal.set_env(FORCE_COLOR=1)
    assert COLOUR_ESCAPE.search(demo_terminal.run("doctor").out)


def test_status_shows_context_last_save_and_receipts(demo_terminal: Terminal) -> None:
    header, line = demo_terminal.run("status").out.splitlines()
    assert header.split() == ["session", "seen", "context", "last", "save", "compactions", "briefs"]
    assert line.startswith(SESSION)
    assert line.rstrip().endswith("1: whole")
    (session,) = demo_terminal.run("status", "--json").json["sessions"]
    assert (session["id"], session["host"]) == (SESSION, "claude-code")
    assert session["context_tokens"] > 10_000
    (compaction,) = session["compactions"]
    assert (compaction["receipt"], compaction["trigger"]) == ("whole", "auto")
    assert compaction["snapshot"] == session["last_snapshot"] == latest_snapshot_id(demo_terminal)


def test_status_lists_only_this_project_without_the_all_option(demo_terminal: Terminal) -> None:
    demo_terminal.change_folder(demo_terminal.project)
    result = demo_terminal.run("status")
    assert (result.code, result.out) == (0, "")
    assert f"No session of {demo_terminal.project} is recorded yet." in result.err
    assert demo_terminal.run("status", "--json").json["sessions"] == []
    assert SESSION in demo_terminal.run("status", "--all").out


def test_status_of_an_empty_store_names_no_project(terminal: Terminal) -> None:
    result = terminal.run("status", "--all")
    assert (result.code, result.out) == (0, "")
    assert result.err.startswith("No session is recorded yet.\n")


def test_table_rows_in_a_pipe_are_not_wrapped(demo_terminal: Terminal) -> None:
    demo_terminal.set_env(COLUMNS=30)
    assert len(demo_terminal.run("status").out.splitlines()) == 2
    assert len(demo_terminal.run("snapshots").out.splitlines()) == 2


def test_snapshots_are_listed_and_shown(demo_terminal: Terminal) -> None:
    header, line = demo_terminal.run("snapshots").out.splitlines()
    assert header.split() == ["id", "saved", "reason", "line", "context", "items"]
    ident = latest_snapshot_id(demo_terminal)
    assert line.startswith(f"{ident}  ")
    shown = demo_terminal.run("snapshot", "show", ident)
    assert shown.code == 0
    assert shown.out.startswith("# Where this session stands (holdfast:")
    assert f"Snapshot {ident} of session {SESSION}" in shown.err
    output = demo_terminal.run("snapshot", "show", ident, "--json").json
    assert output["state"]["rules"]
    assert output["session"] == SESSION


def test_a_session_without_a_snapshot_prints_a_message(terminal: Terminal, tmp_path: Path) -> None:
    payload = {"session_id": "s-1", "hook_event_name": "Stop", "cwd": str(terminal.project)}
    terminal.run_process("hook", stdin=json.dumps(payload).encode())
    result = terminal.run("snapshots")
    assert (result.code, result.out) == (0, "")
    assert "Session s-1 has no snapshot yet" in result.err
    assert terminal.run("snapshots", "--json").json == []


@pytest.mark.parametrize("ident", ["", "nope", SESSION, "%"])
def test_an_unknown_snapshot_is_an_error(demo_terminal: Terminal, ident: str) -> None:
    result = demo_terminal.run("snapshot", "show", ident)
    assert (result.code, result.out) == (1, "")
    assert f"error: No snapshot {ident}" in result.err
    assert "`holdfast snapshots` lists them" in result.err


def test_a_session_is_found_only_by_its_exact_id(demo_terminal: Terminal) -> None:
    assert demo_terminal.run("snapshots", "--session", SESSION).code == 0
    result = demo_terminal.run("snapshots", "--session", SESSION[:8])
    assert result.code == 1
    assert "`holdfast status --all` lists them" in result.err


def test_transcript_text_is_printed_without_markup_and_control_characters(
    terminal: Terminal, tmp_path: Path
) -> None:
    text = "\x1b]0;owned\x07\x1b[2Jred [red]x[/red] :bug: [/nothing] \x9b1m half \ud83d\tend"
    line = {"type": "user", "message": {"role": "user", "content": text}}
    path = tmp_path / "t.jsonl"
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")
    result = terminal.run("recall", "L1", "--transcript", path)
    assert result.out == "L1 prompt\nred [red]x[/red] :bug: [/nothing] 1m half ?\tend\n"
    assert strip_control_chars("a\r\nb\tc\x00") == "a\nb\tc"


@pytest.mark.parametrize(
    ("seconds", "expected"),
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
def test_an_age_is_rounded_to_its_largest_unit(seconds: float | None, expected: str) -> None:
    now = 1_800_000_000.0
    assert format_age(None if seconds is None else now - seconds, now) == expected


def test_a_time_in_json_is_iso_8601_in_utc() -> None:
    assert to_iso_time(0.0) == "1970-01-01T00:00:00Z"
    assert to_iso_time(None) is None
