"""What can happen in a session: the user speaks, the assistant replies and uses tools."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Prompt:
    """The user says something, that many minutes into the session."""

    text: str
    minute: float = 0.0
    queued: bool = False


@dataclass(frozen=True, slots=True)
class Typed:
    """The user types the next prompt while the assistant is still at work."""

    text: str


@dataclass(frozen=True, slots=True)
class Use:
    """One tool call: what was asked, what the model got back, what the client kept."""

    tool: str
    input: dict[str, Any]
    content: str | list[dict[str, Any]]
    result: Any
    seconds: float = 0.4
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """One model message: words, tool calls, or both; without tool calls it ends the turn."""

    text: str
    uses: tuple[Use, ...] = ()
    thinks: bool = False


Step = Prompt | Typed | Reply
