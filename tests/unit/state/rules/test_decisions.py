"""What was decided, what was ruled out, and by whom."""

from __future__ import annotations

import pytest

from holdfast.state.model import Decision
from holdfast.state.rules.decisions import LONGEST, MOST
from tests.unit.transcript_lines import ROOT, Line, reply, result, state_of, used, user


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
    told = decisions(*lines)
    assert [(one["text"], one["by"], one["kind"]) for one in told] == [
        ("Which store? — SQLite", "user", "chosen"),
        ("Which port? — 80, 81", "user", "chosen"),
    ]
    assert [one["quotes"] for one in told] == [
        ["Which store?", "SQLite"],
        ["Which port?", "80, 81"],
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
        "label": "plan approved",
        "quotes": ["# Retry 1. Wait"],
        "told": 1,
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


@pytest.mark.parametrize(
    ("words", "over", "why"),
    [
        ("I decided to use SQLite rather than files.", "files", ""),
        ("I decided to use SQLite instead of files, for now.", "files", ""),
        ("I decided to use SQLite over files because it locks.", "files", "it locks"),
        ("I decided to use SQLite because it locks.", "", "it locks"),
        ("I decided to use SQLite since files tear; it is small.", "", "files tear"),
        ("I decided to use SQLite because it locks rather than files.", "files", "it locks"),
        ("I decided to use SQLite.", "", ""),
        ("I decided to go over the tests.", "", ""),
    ],
)
def test_a_decision_says_over_what_and_why(words: str, over: str, why: str) -> None:
    (told,) = decisions(reply(words))
    assert (told["over"], told["why"]) == (over, why)


def choice(question: str, *labels: str) -> Line:
    options = [{"label": label, "description": "…"} for label in labels]
    return {"question": question, "options": options}


def answered(*questions: Line, **answers: object) -> list[Line]:
    detail = {"questions": list(questions), "answers": answers.pop("of", answers)}
    return used("AskUserQuestion", {"questions": list(questions)}, "answered", detail=detail)


@pytest.mark.parametrize(
    ("answer", "over"),
    [
        ("SQLite", "files, Redis"),
        ("SQLite, files", "Redis"),
        (["SQLite", "files"], "Redis"),
        ("none of these: keep it in memory", "SQLite, files, Redis"),
    ],
)
def test_the_choices_not_taken_are_what_was_chosen_over(answer: object, over: str) -> None:
    lines = answered(
        choice("Which store?", "SQLite", "files", "Redis"), of={"Which store?": answer}
    )
    (told,) = decisions(*lines)
    assert told["over"] == over


def test_a_choice_that_is_part_of_another_was_not_taken() -> None:
    lines = answered(choice("Which?", "Redis", "Redis Cluster"), of={"Which?": "Redis Cluster"})
    assert decisions(*lines)[0]["over"] == "Redis"


REFUSAL = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was "
    "a file edit, the new_string was NOT written to the file)."
)
SAID = " To tell you how to proceed, the user said:\n"


@pytest.mark.parametrize(
    ("tool", "given", "output", "text", "why"),
    [
        ("Bash", {"command": "git push"}, REFUSAL, "the user refused Bash: git push", ""),
        (
            "Bash",
            {"command": "git push"},
            f"{REFUSAL}{SAID}I open the pull request",
            "the user refused Bash: git push",
            "I open the pull request",
        ),
        (
            "Edit",
            {"file_path": "/srv/app/a.py"},
            f"{REFUSAL}{SAID}not there\n\nNote: The user's next message may follow.",
            "the user refused Edit: /srv/app/a.py",
            "not there",
        ),
        ("ExitPlanMode", {"plan": "# Retry"}, REFUSAL, "the user refused plan: # Retry", ""),
        ("exit_plan_mode", {"plan": "# Retry"}, REFUSAL, "the user refused plan: # Retry", ""),
        ("mcp__x__y", {}, REFUSAL, "the user refused mcp__x__y", ""),
    ],
)
def test_a_call_that_the_user_refused_was_ruled_out_by_them(
    tool: str, given: Line, output: str, text: str, why: str
) -> None:
    told = [
        one for one in decisions(*used(tool, given, output, ok=False)) if one["kind"] == "rejected"
    ]
    assert [(one["text"], one["by"], one["why"], one["line"]) for one in told] == [
        (text, "user", why, 2)
    ]
    assert [": ".join([one["label"], *one["quotes"]]) for one in told] == [text]
    assert [one["told"] for one in told] == [1]


@pytest.mark.parametrize(
    "lines",
    [
        used("Bash", {"command": "ls"}, "Exit code 1", ok=False),
        used("Bash", {"command": "cat x"}, REFUSAL),
        used("AskUserQuestion", {"questions": []}, REFUSAL, ok=False),
        [result(REFUSAL, ok=False)],
    ],
)
def test_what_only_failed_was_not_refused(lines: list[Line]) -> None:
    assert decisions(*lines) == []


@pytest.mark.parametrize(
    ("refused", "later", "stands"),
    [
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
    ],
)
def test_what_was_refused_once_and_done_later_is_not_ruled_out(
    refused: tuple[str, Line], later: tuple[str, Line], stands: bool
) -> None:
    lines = [*used(*refused, REFUSAL, ok=False), *used(*later, "done")]
    assert bool(decisions(*lines)) == stands


@pytest.mark.parametrize("mark", ["Decision: ", "**Decision:** ", "- Decided: "])
def test_what_an_agent_writes_down_as_a_decision_is_one(mark: str) -> None:
    (made,) = decisions(reply(f"Done.\n{mark}cap the delay at 30 seconds."))
    assert (made["kind"], made["by"]) == ("chosen", "agent")


@pytest.mark.parametrize(
    "words",
    [
        "The parser rejected the file because of its header.",
        "I tried to restart the panel but was interrupted.",
        "The feature detects content that was reverted by the user.",
        "`ec decision` adds a decision to the list of decisions.",
    ],
)
def test_what_programs_reject_and_agents_try_is_no_decision(words: str) -> None:
    assert decisions(reply(words)) == []
