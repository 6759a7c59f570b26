"""Items of the user's messages."""

from __future__ import annotations

import pytest

from holdfast.brief import instructions
from holdfast.brief.render import build_brief
from holdfast.brief.summary_overlap import SearchableSummary
from holdfast.brief.user_words import find_prose, request_items
from tests.unit.transcript_lines import Line, reply, state_of, user

STOPPED = user("[Request interrupted by user]")


def render_requests(*lines: Line) -> list[str]:
    return [item.forms[0] for item in request_items(state_of(*lines))]


def find_labelled(label: str, *lines: Line) -> str:
    return next((form for form in render_requests(*lines) if form.startswith(f"- {label}: ")), "")


def test_messages_are_listed_newest_first() -> None:
    lines = [user(f"please do thing number {n}") for n in range(4)]
    assert [form[-3:-1] for form in render_requests(*lines)] == ["L4", "L3", "L2", "L1"]


def test_a_resent_prompt_supersedes_the_interrupted_one() -> None:
    lines = [
        user("have a look at ticket MCP-108, never push it"), STOPPED,
        user("have a look at ticket ENT-108, never push it"), reply("ok"),
        user("now write the tests for all of it please, also slow ones"),
    ]  # fmt: skip
    assert find_labelled("first", *lines) == (
        "- first: “have a look at ticket ENT-108, never push it” (L3)"
    )
    assert not any("MCP-108" in form for form in render_requests(*lines))
    assert [item.line for item in instructions.rule_items(state_of(*lines))] == [3]


@pytest.mark.parametrize(
    "lines",
    [
        [user("write the tests for the parser"), user("write the tests for the lexer")],
        [user("write the tests for the parser"), STOPPED, user("first look at the failing build")],
    ],
)
def test_an_interrupted_request_that_was_not_resent_is_shown(lines: list[Line]) -> None:
    assert "the parser” (L1)" in render_requests(*lines)[-1]


@pytest.mark.parametrize(
    ("first", "is_goal"),
    [
        ("explain https://example.com/discussions/579", True),
        ("v0.16.0의 남은 두 항목을 끝내고 릴리스", True),
        ("hi there", False),
    ],
)
def test_the_goal_is_the_first_meaningful_request_in_any_script(first: str, is_goal: bool) -> None:
    form = find_labelled("first", user(first), user("then fix it in a new branch"), user("go on"))
    assert (first in form) == is_goal


def test_the_request_before_a_short_answer_is_shown_in_any_script() -> None:
    governing = "남은 두 항목을 모두 끝내고 버전을 올려 릴리스해 주세요"
    lines = [user("먼저 상태를 확인해 주세요"), user(governing), user("응")]
    assert governing in find_labelled("before", *lines)


def test_a_request_with_a_plan_is_quoted_from_the_plans_title() -> None:
    plan = user("Implement the following plan:\n\n# Plan: Add a detector\n\n## Context\nCopies.")
    form = find_labelled("first", plan, user("go on"))
    assert form.startswith("- first: “…Add a detector ## Context")


def test_a_short_message_is_shown_only_with_the_question_that_it_answers() -> None:
    lines = [user("fix the retry logic of the worker"), reply("Should I use jitter?"), user("yes"),
             reply("Done with that."), user("now write the docs for it please")]  # fmt: skip
    assert "- “yes”, answering “Should I use jitter?” (L3 L2)" in render_requests(*lines)
    lines[1] = reply("I use jitter.")
    assert not any("“yes”" in form for form in render_requests(*lines))


def test_a_message_that_is_listed_as_a_rule_is_not_repeated() -> None:
    lines = [user("fix the retry logic of the worker"), user("Never push to main."), user("go on")]
    assert not any("Never push" in form for form in render_requests(*lines))


def test_an_answer_is_shown_with_its_question() -> None:
    state = state_of(user("make retries slower"), user("with a queue of its own"))
    state["requests"][1]["question"] = "How should retries wait for their turn?"
    answer = "“with a queue of its own”, answering “How should retries wait for their turn?”"
    latest = next(item for item in request_items(state) if item.line == 2)
    assert latest.forms[-1] == f"- latest: {answer} (L2)"
    assert f"Latest request: {answer} (L2)." in build_brief(state, tokens=400, characters=9000).text


def test_of_a_long_message_only_what_the_user_typed_is_quoted() -> None:
    log = "\n".join(f"12:00:{n:02} WARN pool={n} retry={n} status=500" for n in range(20))
    code = "```\nfor job in jobs:\n    job.run()\n```"
    console = "❯ commit this please\n⏺ Bash(git commit)\n⎿ done"
    text = f"This is what I see:\n{log}\n{code}\n{console}\nWhy does it retry three times?"
    assert find_prose(text) == "This is what I see:\n[…]\nWhy does it retry three times?"


def test_quoted_mail_is_left_out_of_a_short_message_too() -> None:
    text = "Answer this:\n> Never push.\n>> Always push.\nin one line"
    assert find_prose(text) == "Answer this:\n[…]\nin one line"
    assert find_prose("> only this") == "> only this"


def test_a_message_without_prose_is_quoted_as_it_is() -> None:
    text = "\n".join(f"x{n}=1 y{n}=2" for n in range(100))
    assert find_prose(text) == text


def test_questions_of_older_messages_are_left_out_beside_a_summary() -> None:
    old = "I mean this is the cleanup PR anyway. Is there a reason not to parse it first?"
    lines = [user("fix the retry logic of the worker"), user(old), user("Why is it slow?")]
    lines += [user(f"then write the part number {n} of the docs please") for n in range(4)]
    state = state_of(*lines)
    texts = [item.forms[0] for item in request_items(state, SearchableSummary("Retries."))]
    assert "- “I mean this is the cleanup PR anyway.” (L2)" in texts
    assert not any("slow" in text for text in texts)
    assert any("slow" in text for text in render_requests(*lines))


def test_text_that_was_copied_from_the_terminal_is_left_out_of_a_long_message() -> None:
    copied = "  Each checkpoint stores the transcript, so when you view it you see both prompts.\n"
    assert find_prose(f"Can you explain this part:\n\n{copied * 5}") == (
        "Can you explain this part:\n\n[…]"
    )


def test_of_a_long_first_message_only_what_the_summary_lacks_is_shown() -> None:
    known = "The importer reads the nightly export and writes the orders into the warehouse. "
    rule = "Execution prompts get the plan, not the full issue details."
    lines = [user(known * 5 + rule), *(user(f"now do thing number {n}") for n in range(3))]
    summary = SearchableSummary(f"{known}\nExecution prompts: plan. The full issue has details.")
    first = [*request_items(state_of(*lines), summary)][-1]
    assert first.forms[0] == f"- first: “… {rule}” (L1)"
    assert not first.is_required
