"""Requests are the prompts of the user, verbatim: the first and the latest are kept."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.state.rules.requests import MAX_REQUEST_CHARS, MAX_REQUESTS
from tests.unit.transcript_lines import (
    AT,
    Line,
    attachment,
    bash,
    reply,
    result,
    state_of,
    summary,
    tool_use,
    user,
)


def texts(*lines: Line) -> list[str]:
    return [request["text"] for request in state_of(*lines)["requests"]]


def test_a_request_is_kept_verbatim_with_its_line_and_time() -> None:
    prompt = "  Fix `run()`:\n\n- it *loops*\n\tfor ever — “why?”  "
    assert state_of(reply("Hello."), user(prompt))["requests"] == [
        {"text": prompt.strip(), "line": 2, "at": AT}
    ]


def test_a_message_that_refers_to_the_last_sentence_has_it_as_context() -> None:
    said = reply("I linked the commit. The link is in the trailer.")
    (request,) = state_of(said, user("no, remove that again"))["requests"]
    assert request["context"] == "The link is in the trailer."
    (request,) = state_of(said, user("now write the docs"))["requests"]
    assert "context" not in request


def test_only_text_typed_by_the_user_is_a_request() -> None:
    cases = [
        (user("and the docs"), True),
        (attachment("queued_command", prompt="and the docs"), True),
        (user("and the docs", isMeta=True), False),
        (user("and the docs", isSidechain=True), False),
        (user("[Request interrupted by user]"), False),
        (summary(), False),
        (result("and the docs"), False),
        (reply("and the docs"), False),
        (user("/compact"), False),
    ]
    for line, is_request in cases:
        assert texts(user("Fix it"), line) == ["Fix it", "and the docs"][: 1 + is_request], line


def test_the_first_and_the_latest_requests_are_kept() -> None:
    state = state_of(*(user(f"request {n}") for n in range(MAX_REQUESTS + 30)))
    kept = [request["text"] for request in state["requests"]]
    assert kept == ["request 0", *(f"request {n}" for n in range(31, MAX_REQUESTS + 30))]
    assert state["requests_dropped"] == 30


def test_a_very_long_request_keeps_its_beginning_and_its_end() -> None:
    (kept,) = texts(user("Read this. " + "x" * 2 * MAX_REQUEST_CHARS + " What went wrong?"))
    assert kept.startswith("Read this. xxx")
    assert kept.endswith("xxx What went wrong?")
    assert len(kept) <= MAX_REQUEST_CHARS


def test_a_short_request_has_the_question_that_it_answers() -> None:
    state = state_of(reply("Two ways are open. Which one do you want?"), user("the second"))
    assert state["requests"][0]["question"] == "Which one do you want?"
    state = state_of(reply("Which one do you want?"), user("Please do this instead. " * 20))
    assert "question" not in state["requests"][0]


def test_a_secret_in_a_request_is_redacted() -> None:
    token = "ghp_" + "a1B2" * 9
    (kept,) = texts(user(f"push with {token} please"))
    assert token not in kept
    assert kept.startswith("push with [redacted:")
    assert kept.endswith("] please")


def test_the_same_prompt_sent_twice_is_two_requests() -> None:
    lines = [user("go on", timestamp="2026-01-05T10:00:00Z"), *bash("ls")]
    assert texts(*lines, user("go on", timestamp="2026-01-05T10:09:00Z")) == ["go on", "go on"]


def test_a_request_that_the_client_logs_twice_is_one_request() -> None:
    """A second compaction in one process repeats old messages with their old timestamps."""
    first = user("Fix it", timestamp="2026-01-05T10:00:00Z")
    second = user("Now the docs", timestamp="2026-01-05T10:09:00Z")
    assert texts(first, second, summary(), first) == ["Fix it", "Now the docs"]


def slash_command(name: str, args: str = "") -> Line:
    return user(f"<command-name>/{name}</command-name><command-args>{args}</command-args>")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (slash_command("review", "src/worker.py, please"), ["/review src/worker.py, please"]),
        (slash_command("plan-phase"), ["/plan-phase"]),
        (slash_command("gsd:plan", "12"), ["/gsd:plan 12"]),
        (slash_command("compact", "keep the plan"), []),
        (slash_command("model", "opus"), []),
        (slash_command("clear"), []),
        (slash_command(""), []),
    ],
)
def test_a_command_is_a_request_unless_it_is_built_in(line: Line, expected: list[str]) -> None:
    assert texts(line) == expected


REFUSAL_PREFIX = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected. "
    "To tell you how to proceed, the user said:\n"
)


def test_the_reason_of_a_refused_call_is_a_request() -> None:
    cases = [
        (f"{REFUSAL_PREFIX}use the queue", False, ["use the queue"]),
        (
            f"{REFUSAL_PREFIX}use\n\nthe queue\n\nNote: The user's next message may…",
            False,
            ["use\n\nthe queue"],
        ),
        (f"{REFUSAL_PREFIX}", False, []),
        (f"{REFUSAL_PREFIX}use the queue", True, []),
        ("The user doesn't want to proceed with this tool use.", False, []),
        (f"{REFUSAL_PREFIX}The user wants to clarify these questions.\n…", False, []),
        (f"{REFUSAL_PREFIX}[Request interrupted by user]", False, []),
        ("Exit code 1\nTraceback", False, []),
    ]
    for output, ok, expected in cases:
        assert texts(*tool_use("Bash", {"command": "rm a"}, output, ok=ok)) == expected, (
            output,
            ok,
        )


def answered(answers: Any, *labels: str, ok: bool = True) -> list[Line]:
    question = {"question": "How?", "options": [{"label": label} for label in labels]}
    detail = {"questions": [question], "answers": answers}
    return tool_use("AskUserQuestion", {"questions": [question]}, "answered", ok=ok, detail=detail)


def test_a_typed_answer_is_a_request_and_a_choice_is_not() -> None:
    cases = [
        (answered({"How?": "with its own queue"}, "Lock", "Queue"), ["with its own queue"]),
        (answered({"How?": "Queue, but bounded"}, "Lock", "Queue"), ["Queue, but bounded"]),
        (answered({"How?": "Queue"}, "Lock", "Queue"), []),
        (answered({"How?": "Lock, Queue"}, "Lock", "Queue"), []),
        (answered({"How?": ["Lock", "Queue"]}, "Lock", "Queue"), []),
        (answered({"How?": ""}, "Lock", "Queue"), []),
        (answered({"How?": "Queue"}), []),
        (answered({"How?": "own words"}, "Lock", ok=False), []),
        (answered(["own words"], "Lock"), []),
        (answered({"How?": "Redis Cluster"}, "Redis", "Redis Cluster"), []),
    ]
    for lines, expected in cases:
        assert texts(*lines) == expected, lines


def test_a_typed_answer_keeps_its_question() -> None:
    lines = answered({"How?": "with its own queue"}, "Lock", "Queue")
    assert state_of(*lines, user("go on"))["requests"][0]["question"] == "How?"
    assert "question" not in state_of(*lines, user("go on"))["requests"][1]


def test_an_interrupted_request_has_the_line_of_the_interruption() -> None:
    interruption = user("[Request interrupted by user for tool use]")
    requests = state_of(interruption, user("go"), interruption, user("go slowly"))["requests"]
    assert [request.get("stopped") for request in requests] == [3, None]


def test_a_long_text_repeated_at_once_is_one_request_and_a_short_text_two() -> None:
    long = "Please look at the worker. " * 20
    first, second = {"timestamp": "2026-01-05T10:00:00Z"}, {"timestamp": "2026-01-05T10:01:00Z"}
    assert len(texts(user(long, **first), user(long, **second))) == 1
    assert len(texts(user("go on", **first), user("go on", **second))) == 2
    assert len(texts(user(long, **first), user("no", **second), user(long, **second))) == 3
