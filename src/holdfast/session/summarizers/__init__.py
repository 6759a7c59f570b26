"""Who makes a checkpoint of messages: rules, or a model behind the same small Protocol."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from holdfast.session.checkpoint import Checkpoint
from holdfast.session.message import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What is to be summarised, and what stays word for word beside it."""

    checkpoint: Checkpoint
    messages: Sequence[Message]
    kept: Sequence[Message] = ()
    tokens: int = 2000
    """The most that the new checkpoint may take."""
    complaint: str = ""
    """What was wrong with the last try, if this is another one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What a call took, as the provider counted it."""

    model: str = ""
    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What came back: a checkpoint, a mapping, or a model's words with one somewhere in them."""

    content: Checkpoint | dict[str, Any] | str
    usage: Usage = field(default_factory=Usage)


class Summarizer(Protocol):
    """One call, one reply. Whatever it raises counts as a failed try."""

    name: str

    def summarize(self, work: Work) -> Reply: ...

    def price(self) -> Price | None:
        """What tokens cost; None if they cost nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Dollars for a million tokens, and the most that one call may answer with."""

    model: str
    input: float
    output: float
    most_output: int

    def micros(self, input_tokens: int, output_tokens: int) -> int:
        """Millionths of a dollar, rounded up."""
        return -int(-(input_tokens * self.input + output_tokens * self.output) // 1)
