"""A scripted summarizer, and conversations to test it with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import holdfast
from holdfast.conversations.conversation import Conversation
from holdfast.conversations.events import CompactionEvent
from holdfast.conversations.summarizers import Price, Reply, Usage, Work

VALID_CHECKPOINT = {"completed": ["the summary"], "in_progress": [], "pending": []}
LIMIT_TOKENS = 4000


@dataclass
class ScriptedSummarizer:
    """A summarizer with given replies, which can run a function during each call."""

    replies: list[Any] = field(default_factory=list)
    during_call: Any = None
    cost: Price | None = None
    name: str = "scripted"
    requests: list[Work] = field(default_factory=list)

    def summarize(self, work: Work) -> Reply:
        self.requests.append(work)
        if self.during_call:
            self.during_call()
        reply = self.replies.pop(0) if self.replies else VALID_CHECKPOINT
        if isinstance(reply, Exception):
            raise reply
        usage = Usage(model="m", input_tokens=1000, output_tokens=100)
        return reply if isinstance(reply, Reply) else Reply(content=reply, usage=usage)

    def price(self) -> Price | None:
        return self.cost


def fill(conversation: Conversation, tokens: int, word: str = "filler") -> None:
    """Add messages until a request would have this many tokens."""
    while conversation.preview_request().total < tokens:
        conversation.add_message("user", f"{word} " * 30)
        conversation.add_message("assistant", "noted " * 30)


def message_texts(conversation: Conversation) -> list[str]:
    return [message.text for message in conversation.messages()]


def record_events(manager: holdfast.SessionManager) -> list[CompactionEvent]:
    """Return a list to which the manager appends its events."""
    recorded: list[CompactionEvent] = []
    manager.on(recorded.append)
    return recorded


def event_kinds(recorded: list[CompactionEvent]) -> list[str]:
    return [event.kind for event in recorded]
