"""Read the logs of sub-agents, which newer hosts keep in files next to the session's transcript.

Such a file is read once, when the main log says that its agent has finished.
"""

from __future__ import annotations

import os

from holdfast.errors import HoldfastError
from holdfast.lenient_json import as_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from holdfast.transcript.types import Event

# A hook has no time for a larger log.
MAX_LOG_BYTES = 32 << 20
# How a host marks the lines of sub-agents, and those of the main session.
SIDECHAIN_KEY = b'"isSidechain":'
SIDECHAIN_TRUE, SIDECHAIN_FALSE = SIDECHAIN_KEY + b"true", SIDECHAIN_KEY + b"false"
ID_CHARS = frozenset("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-")
MAX_ID_CHARS = 200


def strip_sidechain_marks(lines: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a sub-agent's log as if it were a session of its own.

    Lines of an ordinary log are left as they are: its first marked line decides which it is.
    """
    is_subagent_log: bool | None = None
    for number, raw in lines:
        if is_subagent_log is None and SIDECHAIN_KEY in raw:
            is_subagent_log = SIDECHAIN_TRUE in raw
        yield number, raw.replace(SIDECHAIN_TRUE, SIDECHAIN_FALSE, 1) if is_subagent_log else raw


def merge_subagent_events(events: Iterable[Event], transcript: str) -> Iterator[Event]:
    """Yield the events, and before each that ends a sub-agent the events of that agent's log."""
    for event in events:
        ident = _find_finished_id(event)
        path = find_subagent_log(transcript, ident) if ident else ""
        if path:
            for subagent_event in _read_completed_work(path):
                yield attribute_to_subagent(ident, subagent_event, event["id"], event["line"])
        yield event


def attribute_to_subagent(ident: str, event: Event, parent: str, line: int) -> Event:
    """Return an event of a sub-agent's own log as the main log would have it.

    `line` is a line of the main log, because references point there.
    """
    return {**event, "agent": ident, "parent": parent, "line": line}


def find_subagent_id(event: Event) -> str:
    """Return the id of the sub-agent that an event of the main log starts or ends, or ""."""
    if event["kind"] == "agent_done":
        return event["id"]
    if event["kind"] != "tool_result" or "agent" in event:
        return ""
    ident = as_object(event.get("detail")).get("agentId")
    return ident if isinstance(ident, str) else ""


def is_background_launch(event: Event) -> bool:
    """Whether the event only says that a sub-agent was started in the background."""
    return bool(as_object(event.get("detail")).get("status") == "async_launched")


def _find_finished_id(event: Event) -> str:
    """Return the id of the sub-agent that this event ends, or ""."""
    ident = find_subagent_id(event)
    return ident if ident and not is_background_launch(event) else ""


def is_valid_id(ident: str) -> bool:
    """Whether this can be a sub-agent's id: it becomes part of a path, so no separators."""
    return 0 < len(ident) <= MAX_ID_CHARS and ID_CHARS.issuperset(ident)


def find_subagent_log(transcript: str, ident: str, *, of_any_size: bool = False) -> str:
    """Return the path of a sub-agent's log, or "" if it is missing or too large for a hook."""
    if not is_valid_id(ident):
        return ""
    folder, stem = os.path.dirname(transcript), os.path.basename(transcript).partition(".")[0]
    for path in (
        os.path.join(folder, stem, "subagents", f"agent-{ident}.jsonl"),
        os.path.join(folder, f"agent-{ident}.jsonl"),
    ):
        try:
            if os.path.getsize(path) <= MAX_LOG_BYTES or of_any_size:
                return path
        except OSError:
            continue
    return ""


def _read_completed_work(path: str) -> Iterator[Event]:
    """Yield the calls that have a result, each with it, and the last reply."""
    calls: dict[str, Event] = {}
    last_reply: list[Event] = []
    try:
        for event in _read_events(path):
            if event["kind"] == "reply":
                last_reply = [event]
            elif event["kind"] == "tool_call":
                calls[event["id"]] = event
            elif event["kind"] == "tool_result" and event["id"] in calls:
                yield calls.pop(event["id"])
                yield event
    except HoldfastError:
        pass  # The log vanished or is unreadable: only the main log's events remain.
    yield from last_reply


def _read_events(path: str) -> Iterator[Event]:
    from holdfast.transcript.decoder import decode
    from holdfast.transcript.reader import read_lines

    return decode(read_lines(path))
