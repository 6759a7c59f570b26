"""Follow the queue of messages that the user types while the agent is working.

Hosts log the queue. For a message that the agent received between two steps, some versions log
nothing else, so the queue is the only record of it.
"""

from __future__ import annotations

from holdfast.state.rules.commands import render_command
from holdfast.state.text import redact_and_clip, to_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from holdfast.state.types import State
    from holdfast.transcript.types import Event

MAX_QUEUED = 50
MAX_MESSAGE_CHARS = 6000
# How far apart the two records of one queued message can be, in lines and in requests.
MAX_LINES_APART, MAX_REQUESTS_APART = 100, 10


def apply_operation(state: State, event: Event) -> Event | None:
    """Update the queue; return the message that the agent now receives, as an event, or None."""
    queue = state["queue"]
    operation = event["name"]
    if operation == "enqueue":
        _enqueue(state, event)
    elif operation == "popAll":
        # Back into the input line: these were not sent, and are typed again if still meant.
        queue.clear()
    elif operation in ("dequeue", "remove") and queue:
        first = queue.pop(0)
        # A dequeued message follows in the log as an ordinary one.
        if operation == "remove" and first["kind"]:
            message: Any = {**first, "queued": True, "waited": True}
            return message  # type: ignore[no-any-return]
    return None


def _enqueue(state: State, event: Event) -> None:
    message = event["detail"] or {}
    state["queue"].append(
        {
            "kind": to_text(message.get("kind")),
            "name": redact_and_clip(to_text(message.get("name")), 100),
            "text": redact_and_clip(to_text(message.get("text")), MAX_MESSAGE_CHARS),
            "line": event["line"],
            "at": event.get("at", ""),
        }
    )
    del state["queue"][:-MAX_QUEUED]


def is_duplicate(state: State, event: Event) -> bool:
    """Whether a queued message is known already: hosts may log the queue and the message.

    A message from the queue bears the line at which it was queued, so its other record is at a
    later line. A logged message that was queued has its other record a little before. Each record
    matches only once.
    """
    message = render_command(event) if event["kind"] == "command" else event.get("text", "")
    text, line = redact_and_clip(message, MAX_MESSAGE_CHARS), event["line"]
    is_from_queue = "waited" in event
    for known in state["requests"][-MAX_REQUESTS_APART:]:
        if known["text"] != text:
            continue
        if is_from_queue:
            if known["line"] >= line and "waited" not in known:
                return True
        elif known["line"] >= line - MAX_LINES_APART and known.pop("waited", False):
            return True
    return False
