"""The rules of both APIs, taken from their error messages and independent of our code."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from holdfast.tokens.estimate import estimate_tokens


def assert_anthropic_accepts(body: dict[str, Any]) -> None:
    waiting: list[str] = []
    for number, message in enumerate(body["messages"]):
        assert set(message) == {"role", "content"}
        assert message["content"], "a message must have content"
        if number == 0:
            assert message["role"] == "user", "the first message must be the user's"
        kinds = [block["type"] for block in message["content"]]
        results = [b["tool_use_id"] for b in message["content"] if b["type"] == "tool_result"]
        assert sorted(results) == sorted(waiting), "every call is answered in the next message"
        assert kinds[: len(results)] == ["tool_result"] * len(results), "results come first"
        waiting = [b["id"] for b in message["content"] if b["type"] == "tool_use"]
        assert not waiting or message["role"] == "assistant"
        for block in message["content"]:
            assert block["type"] != "text" or block["text"].strip(), "texts must not be blank"
    assert not waiting, "the last call has no result"


def assert_openai_accepts(body: dict[str, Any]) -> None:
    waiting: list[str] = []
    for message in body["messages"]:
        if message["role"] == "tool":
            assert message["tool_call_id"] in waiting, "a tool message answers a call before it"
            waiting.remove(message["tool_call_id"])
            continue
        assert not waiting, "every call is answered before anybody speaks"
        calls = message.get("tool_calls", [])
        assert message["content"] or calls
        for call in calls:
            assert isinstance(call["function"]["arguments"], str)
        waiting = [call["id"] for call in calls]
    assert not waiting, "the last call has no result"


def strings(value: Any) -> Iterator[str]:
    """All text of a request body that the model reads."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for part in value:
            yield from strings(part)
    elif isinstance(value, dict):
        for name, part in value.items():
            if name == "input":
                yield json.dumps(part)
            elif name not in ("type", "role", "id", "tool_use_id", "tool_call_id"):
                yield from strings(part)


def tokens(body: dict[str, Any]) -> int:
    return sum(estimate_tokens(text) for text in strings(body))


def told(body: dict[str, Any]) -> str:
    return "\n".join(strings(body))
