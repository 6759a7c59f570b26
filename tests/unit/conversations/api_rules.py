"""Rules that both APIs enforce, written down from their error messages, independent of our code."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from holdfast.tokens.estimate import estimate_tokens


def assert_anthropic_accepts(body: dict[str, Any]) -> None:
    open_calls: list[str] = []
    for number, message in enumerate(body["messages"]):
        assert set(message) == {"role", "content"}
        assert message["content"], "a message must have content"
        if number == 0:
            assert message["role"] == "user", "the first message must be the user's"
        kinds = [block["type"] for block in message["content"]]
        results = [b["tool_use_id"] for b in message["content"] if b["type"] == "tool_result"]
        assert sorted(results) == sorted(open_calls), "each call has its result in the next message"
        assert kinds[: len(results)] == ["tool_result"] * len(results), (
            "results come before other blocks"
        )
        open_calls = [b["id"] for b in message["content"] if b["type"] == "tool_use"]
        assert not open_calls or message["role"] == "assistant"
        for block in message["content"]:
            assert block["type"] != "text" or block["text"].strip(), "texts must not be blank"
    assert not open_calls, "the last call has no result"


def assert_openai_accepts(body: dict[str, Any]) -> None:
    open_calls: list[str] = []
    for message in body["messages"]:
        if message["role"] == "tool":
            assert message["tool_call_id"] in open_calls, (
                "a tool message belongs to an earlier call"
            )
            open_calls.remove(message["tool_call_id"])
            continue
        assert not open_calls, "each call has its result before the next message"
        calls = message.get("tool_calls", [])
        assert message["content"] or calls
        for call in calls:
            assert isinstance(call["function"]["arguments"], str)
        open_calls = [call["id"] for call in calls]
    assert not open_calls, "the last call has no result"


def iter_texts(value: Any) -> Iterator[str]:
    """Yield all texts of a request body that the model reads."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for part in value:
            yield from iter_texts(part)
    elif isinstance(value, dict):
        for name, part in value.items():
            if name == "input":
                yield json.dumps(part)
            elif name not in ("type", "role", "id", "tool_use_id", "tool_call_id"):
                yield from iter_texts(part)


def count_tokens(body: dict[str, Any]) -> int:
    """Return the estimated tokens of a request body."""
    return sum(estimate_tokens(text) for text in iter_texts(body))


def get_text(body: dict[str, Any]) -> str:
    """Return all text of a request body that the model reads."""
    return "\n".join(iter_texts(body))
