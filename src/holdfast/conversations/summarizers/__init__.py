"""Summarizers make checkpoints of messages: by rules, or by a model behind the same protocol."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from holdfast.conversations.checkpoint import Checkpoint
from holdfast.conversations.message import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """The messages to summarize, and those that are kept word for word."""

    checkpoint: Checkpoint
    messages: Sequence[Message]
    kept: Sequence[Message] = ()
    tokens: int = 2000
    """The maximum size of the new checkpoint."""
    complaint: str = ""
    """What was wrong with the previous try; empty in the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """The tokens of a call, as counted by the provider."""

    model: str = ""
    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A summarizer's reply: a checkpoint, a mapping, or text that contains one as JSON."""

    content: Checkpoint | dict[str, Any] | str
    usage: Usage = field(default_factory=Usage)


class Summarizer(Protocol):
    """Makes one reply per call. Any exception counts as a failed try."""

    name: str

    def summarize(self, work: Work) -> Reply: ...

    def price(self) -> Price | None:
        """Return the price of tokens; None if calls are free."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Dollars per million tokens, and the maximum output tokens of one call."""

    model: str
    input: float
    output: float
    most_output: int

    def micros(self, input_tokens: int, output_tokens: int) -> int:
        """Return millionths of a dollar, rounded up."""
        return -int(-(input_tokens * self.input + output_tokens * self.output) // 1)
