"""Types of events and cursors. Only the type checker imports this: `typing` is slow to load."""

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
    "attached_file",
    "pull_request",
    "plan",
    "plan_file",
    "agent_done",
    "interrupted",
    "queue",
    "bad_line",
]


class Event(TypedDict, total=False):
    """One thing that happened in a session, with the number of the transcript line that records it.

    Decoders never emit the kind `tool`: the fold builds it from a `tool_call` and `tool_result`.
    """

    kind: Required[Kind]
    line: Required[int]
    at: str
    agent: str
    """The id of the sub-agent that did this; absent for the main session."""
    parent: str
    """The id of the tool call that started that sub-agent."""
    queued: bool
    """The user typed this while the agent was working."""
    running: str
    """The id of a process that is still running: a later call with that id reports its outcome."""
    waited: bool
    """Known only from the queue's log so far; `line` is where the message was queued."""
    refused: str
    """For what the user said when refusing a tool call, the id of that call."""
    text: str
    id: str
    name: str
    input: dict[str, Any]
    call_line: int
    """For the kind `tool`, the line of the call; `line` is that of its result."""
    cwd: str
    ok: bool
    detail: Any
    """Data that the host logs beside the text, in the host's own form."""
    model: str
    context: int
    """The size of the request in tokens."""
    output: int
    """The size of the reply in tokens."""
    window: int
    """The size of the context window in tokens, if the host reports it."""
    trigger: str
    before: int
    after: int
    """The size of the context before and after a compaction, in tokens."""
    duration: int
    """How long the compaction took, in milliseconds."""
    hook: str
    place: dict[str, str]
    """The folder, branch, client, session or host, as far as the line states them."""


class Cursor(TypedDict, total=False):
    """How far a file was read, and how to recognise that it is still the same file."""

    offset: int
    line: int
    device: int
    inode: int
    head_length: int
    head_checksum: int
    open_line: bool
    """The last line that was read had no newline yet."""
    newest_at: str
    """The timestamp of the newest message; `newest_ids` are the messages that have it."""
    newest_ids: list[str]
    beside_ids: list[str]
    """The ids of the last compactions and queued messages, to detect repeated lines."""
