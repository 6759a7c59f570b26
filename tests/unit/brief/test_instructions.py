"""Items of the user's requests and rules, and of the current work."""

from __future__ import annotations

import pytest

from holdfast.brief import activity, instructions
from holdfast.brief.items import Item
from holdfast.brief.render import build_brief
from holdfast.state.types import State
from tests.unit.transcript_lines import Line, bash, call, reply, state_of, user

STOPPED = user("[Request interrupted by user]")


def asked(*lines: Line) -> list[str]:
    return [item.forms[0] for item in instructions.request_items(state_of(*lines))]


def labelled(label: str, *lines: Line) -> str:
    return next((told for told in asked(*lines) if told.startswith(f"- {label}: ")), "")


def test_a_resent_prompt_supersedes_the_interrupted_one() -> None:
    lines = [
        user("have a look at ticket MCP-108, we never push it"), STOPPED,
        user("have a look at ticket ENT-108, we never push it"), reply("ok"),
        user("now write the tests for all of it please, also slow ones"),
    ]  # fmt: skip
    assert labelled("first", *lines) == (
        "- first: “have a look at ticket ENT-108, we never push it” (L3)"
    )
    assert not any("MCP-108" in told for told in asked(*lines))
    told = [item.line for item in instructions.rule_items(state_of(*lines))]
    assert told == [3]


@pytest.mark.parametrize(
    "lines",
    [
        [user("write the tests for the parser"), user("write the tests for the lexer")],
        [user("write the tests for the parser"), STOPPED, user("first look at the failing build")],
    ],
)
def test_an_interrupted_request_that_was_not_resent_is_shown(lines: list[Line]) -> None:
    assert "the parser” (L1)" in asked(*lines)[0]


@pytest.mark.parametrize(
    ("first", "is_goal"),
    [
        ("explain https://example.com/discussions/579", True),
        ("v0.16.0의 남은 두 항목을 끝내고 릴리스", True),
        ("hi there", False),
    ],
)
def test_the_goal_is_the_first_meaningful_request_in_any_script(first: str, is_goal: bool) -> None:
    told = labelled("first", user(first), user("then fix it in a new branch"), user("go on then"))
    assert (first in told) == is_goal


def test_the_request_before_a_short_answer_is_shown_in_any_script() -> None:
    governing = "남은 두 항목을 모두 끝내고 버전을 올려 릴리스해 주세요"
    assert governing in labelled(
        "before", user("먼저 상태를 확인해 주세요"), user(governing), user("응")
    )


def test_a_request_with_a_plan_is_quoted_from_the_plans_title() -> None:
    plan = user("Implement the following plan:\n\n# Plan: Add a detector\n\n## Context\nCopies.")
    assert labelled("first", plan, user("go on")).startswith("- first: “…Add a detector ## Context")


@pytest.mark.parametrize(
    ("sooner", "later"),
    [
        ("Keep the old flag for a while.", "ok let's keep going with this one"),
        ("Never push to main.", "we don't really need the second one"),
    ],
)
def test_a_clear_rule_comes_before_a_possible_one(sooner: str, later: str) -> None:
    rules = instructions.rule_items(state_of(user(later), user(sooner)))
    told = [item.quote for item in sorted(rules, key=lambda item: -item.value)]
    assert told == [sooner, later]


def test_a_document_passed_to_a_command_makes_no_rules() -> None:
    given = "# Guide\n\n**Never log tokens.**\nAlways use tabs."
    line = user(f"<command-name>/todo</command-name><command-args>{given}</command-args>")
    assert list(instructions.rule_items(state_of(line))) == []
    typed = user("Remember this: **Never log tokens or names.**")
    assert [item.quote for item in instructions.rule_items(state_of(typed))] == [
        "Remember this: **Never log tokens or names."
    ]


def test_an_answer_is_shown_with_its_question() -> None:
    state = state_of(user("make retries slower"), user("with a queue of its own"))
    state["requests"][1]["question"] = "How should retries wait for their turn?"
    answer = "“with a queue of its own”, answering “How should retries wait for their turn?”"
    latest = next(item for item in instructions.request_items(state) if item.line == 2)
    assert latest.forms[-1] == f"- latest: {answer} (L2)"
    assert f"Latest request: {answer} (L2)." in build_brief(state, tokens=400, characters=9000).text


# What is going on


def now(state: State, kind: str) -> Item:
    return next(item for item in activity.current_work_items(state) if item.kind == kind)


def test_a_message_before_the_latest_request_is_labelled_as_such() -> None:
    lines = [user("write the tests"), reply("All of them are written.")]
    assert now(state_of(*lines), "doing").forms[0] == (
        "- last said: “All of them are written.” (L2)"
    )
    assert now(state_of(*lines, user("and the docs")), "doing").forms[0] == (
        "- said before the latest request: “All of them are written.” (L2)"
    )


def test_a_sub_agent_running_for_the_latest_request_is_required() -> None:
    start = call("Agent", {"subagent_type": "Explore", "description": "find callers"}, "a1")
    (agent,) = activity.subagent_items(state_of(user("find out"), start))
    assert agent.is_required
    (agent,) = activity.subagent_items(state_of(user("find out"), start, user("go on")))
    assert not agent.is_required


def test_a_failure_says_that_another_test_run_passed_since() -> None:
    failed, passed = bash("make test-all", "FAILED a", ok=False), bash("make test-fast", "ok")
    (told,) = activity.failing_check_items(state_of(*failed, *passed))
    assert told.forms[-1].splitlines()[0] == (
        "- `make test-all` fails (L1 L2); since then `make test-fast` passed (L3 L4)"
    )
    (told,) = activity.failing_check_items(state_of(*passed, *failed))
    assert "since then" not in told.forms[-1]
