"""LangChain: a middleware that keeps an agent's requests within the window, and a chat history.

The messages in the agent's own state stay as they are; only what the model is sent is fitted.
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

from holdfast.session.conversation import Conversation


class HoldfastMiddleware(AgentMiddleware[Any, Any, Any]):
    """One for each conversation: `create_agent(model, middleware=[HoldfastMiddleware(chat)])`."""

    def __init__(self, conversation: Conversation) -> None:
        super().__init__()
        self._conversation = conversation

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Any]
    ) -> Any:
        return handler(self._fitted(request))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[Any]]
    ) -> Any:
        return await handler(self._fitted(request))

    def _fitted(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        told = request.system_message
        if told is not None:
            self._conversation.set_agent_description(str(told.text))
        take_in(self._conversation, request.messages)
        messages: list[Any] = list(fitting(self._conversation))
        return request.override(messages=messages)


class HoldfastChatHistory(BaseChatMessageHistory):
    """A history whose messages always fit; `clear` forgets what is in no checkpoint yet."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]
        return fitting(self._conversation)

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        for message in messages:
            _add(self._conversation, message)

    def clear(self) -> None:
        self._conversation.clear_messages()


def take_in(conversation: Conversation, messages: Sequence[BaseMessage]) -> None:
    """Keep those that are new: an agent's messages only grow."""
    said = [message for message in messages if not isinstance(message, SystemMessage)]
    for message in said[conversation.metrics().messages :]:
        _add(conversation, message)


def _add(conversation: Conversation, message: BaseMessage) -> None:
    given: Any = convert_to_openai_messages(message)
    if isinstance(message, AIMessage) and not isinstance(given.get("content"), str):
        given = {**given, "content": str(message.text)}
    conversation.add_message(given)


def fitting(conversation: Conversation) -> list[BaseMessage]:
    """What the model is to be sent, without the system message, which the agent adds itself."""
    body = conversation.build_request("openai")["messages"]
    return convert_to_messages([one for one in body if one["role"] != "system"])
