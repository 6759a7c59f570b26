"""Decisions and rejected alternatives of the user and of the agent."""

from __future__ import annotations

import pytest

from holdfast.state.rules.decisions import MAX_DECISION_CHARS, MAX_DECISIONS
from holdfast.state.types import Decision
from tests.unit.transcript_lines import ROOT, Line, reply, result, state_of, tool_use, user


def decisions(*lines: Line) -> list[Decision]:
    return state_of(*lines)["decisions"]


def test_a_sentence_with_a_decision_is_kept() -> None:
    cases = [
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
    ]
    for line, text, kind, by in cases:
        (decision,) = decisions(line)
        assert (decision["text"], decision["kind"], decision["by"], decision["line"]) == (
            text,
            kind,
            by,
            1,
        ), line


def test_other_sentences_are_no_decisions() -> None:
    cases = [
        reply("I'll read the worker now."),
        reply("Shall I go on, going with plan B?"),
        reply("Agreed."),
        reply("decided to " + "x" * MAX_DECISION_CHARS),
        reply("```\n# decided to use threads here\n```"),
        reply("Let's use SQLite for it."),
        user("Do not use threads here."),
        user("What are the uses of it, if not this?"),
        result("We decided to use threads."),
        user("We decided to use threads.", isMeta=True),
    ]
    for line in cases:
        assert decisions(line) == [], line


def test_an_answered_question_is_the_users_decision() -> None:
    lines = tool_use(
        "AskUserQuestion",
        {"questions": []},
        "answered",
        detail={"answers": {"Which\nstore?": "SQLite", "Which port?": ["80", "81"]}},
    )
    kept = decisions(*lines)
    assert [(decision["text"], decision["by"], decision["kind"]) for decision in kept] == [
        ("Which store? — SQLite", "user", "chosen"),
        ("Which port? — 80, 81", "user", "chosen"),
    ]
    assert [decision["quotes"] for decision in kept] == [
        ["Which store?", "SQLite"],
        ["Which port?", "80, 81"],
    ]


@pytest.mark.parametrize("tool", ["ExitPlanMode", "exit_plan_mode"])
@pytest.mark.parametrize(
    ("tool_input", "detail"),
    [({}, {"plan": "# Retry\n1. Wait"}), ({"plan": "# Retry\n1. Wait"}, {})],
)
def test_an_approved_plan_is_the_users_decision(tool: str, tool_input: Line, detail: Line) -> None:
    (decision,) = decisions(*tool_use(tool, tool_input, "approved", detail=detail))
    assert decision == {
        "text": "plan approved: # Retry 1. Wait",
        "kind": "chosen",
        "by": "user",
        "line": 2,
        "over": "",
        "why": "",
        "label": "plan approved",
        "quotes": ["# Retry 1. Wait"],
        "source_line": 1,
    }


@pytest.mark.parametrize(
    "lines",
    [
        tool_use(
            "ExitPlanMode", {"plan": "# Retry"}, "rejected", ok=False, detail={"plan": "# Retry"}
        ),
        tool_use("ExitPlanMode", {"plan": "# Retry"}, detail="Error"),
        tool_use("ExitPlanMode", {}, detail={"plan": ""}),
        tool_use("AskUserQuestion", {}, detail={"answers": ["SQLite"]}),
        tool_use("AskUserQuestion", {}, detail=None),
        tool_use("Read", {}, detail={"answers": {"Which?": "SQLite"}, "plan": "# Retry"}),
    ],
)
def test_unanswered_questions_and_unapproved_plans_are_no_decisions(lines: list[Line]) -> None:
    assert decisions(*lines) == []


def test_a_repeated_decision_is_kept_once_at_its_first_line() -> None:
    line = reply("I decided to use threads.")
    assert [decision["line"] for decision in decisions(line, user("ok"), line)] == [1]


def test_the_agents_decisions_are_dropped_before_the_users() -> None:
    users_decision = user("Let's use SQLite for it.")
    kept = decisions(
        users_decision, *(reply(f"I decided to use thread {n}.") for n in range(MAX_DECISIONS + 5))
    )
    assert len(kept) == MAX_DECISIONS
    assert kept[0]["text"] == "Let's use SQLite for it."
    assert kept[1]["text"] == "I decided to use thread 6."


def test_the_users_newest_decisions_are_kept() -> None:
    kept = decisions(*(user(f"Let's use port {n} for it.") for n in range(MAX_DECISIONS + 5)))
    assert len(kept) == MAX_DECISIONS
    assert kept[0]["text"] == "Let's use port 5 for it."


def test_a_decision_has_its_alternative_and_reason() -> None:
    cases = [
        ("I decided to use SQLite rather than files.", "files", ""),
        ("I decided to use SQLite instead of files, for now.", "files", ""),
        ("I decided to use SQLite over files because it locks.", "files", "it locks"),
        ("I decided to use SQLite because it locks.", "", "it locks"),
        ("I decided to use SQLite since files tear; it is small.", "", "files tear"),
        ("I decided to use SQLite because it locks rather than files.", "files", "it locks"),
        ("I decided to use SQLite.", "", ""),
        ("I decided to go over the tests.", "", ""),
    ]
    for text, over, why in cases:
        (decision,) = decisions(reply(text))
        assert (decision["over"], decision["why"]) == (over, why), text


def question_with_options(question: str, *labels: str) -> Line:
    options = [{"label": label, "description": "…"} for label in labels]
    return {"question": question, "options": options}


