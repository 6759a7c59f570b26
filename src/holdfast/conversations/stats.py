"""Figures of a conversation: the size of the next request, how full it is, and totals so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["ok", "warning", "full"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """The estimated tokens of the next request."""

    agent_description: int
    project_context: int
    checkpoint: int
    messages: int
    user_prompt: int
    limit: int
    trigger: int

    @property
    def total(self) -> int:
        fixed = self.agent_description + self.project_context
        return fixed + self.checkpoint + self.messages + self.user_prompt

    @property
    def headroom(self) -> int:
        """The tokens that can be added before the conversation is compacted."""
        return self.trigger - self.total


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """How full the window is: `warning` near the threshold, `full` when it is reached."""

    level: Level
    tokens: int
    """The estimated tokens of the next request."""
    limit: int
    trigger: int
    """The tokens at which the conversation is compacted."""
    share: float
    """The share of the window that the next request takes."""
    compactions: int
    checkpoint_version: int

    @property
    def message(self) -> str:
        """One sentence for people."""
        filled = f"{self.tokens:,} of {self.limit:,} tokens ({self.share:.0%})"
        if self.level == "full":
            return f"The window is full: {filled}. The next request compacts the conversation."
        if self.level == "warning":
            left = max(0, self.trigger - self.tokens)
            return f"The window is nearly full: {filled}. It is compacted after {left:,} more."
        return f"{filled} are used."


def find_level(tokens: int, warning_tokens: int, trigger: int) -> Level:
    """Return how full a window is with this many tokens in it."""
    if tokens >= trigger:
        return "full"
    return "warning" if tokens >= warning_tokens else "ok"


@dataclass(frozen=True, slots=True, kw_only=True)
class Metrics:
    """The totals of a conversation so far."""

    compactions: int
    messages: int
    messages_compacted: int
    live_messages: int
    tokens_reclaimed: int
    checkpoint_version: int
    dollars: float
