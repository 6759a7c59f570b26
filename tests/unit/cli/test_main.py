"""The command line as a whole: help, exit codes, errors."""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import holdfast
from holdfast import cli
from holdfast.cli import COMMANDS, doctor
from holdfast.store import sqlite_migrations
from tests.terminal import Terminal

USER_COMMANDS = [name for name, (module, _) in COMMANDS.items() if module]


@pytest.mark.parametrize("argv", [[], ["--help"], ["-h"], ["help"]])
def test_help_lists_every_command_with_its_description(terminal: Terminal, argv: list[str]) -> None:
    result = terminal.run(*argv)
    assert (result.code, result.err) == (0, "")
    for name, (_, description) in COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(description)}$", result.out, re.M)


@pytest.mark.parametrize("flag", ["--version", "-V"])
def test_the_version_is_printed(terminal: Terminal, flag: str) -> None:
    assert terminal.run(flag).out == f"holdfast {holdfast.__version__}\n"


def test_a_command_restores_the_report_function_of_the_calling_program() -> None:
    before = sqlite_migrations.report
    assert cli.main(["--version"]) == 0
    with pytest.raises(SystemExit):
        cli.main(["recall", "--no-such-option"])
    assert sqlite_migrations.report is before


def test_every_command_has_a_help_text_for_all_its_options(terminal: Terminal) -> None:
    for name in USER_COMMANDS:
        result = terminal.run(name, "--help")
        assert (result.code, result.err) == (0, ""), name
        assert result.out.startswith(f"usage: holdfast {name} "), name
        first_line = (cli.load_command(name).__doc__ or "").strip().splitlines()[0]
        assert first_line in result.out, name
        assert terminal.run("help", name).out == result.out, name
        for action in cli.make_parser(name)._actions:
            assert action.help, f"{name} has no help text for {action.dest}"


@pytest.mark.parametrize("name", sorted(set(COMMANDS) - set(USER_COMMANDS)))
def test_commands_that_hosts_run_have_a_help_text_too(terminal: Terminal, name: str) -> None:
    result = terminal.run("help", name)
    assert (result.code, result.err) == (0, "")
    usage, _, description = result.out.splitlines()
    assert usage == f"usage: holdfast {name} < PAYLOAD"
    assert description


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("instal", "did you mean `holdfast install`?"),
        ("snapshotss", "did you mean `holdfast snapshots`?"),
        ("xyzzy", "`holdfast --help` lists the commands"),
        ("--bogus", "`holdfast --help` lists the commands"),
        ("", "`holdfast --help` lists the commands"),
    ],
)
def test_an_unknown_command_is_an_error_with_a_hint(
    terminal: Terminal, name: str, hint: str
) -> None:
    result = terminal.run(name)
    assert (result.code, result.out) == (1, "")
    error, hint_line = result.err.splitlines()
    assert error == f"error: There is no command {name!r}"
    assert hint_line.startswith(f"hint: {hint}")


def test_help_on_an_unknown_command_is_an_error_too(terminal: Terminal) -> None:
    assert terminal.run("help", "xyzzy").code == 1


@pytest.mark.parametrize(
    "argv", [["status", "--bogus"], ["brief", "--max-tokens", "many"], ["snapshot", "drop", "x"]]
)
def test_a_wrong_option_prints_the_usage(terminal: Terminal, argv: list[str]) -> None:
    result = terminal.run(*argv)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"usage: holdfast {argv[0]} ")


def test_a_bug_is_reported_with_the_path_of_the_log(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: argparse.Namespace) -> int:
        raise RuntimeError("unexpected value; token=ghp_aB3dE5gH7jK9mN1pQ3sT5vW7xY9zA1cD3fG5")

    monkeypatch.setattr(doctor, "run", broken)
    result = terminal.run("doctor")
    assert (result.code, result.out) == (3, "")
    log = terminal.store / "holdfast.log"
    assert "error: RuntimeError: unexpected value" in result.err
    assert f"this is a bug in Holdfast; {log} has the line to report" in result.err
    logged = log.read_text(encoding="utf-8")
    assert "bug: RuntimeError: unexpected value" in logged
    assert "ghp_aB3" not in logged


