"""The shapes of events and cursors. Hooks never import this at run time."""

from __future__ import annotations

from typing import Any, Literal, Required, TypedDict

Kind = Literal[
    "place",
    "prompt",
    "command",
    "reply",
    "tool_call",
    "tool_result",
    "tool",
    "usage",
    "compaction",
    "summary",
    "injected",
    "pull_request",
    "plan",
    "plan_file",
    "agent_done",
    "interrupted",
    "queue",
    "bad_line",
]


class Event(TypedDict, total=False):
    """One normalised thing that happened, with the transcript line that says so.

    `tool` is a call together with its result; the fold makes it of the two.
    """

    kind: Required[Kind]
    line: Required[int]
    at: str
    agent: str
    """Whose doing it is, if a sub-agent's."""
    parent: str
    """The call that started that sub-agent."""
    queued: bool
    """Typed while the agent was at work."""
    running: str
    """What goes on after this result: another call that names it will tell the rest."""
    waited: bool
    """Told by the queue alone; the line is where it was typed."""
    text: str
    id: str
    name: str
    input: dict[str, Any]
    call_line: int
    cwd: str
    ok: bool
    detail: Any
    model: str
    context: int
    output: int
    window: int
    """How much the model can hold, where the host says so."""
    trigger: str
    before: int
    after: int
    duration: int
    hook: str
    place: dict[str, str]


class Cursor(TypedDict, total=False):
    """How far a file was read, and how to tell that it is still the same file."""

    offset: int
    line: int
    device: int
    inode: int
    head_length: int
    head_checksum: int
    open_line: bool
    newest_at: str
    """The time of the newest message, and the identities of those that have it."""
    newest_ids: list[str]
    beside_ids: list[str]
    """The identities of the last compactions and queued messages."""
