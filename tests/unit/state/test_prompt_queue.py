"""Messages typed while the agent works: one request each, however the host logs them."""

from __future__ import annotations

import pytest

from holdfast.state.prompt_queue import MAX_MESSAGE_CHARS, MAX_QUEUED
from tests.unit.transcript_lines import Line, attachment, bash, line, reply, state_of, user


def queue(operation: str, content: str | None = None) -> Line:
    return line("queue-operation", operation=operation, content=content)


def typed(words: str) -> Line:
    return queue("enqueue", words)


REMOVE, DEQUEUE, POP_ALL = queue("remove"), queue("dequeue"), queue("popAll")


def requests_of(*lines: Line) -> list[tuple[str, int]]:
    return [(request["text"], request["line"]) for request in state_of(*lines)["requests"]]


def test_queue_operations_give_the_sent_messages() -> None:
    cases = [
        # Given to the agent between two steps: the queue is the only record of it.
        ([typed("and the docs"), REMOVE], [("and the docs", 1)]),
        ([typed("and the docs"), *bash("ls"), REMOVE, reply("ok")], [("and the docs", 1)]),
        ([typed("one"), typed("two"), REMOVE, REMOVE], [("one", 1), ("two", 2)]),
        # Still waiting.
        ([typed("and the docs")], []),
        ([typed("one"), typed("two"), REMOVE], [("one", 1)]),
        # Dequeued at the end of a turn: an ordinary message follows.
        ([typed("and the docs"), DEQUEUE, user("and the docs")], [("and the docs", 3)]),
        # Back into the input line.
        ([typed("one"), typed("two"), POP_ALL], []),
        ([typed("one"), POP_ALL, typed("one, better"), REMOVE], [("one, better", 3)]),
        ([typed("one"), POP_ALL, REMOVE], []),
        # From an empty queue.
        ([REMOVE, DEQUEUE, POP_ALL], []),
        ([typed("one"), REMOVE, REMOVE, DEQUEUE], [("one", 1)]),
        # Unknown operations.
        ([typed("one"), queue("shuffle"), REMOVE], [("one", 1)]),
        ([queue("enqueue"), REMOVE], []),
        ([{"type": "queue-operation"}, {"type": "queue-operation", "operation": 7}], []),
    ]
    for lines, requests in cases:
        assert requests_of(*lines) == requests, lines


def queued(words: str) -> Line:
    return attachment("queued_command", prompt=words, commandMode="prompt")


@pytest.mark.parametrize(
    ("lines", "requests"),
    [
        ([typed("and the docs"), REMOVE, queued("and the docs")], [("and the docs", 1)]),
        ([typed("and the docs"), queued("and the docs"), REMOVE], [("and the docs", 2)]),
        ([queued("and the docs")], [("and the docs", 1)]),
        ([typed("/review it"), REMOVE, queued("/review it")], [("/review it", 1)]),
        ([typed("/review it"), queued("/review it"), REMOVE], [("/review it", 2)]),
        ([queued("/model opus")], []),
    ],
)
def test_a_queued_message_logged_twice_is_one_request(
    lines: list[Line], requests: list[tuple[str, int]]
) -> None:
    assert requests_of(*lines) == requests


def test_the_same_words_typed_twice_are_two_requests() -> None:
    cases = [
        [typed("go on"), REMOVE, typed("go on"), REMOVE],
        [typed("go on"), typed("go on"), REMOVE, REMOVE],
        [typed("go on"), REMOVE, queued("go on"), typed("go on"), REMOVE, queued("go on")],
        [queued("go on"), queued("go on")],
        [user("go on"), queued("go on")],
        [typed("go on"), typed("go on"), queued("go on"), queued("go on"), REMOVE, REMOVE],
        [user("go on"), typed("go on"), REMOVE],
        [user("go on"), typed("go on"), REMOVE, queued("go on")],
    ]
    for lines in cases:
        later = [
            {**given, "timestamp": f"2026-01-05T10:00:{number:02}Z"}
            for number, given in enumerate(lines)
        ]
        assert [text for text, _ in requests_of(*later)] == ["go on", "go on"], lines


@pytest.mark.parametrize(
    ("words", "requests", "commands"),
    [
        ("/review src/worker.py", ["/review src/worker.py"], ["review"]),
        ("/review", ["/review"], ["review"]),
        ("/compact keep the plan", [], []),
        ("/clear", [], []),
        ("/model opus", [], []),
        ("/src/worker.py is wrong", ["/src/worker.py is wrong"], []),
        ("/ is the root", ["/ is the root"], []),
    ],
)
def test_a_slash_command_in_the_queue_is_a_command(
    words: str, requests: list[str], commands: list[str]
) -> None:
    state = state_of(typed(words), REMOVE)
    assert [request["text"] for request in state["requests"]] == requests
    assert [command["name"] for command in state["commands"]] == commands


@pytest.mark.parametrize(
    "words",
    [
        "<task-notification>\n<task-id>a1</task-id>\n<status>completed</status>",
        '{"task_id":"b2","status":"completed"}',
        "[SYSTEM NOTIFICATION - NOT USER INPUT]",
        "<bash-notification>done</bash-notification>",
        "   ",
    ],
)
def test_a_notice_in_the_queue_is_no_request_but_keeps_its_place(words: str) -> None:
    assert requests_of(typed(words), typed("and the docs"), REMOVE) == []
    assert requests_of(typed(words), typed("and the docs"), REMOVE, REMOVE) == [("and the docs", 2)]


def test_a_queued_prompt_sets_rules_and_answers_questions() -> None:
    state = state_of(reply("Shall I push?"), typed("Never push."), REMOVE)
    assert [(rule["text"], rule["line"]) for rule in state["rules"]] == [("Never push.", 2)]
    assert state["questions"] == []


def test_the_queue_is_bounded_and_keeps_the_newest() -> None:
    waiting = state_of(
        *(typed(f"{number} {'x' * MAX_MESSAGE_CHARS}") for number in range(MAX_QUEUED + 5))
    )["queue"]
    assert len(waiting) == MAX_QUEUED
    assert waiting[0]["text"].startswith("5 ")
    assert max(len(one["text"]) for one in waiting) == MAX_MESSAGE_CHARS


def test_a_secret_typed_into_the_queue_is_not_kept() -> None:
    (waiting,) = state_of(typed("push with ghp_" + "a1B2" * 9))["queue"]
    assert waiting["text"] == "push with [redacted:github-token]"
