"""A brief from messages of either API, for people who build agents."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.conversations.message import to_message
from holdfast.errors import InvalidInput

TEST_OUTPUT = "FAILED tests/test_queue.py::test_retry\nE   assert 3 == 4\n1 failed, 8 passed"
PAGE = Path(__file__).parents[3] / "docs/how-to/brief-from-messages.md"
SYSTEM: dict[str, Any] = {"role": "system", "content": "You are a careful engineer."}


def anthropic_messages() -> list[dict[str, Any]]:
    test = {"type": "tool_use", "id": "a", "name": "bash", "input": {"command": "pytest -q"}}
    arguments = {
        "command": "str_replace", "path": "/app/src/queue.py", "old_str": "a = 1",
        "new_str": "a = 2",
    }  # fmt: skip
    edit = {
        "type": "tool_use", "id": "b", "name": "str_replace_based_edit_tool", "input": arguments
    }  # fmt: skip
    return [
        SYSTEM,
        {"role": "user", "content": "Fix the retry of the queue. Never touch migrations/."},
        {"role": "assistant", "content": [{"type": "text", "text": "I edit it."}, edit]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "b", "content": "ok"}]},
        {"role": "assistant", "content": [test]},
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "a", "content": TEST_OUTPUT}],
        },
    ]


def openai_messages() -> list[dict[str, Any]]:
    def call(ident: str, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        function = {"name": name, "arguments": json.dumps(arguments)}
        return {"id": ident, "type": "function", "function": function}

    edit = {"path": "/app/src/queue.py", "old_string": "a = 1", "new_string": "a = 2"}
    return [
        {**SYSTEM, "role": "developer"},
        {"role": "user", "content": "Fix the retry of the queue. Never touch migrations/."},
        {
            "role": "assistant",
            "content": "I edit it.",
            "tool_calls": [call("b", "edit_file", edit)],
        },
        {"role": "tool", "tool_call_id": "b", "content": "ok"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [call("a", "run_command", {"command": ["pytest", "-q"]})],
        },
        {"role": "tool", "tool_call_id": "a", "content": TEST_OUTPUT},
    ]


@pytest.mark.parametrize("messages", [anthropic_messages(), openai_messages()])
def test_a_brief_of_either_apis_messages_has_request_rule_failure_and_file(
    messages: list[dict[str, Any]],
) -> None:
    brief = holdfast.build_brief(messages, budget=1500)
    assert "“Fix the retry of the queue. Never touch migrations/.”" in brief.text
    assert "- “Never touch migrations/.” (L2)" in brief.text
    assert "`pytest -q` fails" in brief.text
    assert "assert 3 == 4" in brief.text
    assert "queue.py" in brief.text
    assert "careful engineer" not in brief.text
    assert "(L12) is message 12 of the conversation." in brief.text
    assert "holdfast recall" not in brief.text


def test_both_apis_give_the_same_brief_of_the_same_work() -> None:
    first, second = (
        holdfast.build_brief(messages) for messages in (anthropic_messages(), openai_messages())
    )
    assert [(item.kind, item.line) for item in first.shown] == [
        (item.kind, item.line) for item in second.shown
    ]


@pytest.mark.parametrize("budget", [60, 120, 400, 2000])
def test_a_brief_stays_within_its_budget(budget: int) -> None:
    messages = [
        message
        for number in range(200)
        for message in (
            {"role": "user", "content": f"Look at table {number} of the queue, please. " * 5},
            {"role": "assistant", "content": f"Table {number} has no index. " * 8},
        )
    ]
    brief = holdfast.build_brief(messages, budget=budget)
    assert 0 < brief.tokens <= budget
    assert ("truncated" in brief.text) == bool(brief.left_out)


def test_what_the_summary_says_is_left_out_of_the_brief() -> None:
    request = anthropic_messages()[1]["content"]
    brief = holdfast.build_brief(anthropic_messages(), summary=f'The user said: "{request}"')
    assert request in holdfast.build_brief(anthropic_messages()).text
    assert request not in brief.text


def test_messages_of_a_conversation_can_be_given_as_they_are() -> None:
    messages = [to_message("user", "Fix the retry of the queue.")]
    assert "Fix the retry of the queue." in holdfast.build_brief(messages).text


def test_secrets_in_messages_are_not_in_the_brief() -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    brief = holdfast.build_brief([{"role": "user", "content": f"Deploy the app with {token} now."}])
    assert "Deploy the app" in brief.text
    assert token not in brief.text


def test_invalid_input_is_refused_with_a_hint() -> None:
    messages: Any
    for messages in ("text", {"role": "user", "content": "x"}, [7], [{"role": "narrator"}]):
        with pytest.raises(InvalidInput):
            holdfast.build_brief(messages)
    with pytest.raises(InvalidInput, match="at least 50 tokens") as caught:
        holdfast.build_brief([], budget=10)
    assert "2000" in caught.value.hint


def test_the_example_of_the_how_to_page_prints_the_items_on_the_page() -> None:
    blocks = PAGE.read_text(encoding="utf-8").split("```")
    program, expected = blocks[1].removeprefix("python\n"), blocks[3]
    process = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    items = [line for line in expected.splitlines() if line.startswith("- ")]
    assert len(items) >= 2
    assert [item for item in items if item not in process.stdout] == []


def test_importing_the_package_does_not_import_the_library() -> None:
    program = "import sys, holdfast; print([n for n in sys.modules if n.startswith('holdfast.')])"
    process = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    assert process.stdout.strip() == "[]"
