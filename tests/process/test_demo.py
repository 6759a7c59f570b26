"""`holdfast demo` shows the whole loop and leaves no files."""

from __future__ import annotations

import sys

import pytest

from holdfast.services.doctor import self_test
from tests.terminal import Terminal


def test_the_demo_shows_each_step_and_ends_with_the_next_two_commands(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["/opt/a rather long folder name/for/programs/bin/holdfast"])
    before = terminal.read_all_files()
    result = terminal.run("demo")
    assert (result.code, result.err) == (0, "")
    for title in (
        "1  What was saved before the compaction",
        "2  What the host's summary lost",
        "3  The brief that was restored",
        "4  The delivery receipt",
        "5  What is not in the brief can be looked up",
    ):
        assert title in result.out
    program = sys.argv[0]
    assert result.out.splitlines()[-2:] == [
        f"  {program} install        registers the hooks with Claude Code",
        f"  {program} doctor --loop  runs this loop on your installation",
    ]
    assert terminal.read_all_files() == before


def test_the_files_of_the_demo_can_be_kept(terminal: Terminal) -> None:
    kept = terminal.root / "kept" / "inner"
    assert terminal.run("demo", "--keep", kept).code == 0
    terminal.set_env(HOLDFAST_HOME=kept / "store")
    terminal.change_folder(kept / "courier")
    assert "1: whole" in terminal.run("status").out
    second = terminal.run("demo", "--keep", kept)
    assert (second.code, second.out) == (1, "")
    assert f"--keep: cannot create {kept} (File exists)" in second.err


def test_a_failing_demo_exits_with_an_error(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(self_test, "hook_command", lambda: f"{sys.executable} -c 'raise Trouble'")
    result = terminal.run("demo")
    assert result.code == 1
    assert "The loop failed. `holdfast doctor` may show why." in result.out
    assert list(terminal.temporary.iterdir()) == []
