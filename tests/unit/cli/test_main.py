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

NAMED = [name for name, (module, _) in COMMANDS.items() if module]


@pytest.mark.parametrize("argv", [[], ["--help"], ["-h"], ["help"]])
def test_help_lists_every_command_with_what_it_does(terminal: Terminal, argv: list[str]) -> None:
    ran = terminal.run(*argv)
    assert (ran.code, ran.err) == (0, "")
    for name, (_, what) in COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(what)}$", ran.out, re.M)


@pytest.mark.parametrize("flag", ["--version", "-V"])
def test_the_version_is_printed(terminal: Terminal, flag: str) -> None:
    assert terminal.run(flag).out == f"holdfast {holdfast.__version__}\n"


def test_a_program_that_runs_a_command_is_still_warned_afterwards() -> None:
    before = sqlite_migrations.report
    assert cli.main(["--version"]) == 0
    with pytest.raises(SystemExit):
        cli.main(["recall", "--no-such-option"])
    assert sqlite_migrations.report is before


def test_every_command_explains_itself(terminal: Terminal) -> None:
    for name in NAMED:
        ran = terminal.run(name, "--help")
        assert (ran.code, ran.err) == (0, ""), name
        assert ran.out.startswith(f"usage: holdfast {name} "), name
        first = (cli.load_command(name).__doc__ or "").strip().splitlines()[0]
        assert first in ran.out, name
        assert terminal.run("help", name).out == ran.out, name
        for action in cli.make_parser(name)._actions:
            assert action.help, f"{name} does not explain {action.dest}"


@pytest.mark.parametrize("name", sorted(set(COMMANDS) - set(NAMED)))
def test_commands_for_hosts_have_a_help_text_too(terminal: Terminal, name: str) -> None:
    ran = terminal.run("help", name)
    assert (ran.code, ran.err) == (0, "")
    usage, _, about = ran.out.splitlines()
    assert usage == f"usage: holdfast {name} < PAYLOAD"
    assert about


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
    ran = terminal.run(name)
    assert (ran.code, ran.out) == (1, "")
    error, output = ran.err.splitlines()
    assert error == f"error: There is no command {name!r}"
    assert output.startswith(f"hint: {hint}")


def test_help_on_an_unknown_command_is_an_error_too(terminal: Terminal) -> None:
    assert terminal.run("help", "xyzzy").code == 1


@pytest.mark.parametrize(
    "argv", [["status", "--bogus"], ["brief", "--max-tokens", "many"], ["snapshot", "drop", "x"]]
)
def test_a_wrong_option_prints_the_usage(terminal: Terminal, argv: list[str]) -> None:
    ran = terminal.run(*argv)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"usage: holdfast {argv[0]} ")


def test_a_bug_is_reported_with_the_path_of_the_log(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: argparse.Namespace) -> int:
        raise RuntimeError("the cat sat on it; token=ghp_aB3dE5gH7jK9mN1pQ3sT5vW7xY9zA1cD3fG5")

    monkeypatch.setattr(doctor, "run", broken)
    ran = terminal.run("doctor")
    assert (ran.code, ran.out) == (3, "")
    log = terminal.store / "holdfast.log"
    assert "error: RuntimeError: the cat sat on it" in ran.err
    assert f"this is a bug in Holdfast; {log} has the line to report" in ran.err
    noted = log.read_text(encoding="utf-8")
    assert "bug: RuntimeError: the cat sat on it" in noted
    assert "ghp_aB3" not in noted


def test_an_interrupt_ends_quietly(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: argparse.Namespace) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(doctor, "run", interrupted)
    assert terminal.run("doctor") == terminal.run("doctor")
    assert terminal.run("doctor").code == 130


@pytest.mark.parametrize("argv", [["--help"], ["help", "brief"], ["doctor", "--json"]])
def test_a_closed_pipe_prints_no_error(terminal: Terminal, argv: list[str]) -> None:
    words = [sys.executable, "-m", "holdfast", *argv]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no disk here is always full")
def test_a_full_disk_is_not_reported_as_a_bug() -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:
        ran = subprocess.run(
            [sys.executable, "-m", "holdfast", "--help"], stdout=full, stderr=subprocess.PIPE,
            text=True, timeout=60, check=False,
        )  # fmt: skip
    assert ran.returncode == 1
    assert ran.stderr.startswith("error: No space left on device\nhint: ")
    assert len(ran.stderr.splitlines()) == 2


def test_output_that_the_terminal_cannot_encode_does_not_fail(terminal: Terminal) -> None:
    done = terminal.process("help", "doctor", PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert b"save ? compact ? restore" in done.stdout


def test_a_folder_that_is_gone_is_an_error_with_a_hint(terminal: Terminal, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    terminal.go(gone)
    gone.rmdir()
    for argv in (["status"], ["brief"], ["doctor"], ["install", "--project"]):
        ran = terminal.run(*argv)
        assert (ran.code, ran.out) == (1, "")
        assert ran.err == (
            "error: The current folder no longer exists\nhint: change to one that does\n"
        )


@pytest.mark.parametrize(
    "argv", [["status"], ["snapshots"], ["snapshot", "show", "x"], ["brief"], ["recall", "x"]]
)
def test_a_store_that_cannot_be_used_is_an_error_with_a_hint(
    terminal: Terminal, argv: list[str]
) -> None:
    terminal.store.write_text("a file where the folder should be", encoding="utf-8")
    ran = terminal.run(*argv)
    assert (ran.code, ran.out) == (1, "")
    assert re.fullmatch(r"error: The store is not available: .*\nhint: .*\n", ran.err)


@pytest.mark.parametrize(
    "argv", [["brief"], ["recall", "x"], ["snapshots"], ["brief", "--session", "s"]]
)
def test_without_a_session_the_error_says_how_to_get_one(
    terminal: Terminal, argv: list[str]
) -> None:
    ran = terminal.run(*argv)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("error: No session ")
    assert "\nhint: " in ran.err
    assert ("--transcript" in ran.err) == (argv in (["brief"], ["recall", "x"]))


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
def test_a_hook_never_fails_whatever_it_is_given(
    terminal: Terminal, argv: list[str], stdin: bytes
) -> None:
    done = terminal.process(*argv, stdin=stdin)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_hook_without_any_input_does_not_fail(terminal: Terminal) -> None:
    command = f"'{sys.executable}' -m holdfast hook <&-"
    done = subprocess.run(["sh", "-c", command], capture_output=True, check=False, env=os.environ)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
