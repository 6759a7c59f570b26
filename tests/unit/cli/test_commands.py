"""`holdfast command` and `holdfast commands`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.terminal import Terminal


@pytest.fixture
def project(demo_terminal: Terminal) -> Terminal:
    """The terminal of the example session, with a command file in its project."""
    folder = Path(".claude", "commands")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "review.md").write_text("Never approve your own change.\n")
    return demo_terminal


def test_a_command_started_by_hand_is_listed_with_its_text_for_the_brief(project: Terminal) -> None:
    assert project.run("commands", "--json").json == []
    result = project.run("command", "start", "/review", "--state", '{"phase": "tests"}')
    assert (result.code, result.out) == (0, "")
    (command,) = project.run("commands", "--json").json
    assert (command["name"], command["status"], command["state"]) == (
        "review",
        "active",
        {"phase": "tests"},
    )
    assert command["contributes"] == "- Never approve your own change.\n\n- phase: tests"
    assert command["file"].endswith("/.claude/commands/review.md")
    assert command["activated_at"].endswith("Z")
    assert "lines that read like rules" in project.run("commands").out


def test_a_stopped_command_contributes_nothing_to_the_brief(project: Terminal) -> None:
    project.run("command", "start", "review")
    assert "finished" in project.run("command", "stop", "review").err
    (command,) = project.run("commands", "--json").json
    assert (command["status"], command["contributes"]) == ("finished", "")
    assert "nothing to do" in project.run("command", "stop", "review").err


def test_starting_a_command_without_a_file_prints_a_warning(project: Terminal) -> None:
    assert "No file" in project.run("command", "start", "nowhere").err
    assert "no file was found" in project.run("commands").out


def test_a_session_without_commands_prints_a_message(project: Terminal) -> None:
    result = project.run("commands")
    assert (result.code, result.out) == (0, "")
    assert "No command or skill" in result.err


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("start", "../review"), "not the name of a command"),
        (("start", "review", "--state", "{"), "not JSON"),
        (("start", "review", "--state", "[]"), "a JSON object"),
    ],
)
def test_an_invalid_command_name_or_state_is_refused(
    project: Terminal, arguments: tuple[str, ...], error: str
) -> None:
    result = project.run("command", *arguments)
    assert result.code == 1
    assert error in result.err
    assert project.run("commands", "--json").json == []


def test_a_note_is_written_to_the_project(demo_terminal: Terminal) -> None:
    result = demo_terminal.run("note", "five attempts", "--decision")
    assert (result.code, result.out) == (0, "")
    path = result.err.split("Added to ")[1].strip().rstrip(".")
    assert "- **decision:** five attempts" in Path(path).read_text().splitlines()
    assert demo_terminal.run("note", " ").code == 1
