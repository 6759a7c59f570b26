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
    spent,
    state_of,
    summary,
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
    for words, question in cases:
        asked = state_of(user("go"), reply(words))["questions"]
        assert asked == ([{"text": question, "line": 2}] if question else []), words


def test_a_blocker_expires_when_the_agent_works_on() -> None:
    said = reply("I'm blocked on the missing schema.")
    assert state_of(said, *[spent(7)] * 50, call("Bash", {}))["blockers"] != []
    assert state_of(said, *[spent(7)] * BLOCKER_LIFETIME_LINES, call("Bash", {}))["blockers"] == []
    assert state_of(said, *[spent(7)] * BLOCKER_LIFETIME_LINES)["blockers"] != []


def test_a_conditional_sentence_is_no_blocker() -> None:
    assert state_of(reply("If it is on, you'll need to restart."))["blockers"] == []
    assert state_of(reply("You'll need to restart if it is on."))["blockers"] != []


@pytest.mark.parametrize(
    ("then", "waits"),
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
def test_a_question_is_open_until_the_next_message(then: Line, waits: bool) -> None:
    assert bool(state_of(reply("Shall I go on?"), then)["questions"]) == waits


def test_the_last_reply_is_the_current_work() -> None:
    lines = [reply("First this."), *bash("ls"), reply(" The job is ready again. \n"), *bash("ls")]
    assert state_of(*lines)["doing"] == {"text": "The job is ready again.", "line": 4}


def test_a_long_reply_is_cut() -> None:
    doing = state_of(reply("Done. " + "x" * 2 * MAX_ACTIVITY_CHARS))["doing"]
    assert doing is not None
    assert len(doing["text"]) == MAX_ACTIVITY_CHARS


ASKED = {"questions": [{"question": "Which store?"}, {"question": "Which port?"}, {"x": 1}, 7]}
WAITING = [{"text": "Which store?", "line": 1}, {"text": "Which port?", "line": 1}]


@pytest.mark.parametrize(
    ("then", "waits"),
    [
        ([], True),
        ([call("Bash", {}, "t2"), result("x", ident="t2")], True),
        ([result("answered", detail={"answers": {}})], False),
        ([result("refused", ok=False)], False),
        ([user("SQLite, 80")], False),
        ([reply("Then I choose.")], False),
        ([reply("So far.", isSidechain=True)], True),
    ],
)
def test_questions_with_choices_are_open_until_answered(then: list[Line], waits: bool) -> None:
    questions = state_of(call("AskUserQuestion", ASKED), *then)["questions"]
    assert questions == (WAITING if waits else [])


@pytest.mark.parametrize("given", [{}, {"questions": 7}, {"questions": {}}, {"questions": [[]]}])
def test_malformed_questions_are_ignored(given: Line) -> None:
    assert state_of(call("AskUserQuestion", given))["questions"] == []


def test_a_blocker_is_kept() -> None:
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
    for words, blockers in cases:
        found = state_of(user("go"), reply(words))["blockers"]
        assert found == [{"text": text, "line": 2} for text in blockers], words


@pytest.mark.parametrize(
    ("then", "held"),
    [
        (user("here is the key"), False),
        (user("<command-name>/review</command-name>"), False),
        (reply("Meanwhile I test."), True),
        (user("a key", isSidechain=True), True),
        (summary(), True),
    ],
)
def test_a_blocker_stays_until_the_user_writes(then: Line, held: bool) -> None:
    assert bool(state_of(reply("I'm blocked by a key."), then)["blockers"]) == held


def test_blockers_are_bounded_and_unique() -> None:
    many = [reply(f"I'm blocked by key {number}.") for number in range(MAX_BLOCKERS + 3)]
    assert len(state_of(*many)["blockers"]) == MAX_BLOCKERS
    again = [reply("I'm blocked by a key."), reply("I'm blocked by a key.")]
    assert [one["line"] for one in state_of(*again)["blockers"]] == [2]


@pytest.mark.parametrize("words", ["\n\n", "No response requested."])
def test_an_empty_reply_changes_nothing(words: str) -> None:
    state = state_of(reply("Both work. Shall I take the first?"), reply(words))
    assert state["doing"]["text"] == "Both work. Shall I take the first?"
    assert [one["text"] for one in state["questions"]] == ["Shall I take the first?"]