def test_an_interrupt_exits_with_130(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: argparse.Namespace) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(doctor, "run", interrupted)
    first, second = terminal.run("doctor"), terminal.run("doctor")
    assert first == second
    assert first.code == 130


@pytest.mark.parametrize("argv", [["--help"], ["help", "brief"], ["doctor", "--json"]])
def test_a_closed_pipe_prints_no_error(terminal: Terminal, argv: list[str]) -> None:
    words = [sys.executable, "-m", "holdfast", *argv]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_a_full_disk_is_not_reported_as_a_bug() -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:
        process = subprocess.run(
            [sys.executable, "-m", "holdfast", "--help"], stdout=full, stderr=subprocess.PIPE,
            text=True, timeout=60, check=False,
        )  # fmt: skip
    assert process.returncode == 1
    assert process.stderr.startswith("error: No space left on device\nhint: ")
    assert len(process.stderr.splitlines()) == 2


def test_characters_that_the_terminal_cannot_encode_are_replaced(terminal: Terminal) -> None:
    process = terminal.run_process("help", "doctor", PYTHONIOENCODING="ascii")
    assert process.returncode == 0
    assert b"save ? compact ? restore" in process.stdout


def test_a_deleted_current_folder_is_an_error_with_a_hint(
    terminal: Terminal, tmp_path: Path
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    terminal.change_folder(gone)
    gone.rmdir()
    for argv in (["status"], ["brief"], ["doctor"], ["install", "--project"]):
        result = terminal.run(*argv)
        assert (result.code, result.out) == (1, "")
        assert result.err == (
            "error: The current folder no longer exists\nhint: change to one that does\n"
        )


@pytest.mark.parametrize(
    "argv", [["status"], ["snapshots"], ["snapshot", "show", "x"], ["brief"], ["recall", "x"]]
)
def test_a_store_that_cannot_be_used_is_an_error_with_a_hint(
    terminal: Terminal, argv: list[str]
) -> None:
    terminal.store.write_text("a file where the folder should be", encoding="utf-8")
    result = terminal.run(*argv)
    assert (result.code, result.out) == (1, "")
    assert re.fullmatch(r"error: The store is not available: .*\nhint: .*\n", result.err)


@pytest.mark.parametrize(
    "argv", [["brief"], ["recall", "x"], ["snapshots"], ["brief", "--session", "s"]]
)
def test_without_a_session_the_error_says_how_to_get_one(
    terminal: Terminal, argv: list[str]
) -> None:
    result = terminal.run(*argv)
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("error: No session ")
    assert "\nhint: " in result.err
    assert ("--transcript" in result.err) == (argv in (["brief"], ["recall", "x"]))


@pytest.mark.parametrize(
    ("argv", "stdin"),
    [
        (["hook"], b""),
        (["hook"], b"{"),
        (["hook"], b"[1, 2]"),
        (["hook", "--bogus"], b"{}"),
        (["hook", "Stop", "--help"], b"\xff\x00"),
        (["hook"], json.dumps({"session_id": "s", "hook_event_name": "Nonsense"}).encode()),
        (["hook"], json.dumps({"session_id": "s", "hook_event_name": "Stop"}).encode()),
    ],
)
def test_a_hook_exits_with_0_for_any_arguments_and_input(
    terminal: Terminal, argv: list[str], stdin: bytes
) -> None:
    process = terminal.run_process(*argv, stdin=stdin)
    assert (process.returncode, process.stdout, process.stderr) == (0, b"", b"")


def test_a_hook_with_closed_stdin_exits_with_0(terminal: Terminal) -> None:
    command = f"'{sys.executable}' -m holdfast hook <&-"
    process = subprocess.run(
        ["sh", "-c", command], capture_output=True, check=False, env=os.environ
    )
    assert (process.returncode, process.stdout, process.stderr) == (0, b"", b"")
