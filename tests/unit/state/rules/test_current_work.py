"""The last reply, open questions and blockers."""

from __future__ import annotations

import pytest

from holdfast.state.rules.current_work import (
    BLOCKER_LIFETIME_LINES,
    MAX_ACTIVITY_CHARS,
    MAX_BLOCKERS,
)
from tests.unit.transcript_lines import (
    Line,
    bash,
    call,
    reply,
    result,
    state_of,
    summary,
    usage_line,
    user,
)


def test_a_reply_that_ends_with_a_question_leaves_it_open() -> None:
    cases = [
        ("I looked at it. Shall I go on?", "Shall I go on?"),
        ("Shall I go on?  \n", "Shall I go on?"),
        ("Two ways:\n- a lock\n- a queue\n\nWhich one?", "Which one?"),
        ("好的。继续吗？", "继续吗？"),
        ("Saved.\n\nWould you like to:\n1. go on\n2. stop", "Would you like to: 1. go on 2. stop"),
        ("Which lock:\n\n- the table\n- the row", "Which lock: - the table - the row"),
        ("I did this:\n1. a lock\n2. a queue", None),
        ("Would you like to:\n1. go on\n2. stop\nI went on.", None),
        ("1. a lock\n2. a queue", None),
        ("Shall I go on? I would start with the worker.", None),
        ("Done.", None),
        ("Why it failed? A missing else.", None),
        ("Done.\n```\nis_it = why?", None),
        ("```\nwhy?", None),
        ("```\nwhy?\n```", None),
        ("?", "?"),
        ("…", None),
    ]
    for text, question in cases:
        questions = state_of(user("go"), reply(text))["questions"]
        assert questions == ([{"text": question, "line": 2}] if question else []), text


def test_a_blocker_expires_when_the_agent_continues_for_long() -> None:
    blocker_reply = reply("I'm blocked on the missing schema.")
    assert state_of(blocker_reply, *[usage_line(7)] * 50, call("Bash", {}))["blockers"] != []
    assert (
        state_of(blocker_reply, *[usage_line(7)] * BLOCKER_LIFETIME_LINES, call("Bash", {}))[
            "blockers"
        ]
        == []
    )
    assert state_of(blocker_reply, *[usage_line(7)] * BLOCKER_LIFETIME_LINES)["blockers"] != []


def test_a_conditional_sentence_is_no_blocker() -> None:
    assert state_of(reply("If it is on, you'll need to restart."))["blockers"] == []
    assert state_of(reply("You'll need to restart if it is on."))["blockers"] != []


@pytest.mark.parametrize(
    ("next_line", "is_open"),
    [
        (user("yes"), False),
        (reply("I went on."), False),
        (user("[Request interrupted by user]"), True),
        (call("Bash", {}), True),
        (reply("I went on.", isSidechain=True), True),
        (user("yes", isSidechain=True), True),
        (summary(), True),
    ],
)
def test_a_question_is_open_until_the_next_message(next_line: Line, is_open: bool) -> None:
    assert bool(state_of(reply("Shall I go on?"), next_line)["questions"]) == is_open


def test_the_last_reply_is_the_current_work() -> None:
    lines = [reply("First this."), *bash("ls"), reply(" The job is ready again. \n"), *bash("ls")]
    assert state_of(*lines)["doing"] == {"text": "The job is ready again.", "line": 4}


def test_a_long_reply_is_cut() -> None:
    doing = state_of(reply("Done. " + "x" * 2 * MAX_ACTIVITY_CHARS))["doing"]
    assert doing is not None
    assert len(doing["text"]) == MAX_ACTIVITY_CHARS


QUESTION_INPUT = {
    "questions": [{"question": "Which store?"}, {"question": "Which port?"}, {"x": 1}, 7]
}
OPEN_QUESTIONS = [{"text": "Which store?", "line": 1}, {"text": "Which port?", "line": 1}]


@pytest.mark.parametrize(
    ("next_lines", "is_open"),
    [
        ([], True),
        ([call("Bash", {}, "t2"), result("x", call_id="t2")], True),
        ([result("answered", detail={"answers": {}})], False),
        ([result("refused", ok=False)], False),
        ([user("SQLite, 80")], False),
        ([reply("Then I choose.")], False),
        ([reply("So far.", isSidechain=True)], True),
    ],
)
def test_questions_with_choices_are_open_until_answered(
    next_lines: list[Line], is_open: bool
) -> None:
    questions = state_of(call("AskUserQuestion", QUESTION_INPUT), *next_lines)["questions"]
    assert questions == (OPEN_QUESTIONS if is_open else [])


@pytest.mark.parametrize(
    "tool_input", [{}, {"questions": 7}, {"questions": {}}, {"questions": [[]]}]
)
def test_malformed_questions_are_ignored(tool_input: Line) -> None:
    assert state_of(call("AskUserQuestion", tool_input))["questions"] == []


def test_a_sentence_with_a_blocker_is_kept() -> None:
    cases = [
        ("I looked. I'm blocked by a missing key. More later.", ["I'm blocked by a missing key."]),
        ("I cannot proceed without the token.", ["I cannot proceed without the token."]),
        ("- Waiting for your review of the plan", ["Waiting for your review of the plan"]),
        ("You'll need to restart the server.", ["You'll need to restart the server."]),
        ("The deploy is blocked on CI.", ["The deploy is blocked on CI."]),
        ("Done, nothing left.", []),
        ("```\n# blocked by design\n```", []),
        ("I unblocked the queue.", []),
    ]
    for text, expected in cases:
        blockers = state_of(user("go"), reply(text))["blockers"]
        assert blockers == [{"text": blocker, "line": 2} for blocker in expected], text


@pytest.mark.parametrize(
    ("next_line", "is_kept"),
    [
        (user("here is the key"), False),
        (user("<command-name>/review</command-name>"), False),
        (reply("Meanwhile I test."), True),
        (user("a key", isSidechain=True), True),
        (summary(), True),
    ],
)
def test_a_blocker_stays_until_the_user_writes(next_line: Line, is_kept: bool) -> None:
    assert bool(state_of(reply("I'm blocked by a key."), next_line)["blockers"]) == is_kept


def test_blockers_are_bounded_and_unique() -> None:
    replies = [reply(f"I'm blocked by key {number}.") for number in range(MAX_BLOCKERS + 3)]
    assert len(state_of(*replies)["blockers"]) == MAX_BLOCKERS
    repeated = [reply("I'm blocked by a key."), reply("I'm blocked by a key.")]
    assert [blocker["line"] for blocker in state_of(*repeated)["blockers"]] == [2]


@pytest.mark.parametrize("text", ["\n\n", "No response requested."])
def test_an_empty_reply_changes_nothing(text: str) -> None:
    state = state_of(reply("Both work. Shall I take the first?"), reply(text))
    assert state["doing"]["text"] == "Both work. Shall I take the first?"
    assert [question["text"] for question in state["questions"]] == ["Shall I take the first?"]
