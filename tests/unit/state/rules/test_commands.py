"""Slash commands and skills that were started."""

from __future__ import annotations

import pytest

from holdfast.state.rules.commands import MAX_COMMANDS
from tests.unit.transcript_lines import AT, Line, state_of, used, user


def typed(name: str, args: str = "") -> Line:
    return user(
        f"<command-name>/{name}</command-name>\n<command-message>{name}</command-message>\n"
        f"<command-args>{args}</command-args>"
    )


def started(*lines: Line) -> list[tuple[str, str, int]]:
    state = state_of(*lines)
    return [(one["name"], one["text"], one["line"]) for one in state["commands"]]


def test_a_typed_command_is_kept_with_its_arguments() -> None:
    assert started(typed("plan-phase", "12 quickly")) == [("plan-phase", "12 quickly", 1)]


def test_the_message_may_come_before_the_name() -> None:
    line = user("<command-message>review</command-message>\n<command-name>/review</command-name>")
    assert started(line) == [("review", "", 1)]


def test_a_skill_is_kept() -> None:
    assert started(*used("Skill", {"skill": "brainstorming", "args": "names"})) == [
        ("brainstorming", "names", 1)
    ]


def test_a_skill_that_failed_was_not_started() -> None:
    assert started(*used("Skill", {"skill": "brainstorming"}, ok=False)) == []


@pytest.mark.parametrize("name", ["clear", "compact", "model", "exit"])
def test_built_in_commands_are_not_kept(name: str) -> None:
    assert started(typed(name)) == []


def test_a_command_started_again_is_kept_once_as_the_latest() -> None:
    assert started(typed("a", "1"), typed("b"), typed("a", "2")) == [("b", "", 2), ("a", "2", 3)]


def test_a_command_has_its_start_time() -> None:
    (one,) = state_of(typed("review"))["commands"]
    assert one["at"] == AT


def test_our_own_commands_are_not_kept() -> None:
    assert started(typed("holdfast:recall", "the lock")) == []


def test_only_the_latest_commands_are_kept() -> None:
    assert len(started(*(typed(f"c{n}") for n in range(MAX_COMMANDS + 5)))) == MAX_COMMANDS


def test_a_secret_in_a_commands_arguments_is_redacted() -> None:
    ((_, text, _),) = started(typed("deploy", "ghp_" + "a1B2" * 9))
    assert text == "[redacted:github-token]"