def answered(*questions: Line, **answers: object) -> list[Line]:
    detail = {"questions": list(questions), "answers": answers.pop("of", answers)}
    return tool_use("AskUserQuestion", {"questions": list(questions)}, "answered", detail=detail)


@pytest.mark.parametrize(
    ("answer", "over"),
    [
        ("SQLite", "files, Redis"),
        ("SQLite, files", "Redis"),
        (["SQLite", "files"], "Redis"),
        ("none of these: keep it in memory", "SQLite, files, Redis"),
    ],
)
def test_options_that_were_not_chosen_are_the_alternative(answer: object, over: str) -> None:
    lines = answered(
        question_with_options("Which store?", "SQLite", "files", "Redis"),
        of={"Which store?": answer},
    )
    (decision,) = decisions(*lines)
    assert decision["over"] == over


def test_an_option_whose_name_is_part_of_another_is_not_counted_as_chosen() -> None:
    lines = answered(
        question_with_options("Which?", "Redis", "Redis Cluster"), of={"Which?": "Redis Cluster"}
    )
    assert decisions(*lines)[0]["over"] == "Redis"


REFUSAL = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was "
    "a file edit, the new_string was NOT written to the file)."
)
REASON_PREFIX = " To tell you how to proceed, the user said:\n"


@pytest.mark.parametrize(
    ("tool", "tool_input", "output", "text", "why"),
    [
        ("Bash", {"command": "git push"}, REFUSAL, "the user refused Bash: git push", ""),
        (
            "Bash",
            {"command": "git push"},
            f"{REFUSAL}{REASON_PREFIX}I open the pull request",
            "the user refused Bash: git push",
            "I open the pull request",
        ),
        (
            "Edit",
            {"file_path": "/srv/app/a.py"},
            f"{REFUSAL}{REASON_PREFIX}not there\n\nNote: The user's next message may follow.",
            "the user refused Edit: /srv/app/a.py",
            "not there",
        ),
        ("ExitPlanMode", {"plan": "# Retry"}, REFUSAL, "the user refused plan: # Retry", ""),
        ("exit_plan_mode", {"plan": "# Retry"}, REFUSAL, "the user refused plan: # Retry", ""),
    ],
)
def test_a_call_that_the_user_refused_is_a_rejection_by_the_user(
    tool: str, tool_input: Line, output: str, text: str, why: str
) -> None:
    kept = decisions(*tool_use(tool, tool_input, output, ok=False))
    (rejection,) = [decision for decision in kept if decision["kind"] == "rejected"]
    assert (rejection["text"], rejection["by"], rejection["why"]) == (text, "user", why)
    assert (rejection["line"], rejection["source_line"]) == (2, 1)
    assert ": ".join([rejection["label"], *rejection["quotes"]]) == text


@pytest.mark.parametrize(
    "lines",
    [
        tool_use("Bash", {"command": "ls"}, "Exit code 1", ok=False),
        tool_use("Bash", {"command": "cat x"}, REFUSAL),
        tool_use("AskUserQuestion", {"questions": []}, REFUSAL, ok=False),
        [result(REFUSAL, ok=False)],
    ],
)
def test_a_failed_call_is_no_refusal(lines: list[Line]) -> None:
    assert decisions(*lines) == []


def test_a_refused_call_that_succeeds_later_is_no_longer_rejected() -> None:
    cases = [
        (("Bash", {"command": "git push"}), ("Bash", {"command": "cd a && git push -u x"}), False),
        (
            ("Bash", {"command": "gh pr comment 172 -b a"}),
            ("Bash", {"command": "gh pr list"}),
            True,
        ),
        (("Bash", {"command": "git push"}), ("Bash", {"command": "git pull"}), True),
        (("Bash", {"command": "git push"}), ("Bash", {"command": "git push origin main"}), False),
        (("Bash", {"command": "cd a && make x"}), ("Bash", {"command": "cd a && make y"}), True),
        (("Edit", {"file_path": f"{ROOT}/a.py"}), ("Write", {"file_path": f"{ROOT}/a.py"}), False),
        (("Edit", {"file_path": f"{ROOT}/a.py"}), ("Read", {"file_path": f"{ROOT}/a.py"}), True),
        (("Edit", {"file_path": f"{ROOT}/a.py"}), ("Edit", {"file_path": f"{ROOT}/b.py"}), True),
    ]
    for refused, later, is_rejected in cases:
        lines = [*tool_use(*refused, REFUSAL, ok=False), *tool_use(*later, "done")]
        assert bool(decisions(*lines)) == is_rejected, (refused, later)


@pytest.mark.parametrize("prefix", ["Decision: ", "**Decision:** ", "- Decided: "])
def test_a_line_that_begins_with_decision_is_a_decision(prefix: str) -> None:
    (decision,) = decisions(reply(f"Done.\n{prefix}cap the delay at 30 seconds."))
    assert (decision["kind"], decision["by"]) == ("chosen", "agent")


@pytest.mark.parametrize(
    "text",
    [
        "The parser rejected the file because of its header.",
        "I tried to restart the panel but was interrupted.",
        "The feature detects content that was reverted by the user.",
        "`ec decision` adds a decision to the list of decisions.",
    ],
)
def test_statements_about_programs_and_attempts_are_no_decisions(text: str) -> None:
    assert decisions(reply(text)) == []
