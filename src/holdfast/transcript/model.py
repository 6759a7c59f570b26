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
    "agent_done",
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
