"""LangChain: a middleware that keeps an agent's requests within the window, and a chat history.

The messages in the agent's own state stay unchanged; only the request to the model is shortened.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from langchain.agents.middleware import AgentMiddleware, ModelRequest
from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    SystemMessage,
    convert_to_messages,
    convert_to_openai_messages,
)

from holdfast.conversations.conversation import Conversation


class HoldfastMiddleware(AgentMiddleware[Any, Any, Any]):
    """For one conversation: `create_agent(model, middleware=[HoldfastMiddleware(chat)])`."""

    def __init__(self, conversation: Conversation) -> None:
        super().__init__()
        self._conversation = conversation

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Any]
    ) -> Any:
        return handler(self._shorten(request))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[Any]]
    ) -> Any:
        return await handler(self._shorten(request))

    def _shorten(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        system = request.system_message
        if system is not None:
            self._conversation.set_agent_description(str(system.text))
        add_new_messages(self._conversation, request.messages)
        messages: list[Any] = list(build_messages(self._conversation))
        return request.override(messages=messages)


class HoldfastChatHistory(BaseChatMessageHistory):
    """A history whose messages always fit; `clear` deletes messages that are in no checkpoint."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]
        return build_messages(self._conversation)

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        for message in messages:
            _add_message(self._conversation, message)

    def clear(self) -> None:
        self._conversation.clear_messages()


def add_new_messages(conversation: Conversation, messages: Sequence[BaseMessage]) -> None:
    """Add the messages that are new; an agent's list of messages only grows."""
    without_system = [message for message in messages if not isinstance(message, SystemMessage)]
    for message in without_system[conversation.metrics().messages :]:
        _add_message(conversation, message)


def _add_message(conversation: Conversation, message: BaseMessage) -> None:
    converted: Any = convert_to_openai_messages(message)
    if isinstance(message, AIMessage) and not isinstance(converted.get("content"), str):
        converted = {**converted, "content": str(message.text)}
    conversation.add_message(converted)


def build_messages(conversation: Conversation) -> list[BaseMessage]:
    """Return the messages for the model without the system message: the agent adds it itself."""
    body = conversation.build_request("openai")["messages"]
    return convert_to_messages([message for message in body if message["role"] != "system"])
