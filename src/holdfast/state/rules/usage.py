"""How full the context is: the host's own figure of the last message, once per message id."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.state.model import State
    from holdfast.transcript.model import Event

HANDLES = ("usage", "tool_call", "compaction", "summary")
LARGE_WINDOW = 1_000_000


def apply(state: State, event: Event) -> None:
    usage = state["usage"]
    if event["kind"] == "tool_call":
        usage["tool_calls"] += 1
        usage["calls_since_compaction"] += 1
    elif event["kind"] == "compaction":
        usage["calls_since_compaction"] = 0
        usage["context"] = event.get("after", 0)
    elif event["kind"] == "summary":
        # Older clients write no boundary.
        usage["calls_since_compaction"] = 0
    elif event["context"]:
        usage["context"] = event["context"]
        usage["model"] = event["model"] or usage["model"]
        usage["message"] = event["id"]
        usage["line"] = event["line"]
        if event["context"] > usage["window"] or "[1m]" in event["model"]:
            usage["window"] = LARGE_WINDOW
