"""`holdfast demo`: the main job, seen in half a minute, without a trace."""

from __future__ import annotations

import sys

import pytest

from holdfast.actions import rehearse
from tests.terminal import Terminal


def test_the_demo_shows_the_loop_and_ends_with_the_two_commands_to_type(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["/opt/a rather long folder name/for/programs/bin/holdfast"])
    before = terminal.everything()
    ran = terminal.run("demo")
    assert (ran.code, ran.err) == (0, "")
    for title in (
        "1  What was saved before the compaction",
        "2  What the host's summary lost",
        "3  The brief that was put back",
        "4  The delivery receipt",
        "5  What is not in the brief is one lookup away",
    ):
        assert title in ran.out
    program = sys.argv[0]
    assert ran.out.splitlines()[-2:] == [
        f"  {program} install        registers the hooks with Claude Code",
        f"  {program} doctor --loop  runs this loop on your installation",
    ]
    assert terminal.everything() == before


def test_what_the_demo_made_can_be_kept_and_looked_at(terminal: Terminal) -> None:
    kept = terminal.root / "kept" / "inner"
    assert terminal.run("demo", "--keep", kept).code == 0
    terminal.set(HOLDFAST_HOME=kept / "store")
    terminal.go(kept / "courier")
    assert "1: whole" in terminal.run("status").out
    again = terminal.run("demo", "--keep", kept)
    assert (again.code, again.out) == (1, "")
    assert f"--keep {kept} (File exists)" in again.err


def test_a_demo_that_breaks_says_so(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rehearse, "hook_command", lambda: f"{sys.executable} -c 'raise Trouble'")
    ran = terminal.run("demo")
    assert ran.code == 1
    assert "The loop broke. `holdfast doctor` may know why." in ran.out
    assert list(terminal.temporary.iterdir()) == []
