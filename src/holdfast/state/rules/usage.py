"""How full the context is: the host's own figure of the last message, once per message id."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.state.model import State, Usage
    from holdfast.transcript.model import Event

HANDLES = ("usage", "tool_call", "compaction", "summary", "prompt")
LARGE_WINDOW = 1_000_000
# The weight of the newest turn in the average.
NEWEST = 0.3


def apply(state: State, event: Event) -> None:
    usage = state["usage"]
    if event["kind"] == "tool_call":
        usage["tool_calls"] += 1
        usage["calls_since_compaction"] += 1
    elif event["kind"] == "prompt":
        _turn(usage)
    elif event["kind"] == "compaction":
        usage["calls_since_compaction"] = usage["at_prompt"] = 0
        usage["context"] = event.get("after", 0)
    elif event["kind"] == "summary":
        # Older clients write no boundary.
        usage["calls_since_compaction"] = 0
    elif not event["context"]:
        usage["model"] = event["model"] or usage["model"]
    else:
        # Thinking leaves no other trace of who spoke last.
        state["last_speaker"] = "agent"
        if event["id"] and event["id"] == usage["message"] and event["context"] == usage["context"]:
            return
        usage["context"] = event["context"]
        usage["model"] = event["model"] or usage["model"]
        usage["message"] = event["id"]
        usage["line"] = event["line"]
        if "window" in event:
            usage["window"] = event["window"]
        elif event["context"] > usage["window"] or "[1m]" in event["model"]:
            usage["window"] = LARGE_WINDOW


def _turn(usage: Usage) -> None:
    """A turn is over: how much did it add?"""
    added = usage["context"] - usage["at_prompt"]
    if usage["at_prompt"] and added > 0:
        old = usage["growth"] or added
        usage["growth"] = round(old + NEWEST * (added - old))
    usage["at_prompt"] = usage["context"]
