"""Slash commands and skills that were started."""

from __future__ import annotations

import pytest

from holdfast.state.rules.commands import MAX_COMMANDS
from tests.unit.transcript_lines import AT, Line, state_of, tool_use, user


def typed(name: str, args: str = "") -> Line:
    return user(
        f"<command-name>/{name}</command-name>\n<command-message>{name}</command-message>\n"
        f"<command-args>{args}</command-args>"
    )


def commands(*lines: Line) -> list[tuple[str, str, int]]:
    state = state_of(*lines)
    return [(command["name"], command["text"], command["line"]) for command in state["commands"]]


def test_a_typed_command_is_kept_with_its_arguments() -> None:
    assert commands(typed("plan-phase", "12 quickly")) == [("plan-phase", "12 quickly", 1)]


def test_the_command_message_may_precede_the_command_name() -> None:
    line = user("<command-message>review</command-message>\n<command-name>/review</command-name>")
    assert commands(line) == [("review", "", 1)]


def test_a_skill_is_kept_with_its_arguments() -> None:
    assert commands(*tool_use("Skill", {"skill": "brainstorming", "args": "names"})) == [
        ("brainstorming", "names", 1)
    ]


def test_a_skill_that_failed_is_not_kept() -> None:
    assert commands(*tool_use("Skill", {"skill": "brainstorming"}, ok=False)) == []


@pytest.mark.parametrize("name", ["clear", "compact", "model", "exit"])
def test_built_in_commands_are_not_kept(name: str) -> None:
    assert commands(typed(name)) == []


def test_a_repeated_command_is_kept_once_as_the_latest() -> None:
    assert commands(typed("a", "1"), typed("b"), typed("a", "2")) == [("b", "", 2), ("a", "2", 3)]


def test_a_command_has_its_start_time() -> None:
    (command,) = state_of(typed("review"))["commands"]
    assert command["at"] == AT


def test_the_commands_of_holdfast_are_not_kept() -> None:
    assert commands(typed("holdfast:recall", "the lock")) == []


def test_only_the_latest_commands_are_kept() -> None:
    assert len(commands(*(typed(f"c{n}") for n in range(MAX_COMMANDS + 5)))) == MAX_COMMANDS


def test_a_secret_in_a_commands_arguments_is_redacted() -> None:
    ((_, text, _),) = commands(typed("deploy", "ghp_" + "a1B2" * 9))
    assert text == "[redacted:github-token]"
