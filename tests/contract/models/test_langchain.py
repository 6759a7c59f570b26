"""The LangChain history returns messages that fit the window."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.conversations.conversation import Conversation
from holdfast.conversations.manager import SessionManager
from tests.unit.conversations.api_rules import assert_openai_accepts, count_tokens


@pytest.fixture
def conversation(tmp_path: Path) -> Iterator[Conversation]:
    with SessionManager(tmp_path / "holdfast.db", limit=2000) as manager:
        yield manager.get_or_create("s1")


def test_a_langchain_history_always_fits_the_window(conversation: Conversation) -> None:
    messages = pytest.importorskip("langchain_core.messages", reason="langchain is not installed")
    from holdfast.conversations.adapters.langchain import HoldfastChatHistory

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
    openai_messages = messages.convert_to_openai_messages(history.messages)
    assert_openai_accepts({"messages": openai_messages})
    assert count_tokens({"messages": openai_messages}) <= 2000
    assert "Never push." in openai_messages[0]["content"]
    history.clear()
    assert len(history.messages) == 1, "the checkpoint is kept"
