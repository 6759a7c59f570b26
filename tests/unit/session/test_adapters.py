"""Adapters: a log is taken in once, whoever reads it, and a history gives what fits."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.session.adapters.condenser import HoldfastCondenser

from .api_rules import assert_openai_accepts, tokens
from .conftest import Make


def test_a_log_read_again_by_another_process_is_not_taken_in_twice(manager: Make) -> None:
    log: list[Any] = [{"role": "user", "content": "go"}, None]
    options: dict[str, Any] = {"as_message": lambda event: event}
    first = HoldfastCondenser(manager().get_or_create("s1"), **options)
    assert [one["content"] for one in first.condense(log)] == ["go"]
    log += [{"role": "assistant", "content": "done"}, None, {"role": "user", "content": "more"}]
    again = manager().get_or_create("s1")
    view = HoldfastCondenser(again, **options).condense(log)
    assert [one["content"] for one in view] == ["go", "done", "more"]
    assert first.condense(log) == view
    assert again.metrics().messages == 3


def test_a_langchain_history_always_fits(manager: Make) -> None:
    messages = pytest.importorskip("langchain_core.messages", reason="langchain is not installed")
    from holdfast.session.adapters.langchain import HoldfastChatHistory

    conversation = manager(limit=2000).get_or_create("s1")
    history = HoldfastChatHistory(conversation)
    call = {"name": "look", "args": {"at": "x"}, "id": "c1", "type": "tool_call"}
    history.add_messages([
        messages.HumanMessage("Never push."),
        messages.AIMessage("", tool_calls=[call]),
        messages.ToolMessage("seen", tool_call_id="c1"),
    ])  # fmt: skip
    assert [message.type for message in history.messages] == ["human", "ai", "tool"]
    assert history.messages[1].tool_calls[0]["args"] == {"at": "x"}
    for number in range(60):
        history.add_user_message(f"question {number} " + "about the queue " * 9)
        history.add_ai_message("answered " * 20)
    given = messages.convert_to_openai_messages(history.messages)
    assert_openai_accepts({"messages": given})
    assert tokens({"messages": given}) <= 2000
    assert "Never push." in given[0]["content"]
    history.clear()
    assert len(history.messages) == 1, "the checkpoint stays"
