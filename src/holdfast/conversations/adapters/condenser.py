"""A condenser for agents with an append-only event log of which the model sees a view, as in
OpenHands: the log stays complete, the view fits the window.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from holdfast.conversations.conversation import Conversation

Message = Mapping[str, Any]


class HoldfastCondenser:
    """`as_message` converts an event to a message, or to None if the model does not see it."""

    def __init__(
        self,
        conversation: Conversation,
        *,
        as_message: Callable[[Any], Message | None] = lambda event: event,
        shape: str = "openai",
    ) -> None:
        self._conversation = conversation
        self._as_message = as_message
        self._shape = shape

    def condense(self, events: Sequence[Any]) -> list[dict[str, Any]]:
        """Add the new events of the log to the conversation; returns the messages for the model."""
        converted = (self._as_message(event) for event in events)
        messages = [message for message in converted if message is not None]
        for message in messages[self._conversation.metrics().messages :]:
            self._conversation.add_message(message)
        body: list[dict[str, Any]] = self._conversation.build_request(self._shape)["messages"]
        return body
