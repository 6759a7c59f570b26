"""What was being done last, who spoke last, and which question waits."""

from __future__ import annotations

import pytest

from holdfast.state.rules.focus import LONGEST
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
