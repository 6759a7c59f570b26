"""The logs of sub-agents, which newer hosts keep in files of their own beside the session's.

The fold reads such a file once, when the main log says that its agent has come back.
"""

from __future__ import annotations

import os

from holdfast.errors import HoldfastError
from holdfast.foreign_json import told

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from holdfast.transcript.model import Event

# More than this of one sub-agent's log is not worth a hook's time.
LARGEST = 32 << 20
# How a host marks lines that are not the session's own, and what it writes on the session's.
MARK = b'"isSidechain":'
ASIDE, ALONE = MARK + b"true", MARK + b"false"
NAMES = frozenset("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-")
LONGEST_NAME = 200


def own_lines(lines: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    """The lines of a file that somebody asked for: a sub-agent's log is a session in itself."""
    is_own: bool | None = None
    for number, raw in lines:
        if is_own is None and MARK in raw:
            is_own = ASIDE in raw
        yield number, raw.replace(ASIDE, ALONE, 1) if is_own else raw


def with_agents(events: Iterable[Event], transcript: str) -> Iterator[Event]:
    """The events, and before each that ends a sub-agent what that agent's own log says."""
    for event in events:
        ident = _came_back(event)
        path = agent_file(transcript, ident) if ident else ""
        if path:
            for own in _work(path):
                yield done_by(ident, own, event["id"], event["line"])
        yield event


def done_by(ident: str, own: Event, parent: str, line: int) -> Event:
    """What an agent's own log says, as the main log would say it.

    The line is the main log's: it is there that the work can be looked up from.
    """
    return {**own, "agent": ident, "parent": parent, "line": line}


def named_by(event: Event) -> str:
    """The id of the sub-agent that an event of the main log starts or ends, if it does."""
    if event["kind"] == "agent_done":
        return event["id"]
    if event["kind"] != "tool_result" or "agent" in event:
        return ""
    ident = told(event.get("detail")).get("agentId")
    return ident if isinstance(ident, str) else ""


def is_launch(event: Event) -> bool:
    """Whether the sub-agent that an event names goes on in the background."""
    return bool(told(event.get("detail")).get("status") == "async_launched")


def _came_back(event: Event) -> str:
    """The id of the sub-agent that this event ends, if it does."""
    ident = named_by(event)
    return ident if ident and not is_launch(event) else ""


def is_name(ident: str) -> bool:
    """Whether a sub-agent's log can be called that. An id is never a path."""
    return 0 < len(ident) <= LONGEST_NAME and NAMES.issuperset(ident)


def agent_file(transcript: str, ident: str, *, of_any_size: bool = False) -> str:
    """Where the log of a sub-agent is, or nothing, also if it is too large for a hook."""
    if not is_name(ident):
        return ""
    folder, stem = os.path.dirname(transcript), os.path.basename(transcript).partition(".")[0]
    for path in (
        os.path.join(folder, stem, "subagents", f"agent-{ident}.jsonl"),
        os.path.join(folder, f"agent-{ident}.jsonl"),
    ):
        try:
            if os.path.getsize(path) <= LARGEST or of_any_size:
                return path
        except OSError:
            continue
    return ""


def _work(path: str) -> Iterator[Event]:
    """The calls of an agent that have a result, and its last words."""
    calls: dict[str, Event] = {}
    last: list[Event] = []
    try:
        for event in _events(path):
            if event["kind"] == "reply":
                last = [event]
            elif event["kind"] == "tool_call":
                calls[event["id"]] = event
            elif event["kind"] == "tool_result" and event["id"] in calls:
                yield calls.pop(event["id"])
                yield event
    except HoldfastError:
        pass  # gone or unreadable: what the main log says of it must do
    yield from last


def _events(path: str) -> Iterator[Event]:
    from holdfast.transcript.events import decode
    from holdfast.transcript.reader import whole_file

    return decode(whole_file(path))
