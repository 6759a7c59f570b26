"""Which of the user's requests and rules are told, and from where on."""

from __future__ import annotations

import pytest

from holdfast.brief import words, work
from holdfast.brief.item import Item
from holdfast.brief.render import build
from holdfast.state.model import State
from tests.unit.transcript_lines import Line, bash, call, reply, state_of, user

STOPPED = user("[Request interrupted by user]")


def asked(*lines: Line) -> list[str]:
    return [item.forms[0] for item in words.requests(state_of(*lines))]


def labelled(label: str, *lines: Line) -> str:
    return next((told for told in asked(*lines) if told.startswith(f"- {label}: ")), "")


def test_a_request_that_was_stopped_and_said_again_is_told_as_it_was_meant() -> None:
    lines = [
        user("have a look at ticket MCP-108, we never push it"), STOPPED,
        user("have a look at ticket ENT-108, we never push it"), reply("ok"),
        user("now write the tests for all of it please, also slow ones"),
    ]  # fmt: skip
    assert labelled("first", *lines) == (
        "- first: “have a look at ticket ENT-108, we never push it” (L3)"
    )
    assert not any("MCP-108" in told for told in asked(*lines))
    told = [item.line for item in words.rules(state_of(*lines))]
    assert told == [3]


@pytest.mark.parametrize(
    "lines",
    [
        [user("write the tests for the parser"), user("write the tests for the lexer")],
        [user("write the tests for the parser"), STOPPED, user("first look at the failing build")],
    ],
)
def test_a_request_that_was_not_taken_back_is_told(lines: list[Line]) -> None:
    assert "the parser” (L1)" in asked(*lines)[0]


@pytest.mark.parametrize(
    ("first", "is_goal"),
    [
        ("explain https://example.com/discussions/579", True),
        ("v0.16.0의 남은 두 항목을 끝내고 릴리스", True),
        ("hi there", False),
    ],
)
def test_the_goal_is_the_first_that_says_something_in_whatever_way(
    first: str, is_goal: bool
) -> None:
    told = labelled("first", user(first), user("then fix it in a new branch"), user("go on then"))
    assert (first in told) == is_goal


def test_behind_a_short_answer_stands_a_request_in_any_script() -> None:
    governing = "남은 두 항목을 모두 끝내고 버전을 올려 릴리스해 주세요"
    assert governing in labelled(
        "before", user("먼저 상태를 확인해 주세요"), user(governing), user("응")
    )


def test_a_plan_that_was_handed_over_is_told_from_its_title_on() -> None:
    plan = user("Implement the following plan:\n\n# Plan: Add a detector\n\n## Context\nCopies.")
    assert labelled("first", plan, user("go on")).startswith("- first: “…Add a detector ## Context")


@pytest.mark.parametrize(
    ("sooner", "later"),
    [
        ("Keep the old flag for a while.", "ok let's keep going with this one"),
        ("Never push to main.", "we don't really need the second one"),
    ],
)
def test_what_is_a_rule_comes_before_what_only_sounds_like_one(sooner: str, later: str) -> None:
    rules = words.rules(state_of(user(later), user(sooner)))
    told = [item.quote for item in sorted(rules, key=lambda item: -item.value)]
    assert told == [sooner, later]


def test_a_document_that_is_handed_to_a_command_makes_no_rules() -> None:
    given = "# Guide\n\n**Never log tokens.**\nAlways use tabs."
    line = user(f"<command-name>/todo</command-name><command-args>{given}</command-args>")
    assert list(words.rules(state_of(line))) == []
    typed = user("Remember this: **Never log tokens or names.**")
    assert [item.quote for item in words.rules(state_of(typed))] == [
        "Remember this: **Never log tokens or names."
    ]


def test_an_answer_is_told_with_its_question() -> None:
    state = state_of(user("make retries slower"), user("with a queue of its own"))
    state["requests"][1]["question"] = "How should retries wait for their turn?"
    answer = "“with a queue of its own”, answering “How should retries wait for their turn?”"
    latest = next(item for item in words.requests(state) if item.line == 2)
    assert latest.forms[-1] == f"- latest: {answer} (L2)"
    assert f"Latest request: {answer} (L2)." in build(state, tokens=400, characters=9000).text


# What is going on


def now(state: State, kind: str) -> Item:
    return next(item for item in work.now(state) if item.kind == kind)


def test_what_was_said_before_the_latest_request_is_no_answer_to_it() -> None:
    lines = [user("write the tests"), reply("All of them are written.")]
    assert now(state_of(*lines), "doing").forms[0] == (
        "- last said: “All of them are written.” (L2)"
    )
    assert now(state_of(*lines, user("and the docs")), "doing").forms[0] == (
        "- said before the latest request: “All of them are written.” (L2)"
    )


def test_a_sub_agent_that_runs_for_the_latest_request_must_be_told() -> None:
    start = call("Agent", {"subagent_type": "Explore", "description": "find callers"}, "a1")
    (agent,) = work.agents(state_of(user("find out"), start))
    assert agent.floor
    (agent,) = work.agents(state_of(user("find out"), start, user("go on")))
    assert not agent.floor


def test_a_failure_says_that_another_test_run_passed_since() -> None:
    failed, passed = bash("make test-all", "FAILED a", ok=False), bash("make test-fast", "ok")
    (told,) = work.failing(state_of(*failed, *passed))
    assert told.forms[-1].splitlines()[0] == (
        "- `make test-all` fails (L1 L2); since then `make test-fast` passed (L3 L4)"
    )
    (told,) = work.failing(state_of(*passed, *failed))
    assert "since then" not in told.forms[-1]
