"""Finding the Claude Code program and asking it for its version."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from holdfast.services.install import client_version as action
from holdfast.services.install.client_version import find_client, parse_version


@pytest.fixture
def claude(tmp_path: Path) -> Path:
    """The path at which a test writes its program."""
    (tmp_path / "bin").mkdir()
    return tmp_path / "bin" / "claude"


def write_program(program: Path, script: str) -> None:
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(0o755)


def path_with(program: Path) -> dict[str, str]:
    return {"PATH": f"{program.parent}{os.pathsep}/usr/bin{os.pathsep}/bin"}


def test_a_client_is_found_on_the_path(claude: Path) -> None:
    write_program(claude, 'echo "2.1.325 (Claude Code)"')
    assert find_client(path_with(claude)) == (str(claude), "2.1.325")


def test_a_configured_client_wins_over_the_path(claude: Path, tmp_path: Path) -> None:
    write_program(claude, 'echo "2.1.325 (Claude Code)"')
    configured = tmp_path / "configured"
    write_program(configured, 'echo "2.0.14 (Claude Code)"')
    environ = {**path_with(claude), "HOLDFAST_CLAUDE": str(configured)}
    assert find_client(environ) == (str(configured), "2.0.14")


def test_without_a_client_there_is_neither_path_nor_version(tmp_path: Path) -> None:
    assert find_client({"PATH": str(tmp_path)}) == ("", "")


@pytest.mark.parametrize(
    ("script", "version"),
    [
        ('printf "2.1.50 (Claude Code)"', "2.1.50"),
        ('printf "\\n  v2.1.197\\n"', "2.1.197"),
        ('echo "2.2.0-beta.1 (Claude Code)"', "2.2.0"),
        ('echo "A new version is out!"; echo "2.1.50 (Claude Code)"', "2.1.50"),
        ('echo "2.1.325 is out"; echo "2.1.50 (Claude Code)"', "2.1.50"),
        ('echo "9.9.9" >&2; echo "2.1.50 (Claude Code)"', "2.1.50"),
        ('echo "3 blind mice"', ""),
        ('echo "10.0.0.1 is the gateway"', ""),
        ('echo "version ²·¹"', ""),
        ('echo "²"', ""),
        ('printf "\\377\\376\\000"', ""),
        ("exit 0", ""),
        ('echo "2.1.325 (Claude Code)"; exit 1', ""),
        ("kill -9 $$", ""),
    ],
)
def test_the_version_is_parsed_from_the_output(claude: Path, script: str, version: str) -> None:
    write_program(claude, script)
    assert find_client(path_with(claude)) == (str(claude), version)


def test_a_client_that_hangs_is_stopped(claude: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(action, "VERSION_TIMEOUT_SECONDS", 0.2)
    write_program(claude, "sleep 3")
    started = time.monotonic()
    assert find_client(path_with(claude)) == (str(claude), "")
    assert time.monotonic() - started < 5


def test_a_client_that_reads_stdin_does_not_block(
    claude: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(action, "VERSION_TIMEOUT_SECONDS", 3.0)
    write_program(claude, 'cat; echo "2.1.325 (Claude Code)"')
    # Stdin stays open without input, as in a terminal.
    read_end, write_end = os.pipe()
    saved_stdin = os.dup(0)
    os.dup2(read_end, 0)
    try:
        assert find_client(path_with(claude))[1] == "2.1.325"
    finally:
        os.dup2(saved_stdin, 0)
        for descriptor in (read_end, write_end, saved_stdin):
            os.close(descriptor)


def test_a_client_that_cannot_run_has_no_version(tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("not a program", encoding="utf-8")
    for path in (text, tmp_path, tmp_path / "missing"):
        assert find_client({"HOLDFAST_CLAUDE": str(path)}) == (str(path), "")


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("2.1.325", (2, 1, 325)),
        ("2.0.14-rc.2", (2, 0, 14)),
        ("", None),
        ("junk", None),
        ("2.1", None),
        ("٢.١.٣", None),
    ],
)
def test_a_version_is_parsed_into_numbers(version: str, expected: tuple[int, ...] | None) -> None:
    assert parse_version(version) == expected
