"""What was decided, what was ruled out, and by whom."""

from __future__ import annotations

import pytest

from holdfast.state.model import Decision
from holdfast.state.rules.decisions import LONGEST, MOST
from tests.unit.transcript_lines import Line, reply, result, state_of, used, user


def decisions(*lines: Line) -> list[Decision]:
    return state_of(*lines)["decisions"]


@pytest.mark.parametrize(
    ("line", "text", "kind", "by"),
    [
        (user("Fine. Let's use SQLite for it."), "Let's use SQLite for it.", "chosen", "user"),
        (user("Let’s go with option B."), "Let’s go with option B.", "chosen", "user"),
        (
            user("Good. But use full jitter, not equal jitter."),
            "But use full jitter, not equal jitter.",
            "chosen",
            "user",
        ),
        (
            user("We tried a global lock in March."),
            "We tried a global lock in March.",
            "rejected",
            "user",
        ),
        (
            reply("I decided to use the existing column. Next I test."),
            "I decided to use the existing column.",
            "chosen",
            "agent",
        ),
        (
            reply("Going with `run_after` rather than a sleep."),
            "Going with `run_after` rather than a sleep.",
            "chosen",
            "agent",
        ),
        (
            reply("The root cause is a missing else."),
            "The root cause is a missing else.",
            "chosen",
            "agent",
        ),
        (
            reply("A global lock won't work: it deadlocks."),
            "A global lock won't work: it deadlocks.",
            "rejected",
            "agent",
        ),
        (
            reply("- threads are a dead end here"),
            "threads are a dead end here",
            "rejected",
            "agent",
        ),
        (
            reply("I decided against threads, going with processes."),
            "I decided against threads, going with processes.",
            "rejected",
            "agent",
        ),
    ],
)
def test_a_sentence_that_decides_is_kept(line: Line, text: str, kind: str, by: str) -> None:
    (told,) = decisions(line)
    assert (told["text"], told["kind"], told["by"], told["line"]) == (text, kind, by, 1)


@pytest.mark.parametrize(
    "line",
    [
        reply("I'll read the worker now."),
        reply("Shall I go on, going with plan B?"),
        reply("Agreed."),
        reply("decided to " + "x" * LONGEST),
        reply("```\n# decided to use threads here\n```"),
        reply("Let's use SQLite for it."),
        user("Do not use threads here."),
        user("What are the uses of it, if not this?"),
        result("We decided to use threads."),
        user("We decided to use threads.", isMeta=True),
    ],
)
def test_other_sentences_decide_nothing(line: Line) -> None:
    assert decisions(line) == []


def test_an_answered_question_is_the_users_decision() -> None:
    lines = used(
        "AskUserQuestion",
        {"questions": []},
        "answered",
        detail={"answers": {"Which\nstore?": "SQLite", "Which port?": ["80", "81"]}},
    )
    assert [(told["text"], told["by"], told["kind"]) for told in decisions(*lines)] == [
        ("Which store? — SQLite", "user", "chosen"),
        ("Which port? — 80, 81", "user", "chosen"),
    ]


@pytest.mark.parametrize("tool", ["ExitPlanMode", "exit_plan_mode"])
@pytest.mark.parametrize(
    ("given", "detail"), [({}, {"plan": "# Retry\n1. Wait"}), ({"plan": "# Retry\n1. Wait"}, {})]
)
def test_an_approved_plan_is_the_users_decision(tool: str, given: Line, detail: Line) -> None:
    (told,) = decisions(*used(tool, given, "approved", detail=detail))
    assert told == {
        "text": "plan approved: # Retry 1. Wait",
        "kind": "chosen",
        "by": "user",
        "line": 2,
        "over": "",
        "why": "",
    }


@pytest.mark.parametrize(
    "lines",
    [
        used("ExitPlanMode", {"plan": "# Retry"}, "rejected", ok=False, detail={"plan": "# Retry"}),
        used("ExitPlanMode", {"plan": "# Retry"}, detail="Error"),
        used("ExitPlanMode", {}, detail={"plan": ""}),
        used("AskUserQuestion", {}, detail={"answers": ["SQLite"]}),
        used("AskUserQuestion", {}, detail=None),
        used("Read", {}, detail={"answers": {"Which?": "SQLite"}, "plan": "# Retry"}),
    ],
)
def test_what_was_not_approved_or_answered_is_no_decision(lines: list[Line]) -> None:
    assert decisions(*lines) == []


def test_the_same_decision_is_kept_once_where_it_was_made() -> None:
    line = reply("I decided to use threads.")
    assert [told["line"] for told in decisions(line, user("ok"), line)] == [1]


def test_the_users_own_decisions_outlive_the_agents() -> None:
    mine = user("Let's use SQLite for it.")
    told = decisions(mine, *(reply(f"I decided to use thread {n}.") for n in range(MOST + 5)))
    assert len(told) == MOST
    assert told[0]["text"] == "Let's use SQLite for it."
    assert told[1]["text"] == "I decided to use thread 6."


def test_of_the_users_decisions_the_newest_are_kept() -> None:
    told = decisions(*(user(f"Let's use port {n} for it.") for n in range(MOST + 5)))
    assert len(told) == MOST
    assert told[0]["text"] == "Let's use port 5 for it."
