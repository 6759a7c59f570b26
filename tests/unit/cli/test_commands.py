"""`holdfast command` and `holdfast commands`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.terminal import Terminal


@pytest.fixture
def project(seasoned: Terminal) -> Terminal:
    """The example's session, and a command file in its project."""
    folder = Path(".claude", "commands")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "review.md").write_text("Never approve your own change.\n")
    return seasoned


def test_a_command_started_by_hand_is_listed_with_what_it_contributes(project: Terminal) -> None:
    assert project.run("commands", "--json").json == []
    done = project.run("command", "start", "/review", "--state", '{"phase": "tests"}')
    assert (done.code, done.out) == (0, "")
    (one,) = project.run("commands", "--json").json
    assert (one["name"], one["status"], one["state"]) == ("review", "active", {"phase": "tests"})
    assert one["contributes"] == "- Never approve your own change.\n\n- phase: tests"
    assert one["file"].endswith("/.claude/commands/review.md")
    assert one["activated_at"].endswith("Z")
    assert "lines that read like rules" in project.run("commands").out


def test_a_command_that_is_stopped_contributes_nothing(project: Terminal) -> None:
    project.run("command", "start", "review")
    assert "finished" in project.run("command", "stop", "review").err
    (one,) = project.run("commands", "--json").json
    assert (one["status"], one["contributes"]) == ("finished", "")
    assert "nothing to do" in project.run("command", "stop", "review").err


def test_starting_a_command_without_a_file_prints_a_message(project: Terminal) -> None:
    assert "No file" in project.run("command", "start", "nowhere").err
    assert "no file was found" in project.run("commands").out


def test_a_session_without_commands_says_so(project: Terminal) -> None:
    commands_text = project.run("commands")
    assert (commands_text.code, commands_text.out) == (0, "")
    assert "No command or skill" in commands_text.err


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("start", "../review"), "not the name of a command"),
        (("start", "review", "--state", "{"), "not JSON"),
        (("start", "review", "--state", "[]"), "a JSON object"),
    ],
)
def test_an_invalid_command_name_is_refused(
    project: Terminal, words: tuple[str, ...], error: str
) -> None:
    done = project.run("command", *words)
    assert done.code == 1
    assert error in done.err
    assert project.run("commands", "--json").json == []


def test_a_note_is_written_to_the_project(seasoned: Terminal) -> None:
    done = seasoned.run("note", "five attempts", "--decision")
    assert (done.code, done.out) == (0, "")
    path = done.err.split("Added to ")[1].strip().rstrip(".")
    assert "- **decision:** five attempts" in Path(path).read_text().splitlines()
    assert seasoned.run("note", " ").code == 1
