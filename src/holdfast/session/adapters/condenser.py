"""For agents that keep an append-only log of events and show the model a view of it, as OpenHands
does: the log stays whole, the view fits the window.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from holdfast.session.conversation import Conversation

Message = Mapping[str, Any]


class HoldfastCondenser:
    """`as_message` says which message an event is, or None if the model is not to see it."""

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
        """The view of the whole log: what is new in it is taken in first, by whichever process."""
        messages = [one for event in events if (one := self._as_message(event)) is not None]
        for message in messages[self._conversation.metrics().messages :]:
            self._conversation.add_message(message)
        body: list[dict[str, Any]] = self._conversation.build_request(self._shape)["messages"]
        return body
