"""Messages typed while the agent works: one request each, however the host logs them."""

from __future__ import annotations

import pytest

from holdfast.state.prompt_queue import MAX_MESSAGE_CHARS, MAX_QUEUED
from tests.unit.transcript_lines import Line, attachment, bash, line, reply, state_of, user


def queue(operation: str, content: str | None = None) -> Line:
    return line("queue-operation", operation=operation, content=content)


def typed(text: str) -> Line:
    return queue("enqueue", text)


REMOVE, DEQUEUE, POP_ALL = queue("remove"), queue("dequeue"), queue("popAll")


def requests_of(*lines: Line) -> list[tuple[str, int]]:
    return [(request["text"], request["line"]) for request in state_of(*lines)["requests"]]


def test_queue_operations_give_the_sent_messages() -> None:
    cases = [
        # Sent to the agent between two steps: only the queue records it.
        ([typed("and the docs"), REMOVE], [("and the docs", 1)]),
        ([typed("and the docs"), *bash("ls"), REMOVE, reply("ok")], [("and the docs", 1)]),
        ([typed("one"), typed("two"), REMOVE, REMOVE], [("one", 1), ("two", 2)]),
        # Still waiting.
        ([typed("and the docs")], []),
        ([typed("one"), typed("two"), REMOVE], [("one", 1)]),
        # Dequeued at the end of a turn: an ordinary message follows.
        ([typed("and the docs"), DEQUEUE, user("and the docs")], [("and the docs", 3)]),
        # Moved back into the input line.
        ([typed("one"), typed("two"), POP_ALL], []),
        ([typed("one"), POP_ALL, typed("one, better"), REMOVE], [("one, better", 3)]),
        ([typed("one"), POP_ALL, REMOVE], []),
        # Operations on an empty queue.
        ([REMOVE, DEQUEUE, POP_ALL], []),
        ([typed("one"), REMOVE, REMOVE, DEQUEUE], [("one", 1)]),
        # Unknown operations.
        ([typed("one"), queue("shuffle"), REMOVE], [("one", 1)]),
        ([queue("enqueue"), REMOVE], []),
        ([{"type": "queue-operation"}, {"type": "queue-operation", "operation": 7}], []),
    ]
    for lines, requests in cases:
        assert requests_of(*lines) == requests, lines


def queued(text: str) -> Line:
    return attachment("queued_command", prompt=text, commandMode="prompt")


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


def test_the_same_text_typed_twice_is_two_requests() -> None:
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
        timestamped = [
            {**entry, "timestamp": f"2026-01-05T10:00:{second:02}Z"}
            for second, entry in enumerate(lines)
        ]
        assert [request for request, _ in requests_of(*timestamped)] == ["go on", "go on"], lines


@pytest.mark.parametrize(
    ("text", "requests", "commands"),
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
    text: str, requests: list[str], commands: list[str]
) -> None:
    state = state_of(typed(text), REMOVE)
    assert [request["text"] for request in state["requests"]] == requests
    assert [command["name"] for command in state["commands"]] == commands


@pytest.mark.parametrize(
    "text",
    [
        "<task-notification>\n<task-id>a1</task-id>\n<status>completed</status>",
        '{"task_id":"b2","status":"completed"}',
        "[SYSTEM NOTIFICATION - NOT USER INPUT]",
        "<bash-notification>done</bash-notification>",
        "   ",
    ],
)
def test_a_notification_in_the_queue_keeps_its_position_but_is_no_request(text: str) -> None:
    assert requests_of(typed(text), typed("and the docs"), REMOVE) == []
    assert requests_of(typed(text), typed("and the docs"), REMOVE, REMOVE) == [("and the docs", 2)]


def test_a_queued_prompt_sets_rules_and_answers_questions() -> None:
    state = state_of(reply("Shall I push?"), typed("Never push."), REMOVE)
    assert [(rule["text"], rule["line"]) for rule in state["rules"]] == [("Never push.", 2)]
    assert state["questions"] == []


def test_the_queue_is_bounded_and_keeps_the_newest() -> None:
    queued_messages = state_of(
        *(typed(f"{number} {'x' * MAX_MESSAGE_CHARS}") for number in range(MAX_QUEUED + 5))
    )["queue"]
    assert len(queued_messages) == MAX_QUEUED
    assert queued_messages[0]["text"].startswith("5 ")
    assert max(len(message["text"]) for message in queued_messages) == MAX_MESSAGE_CHARS


def test_a_secret_typed_into_the_queue_is_redacted() -> None:
    (message,) = state_of(typed("push with ghp_" + "a1B2" * 9))["queue"]
    assert message["text"] == "push with [redacted:github-token]"
