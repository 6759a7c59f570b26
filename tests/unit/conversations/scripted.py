"""A scripted summarizer, and conversations to test it with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import holdfast
from holdfast.conversations.conversation import Conversation
from holdfast.conversations.events import Event
from holdfast.conversations.summarizers import Price, Reply, Usage, Work

GOOD = {"completed": ["the summary"], "in_progress": [], "pending": []}
LIMIT = 4000


@dataclass
class Scripted:
    """A summarizer with scripted replies, which may run a function during each call."""

    replies: list[Any] = field(default_factory=list)
    meanwhile: Any = None
    cost: Price | None = None
    name: str = "scripted"
    works: list[Work] = field(default_factory=list)

    def summarize(self, work: Work) -> Reply:
        self.works.append(work)
        if self.meanwhile:
            self.meanwhile()
        reply = self.replies.pop(0) if self.replies else GOOD
        if isinstance(reply, Exception):
            raise reply
        usage = Usage(model="m", input_tokens=1000, output_tokens=100)
        return reply if isinstance(reply, Reply) else Reply(content=reply, usage=usage)

    def price(self) -> Price | None:
        return self.cost


def fill(conversation: Conversation, tokens: int, word: str = "filler") -> None:
    while conversation.preview_request().total < tokens:
        conversation.add_message("user", f"{word} " * 30)
        conversation.add_message("assistant", "noted " * 30)


def texts(conversation: Conversation) -> list[str]:
    return [message.text for message in conversation.messages()]


def heard(manager: holdfast.SessionManager) -> list[Event]:
    found: list[Event] = []
    manager.on(found.append)
    return found


def kinds(found: list[Event]) -> list[str]:
    return [event.kind for event in found]
