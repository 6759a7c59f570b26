"""Figures of a conversation: the size of the next request, and totals so far."""

from __future__ import annotations

from dataclasses import dataclass


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
class Metrics:
    """The totals of a conversation so far."""

    compactions: int
    messages: int
    messages_compacted: int
    live_messages: int
    tokens_reclaimed: int
    checkpoint_version: int
    dollars: float
