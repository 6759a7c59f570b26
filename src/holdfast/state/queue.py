"""What a person types while the agent is at work waits in a queue until the agent is given it.

Hosts log the queue. Some versions log nothing else of a message that the agent was given between
two steps, so the queue is the only place where those words stand.
"""

from __future__ import annotations

from holdfast.state.rules.commands import typed
from holdfast.state.wording import keep, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from holdfast.state.model import State
    from holdfast.transcript.model import Event

MOST = 50
LONGEST = 6000
# How far apart the two records of one queued message can stand, in lines and in requests.
NEAR_LINES, NEAR_REQUESTS = 100, 10


def moved(state: State, event: Event) -> Event | None:
    """Follow the queue; what the agent is given now is told as if it were typed now."""
    waiting = state["queue"]
    operation = event["name"]
    if operation == "enqueue":
        _wait(state, event)
    elif operation == "popAll":
        # Back into the person's input line: not said, and typed again if it is still meant.
        waiting.clear()
    elif operation in ("dequeue", "remove") and waiting:
        first = waiting.pop(0)
        # What is dequeued follows as an ordinary message.
        if operation == "remove" and first["kind"]:
            told: Any = {**first, "queued": True, "waited": True}
            return told  # type: ignore[no-any-return]
    return None


def _wait(state: State, event: Event) -> None:
    told = event["detail"] or {}
    state["queue"].append(
        {
            "kind": plain(told.get("kind")),
            "name": keep(plain(told.get("name")), 100),
            "text": keep(plain(told.get("text")), LONGEST),
            "line": event["line"],
            "at": event.get("at", ""),
        }
    )
    del state["queue"][:-MOST]


def was_heard(state: State, event: Event) -> bool:
    """Whether these words were told already: hosts may log the queue and the message.

    What comes out of the queue bears the line where it went in, so its twin stands behind that;
    a message that was in the queue has its twin a little before, and each twin is met once.
    """
    said = typed(event) if event["kind"] == "command" else event.get("text", "")
    text, line = keep(said, LONGEST), event["line"]
    waited = "waited" in event
    for known in state["requests"][-NEAR_REQUESTS:]:
        if known["text"] != text:
            continue
        if waited and known["line"] >= line and "waited" not in known:
            return True
        if not waited and known["line"] >= line - NEAR_LINES and known.pop("waited", False):
            return True
    return False
