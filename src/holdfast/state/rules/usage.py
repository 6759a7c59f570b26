"""How full the context is: the host's own count of the last message, once per message id."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.state.types import ContextUsage, State
    from holdfast.transcript.types import Event

HANDLES = ("usage", "tool_call", "compaction", "summary", "prompt")
LARGE_WINDOW_TOKENS = 1_000_000
# The weight of the newest turn in the moving average of growth.
NEWEST_WEIGHT = 0.3


def apply(state: State, event: Event) -> None:
    usage = state["usage"]
    if event["kind"] == "tool_call":
        usage["tool_calls"] += 1
        usage["calls_since_compaction"] += 1
    elif event["kind"] == "prompt":
        _finish_turn(usage)
    elif event["kind"] == "compaction":
        usage["calls_since_compaction"] = usage["at_prompt"] = 0
        usage["context"] = event.get("after", 0)
    elif event["kind"] == "summary":
        # Older clients write no boundary.
        usage["calls_since_compaction"] = 0
    elif not event["context"]:
        usage["model"] = event["model"] or usage["model"]
    else:
        if event["id"] and event["id"] == usage["message"] and event["context"] == usage["context"]:
            return
        usage["context"] = event["context"]
        usage["model"] = event["model"] or usage["model"]
        usage["message"] = event["id"]
        usage["line"] = event["line"]
        if "window" in event:
            usage["window"] = event["window"]
        elif event["context"] > usage["window"] or "[1m]" in event["model"]:
            usage["window"] = LARGE_WINDOW_TOKENS


def _finish_turn(usage: ContextUsage) -> None:
    """Update the average growth with what the finished turn added."""
    added = usage["context"] - usage["at_prompt"]
    if usage["at_prompt"] and added > 0:
        average = usage["growth"] or added
        usage["growth"] = round(average + NEWEST_WEIGHT * (added - average))
    usage["at_prompt"] = usage["context"]
