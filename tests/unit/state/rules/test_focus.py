"""What was being done last, who spoke last, and which question waits."""

from __future__ import annotations

import pytest

from holdfast.state.rules.focus import LONGEST, MOST_BLOCKERS, WORKED_ON
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


@pytest.mark.parametrize(
    ("words", "question"),
    [
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
    ],
)
def test_a_reply_that_ends_with_a_question_waits_for_the_user(
    words: str, question: str | None
) -> None:
    asked = state_of(user("go"), reply(words))["questions"]
    assert asked == ([{"text": question, "line": 2}] if question else [])


def test_who_has_worked_on_was_not_held_up() -> None:
    said = reply("I'm blocked on the missing schema.")
    assert state_of(said, *[spent(7)] * 50, call("Bash", {}))["blockers"] != []
    assert state_of(said, *[spent(7)] * WORKED_ON, call("Bash", {}))["blockers"] == []
    assert state_of(said, *[spent(7)] * WORKED_ON)["blockers"] != []


def test_what_holds_up_only_if_something_happens_does_not_yet() -> None:
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
def test_a_question_waits_until_somebody_speaks(then: Line, waits: bool) -> None:
    assert bool(state_of(reply("Shall I go on?"), then)["questions"]) == waits


def test_the_last_reply_says_what_was_being_done() -> None:
    lines = [reply("First this."), *bash("ls"), reply(" The job is ready again. \n"), *bash("ls")]
    assert state_of(*lines)["doing"] == {"text": "The job is ready again.", "line": 4}


def test_a_long_reply_is_cut() -> None:
    doing = state_of(reply("Done. " + "x" * 2 * LONGEST))["doing"]
    assert doing is not None
    assert len(doing["text"]) == LONGEST


@pytest.mark.parametrize(
    ("lines", "speaker"),
    [
        ([], ""),
        ([user("go")], "user"),
        ([user("go"), reply("Done.")], "agent"),
        ([user("go"), call("Bash", {})], "agent"),
        ([call("Bash", {}), result("x")], "user"),
        ([call("Bash", {}), result("x"), spent(9)], "agent"),
        ([reply("Done."), summary()], "agent"),
        ([reply("Done."), user("go", isMeta=True)], "agent"),
        ([reply("Done."), user("go", isSidechain=True)], "agent"),
    ],
)
def test_the_last_speaker_is_whose_message_came_last(lines: list[Line], speaker: str) -> None:
    assert state_of(*lines)["last_speaker"] == speaker


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
def test_all_questions_with_choices_wait_until_they_are_answered(
    then: list[Line], waits: bool
) -> None:
    told = state_of(call("AskUserQuestion", ASKED), *then)["questions"]
    assert told == (WAITING if waits else [])


@pytest.mark.parametrize("given", [{}, {"questions": 7}, {"questions": {}}, {"questions": [[]]}])
def test_questions_of_another_shape_are_none(given: Line) -> None:
    assert state_of(call("AskUserQuestion", given))["questions"] == []


@pytest.mark.parametrize(
    ("words", "blockers"),
    [
        ("I looked. I'm blocked by a missing key. More later.", ["I'm blocked by a missing key."]),
        ("I cannot proceed without the token.", ["I cannot proceed without the token."]),
        ("- Waiting for your review of the plan", ["Waiting for your review of the plan"]),
        ("You'll need to restart the server.", ["You'll need to restart the server."]),
        ("The deploy is blocked on CI.", ["The deploy is blocked on CI."]),
        ("Done, nothing left.", []),
        ("```\n# blocked by design\n```", []),
        ("I unblocked the queue.", []),
    ],
)
def test_what_holds_the_work_up_is_kept(words: str, blockers: list[str]) -> None:
    told = state_of(user("go"), reply(words))["blockers"]
    assert told == [{"text": text, "line": 2} for text in blockers]


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
def test_the_work_is_held_up_until_the_user_speaks(then: Line, held: bool) -> None:
    assert bool(state_of(reply("I'm blocked by a key."), then)["blockers"]) == held


def test_blockers_are_bounded_and_the_same_one_is_told_once() -> None:
    many = [reply(f"I'm blocked by key {number}.") for number in range(MOST_BLOCKERS + 3)]
    assert len(state_of(*many)["blockers"]) == MOST_BLOCKERS
    again = [reply("I'm blocked by a key."), reply("I'm blocked by a key.")]
    assert [one["line"] for one in state_of(*again)["blockers"]] == [2]


@pytest.mark.parametrize("words", ["\n\n", "No response requested."])
def test_who_says_nothing_leaves_what_was_said_and_asked(words: str) -> None:
    state = state_of(reply("Both work. Shall I take the first?"), reply(words))
    assert state["doing"]["text"] == "Both work. Shall I take the first?"
    assert [one["text"] for one in state["questions"]] == ["Shall I take the first?"]
