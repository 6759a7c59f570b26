"""Compactions, and the briefs of Holdfast that the host logged after each."""

from __future__ import annotations

import zlib

from holdfast.state.text import redact_and_clip

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.state.types import State
    from holdfast.transcript.types import Event

HANDLES = ("compaction", "summary", "reply", "tool_call", "injected", "usage")
# Every brief contains it, followed by the eight hexadecimal digits of the brief's id.
BRIEF_MARKER = "holdfast:"
HEX = frozenset("0123456789abcdef")
# The heading of what may follow a brief in the same text, and does not belong to it.
AFTER_BRIEF = "Messages from other agents"


def apply(state: State, event: Event) -> None:
    compactions = state["compactions"]
    kind = event["kind"]
    if kind == "compaction":
        _add_compaction(state, event)
    elif kind == "summary":
        # Older clients write no boundary: there the summary stands for the compaction.
        if not compactions or compactions[-1]["summary_line"] or compactions[-1]["reply_line"]:
            _add_compaction(state, event)
        compactions[-1]["summary_line"] = event["line"]
    elif kind == "injected":
        _record_delivery(state, event)
    elif kind == "usage":
        _set_tokens_after(state, event)
    elif compactions and compactions[-1]["summary_line"] and not compactions[-1]["reply_line"]:
        compactions[-1]["reply_line"] = event["line"]


def _add_compaction(state: State, event: Event) -> None:
    state["compactions"].append(
        {
            "id": redact_and_clip(event.get("id", ""), 100),
            "line": event["line"],
            "at": event.get("at", ""),
            "trigger": event.get("trigger", ""),
            "before": event.get("before", 0) or _measured_tokens(state, event),
            "after": event.get("after", 0),
            "duration": event.get("duration", 0),
            "calls": state["usage"]["calls_since_compaction"],
            "summary_line": 0,
            "reply_line": 0,
            "deliveries": [],
        }
    )


def _measured_tokens(state: State, event: Event) -> int:
    """Return the last known size of the context, for a boundary that does not state it."""
    return state["usage"]["context"] if event["kind"] == "compaction" else 0


def _set_tokens_after(state: State, event: Event) -> None:
    """Take the size after a compaction from the next usage, if the boundary does not state it."""
    if state["compactions"] and not (last := state["compactions"][-1])["after"]:
        # A reply and its usage are on one line, or on the lines of one message.
        is_first = not last["reply_line"] or last["reply_line"] == event["line"]
        last["after"] = event["context"] if is_first else 0


def _record_delivery(state: State, event: Event) -> None:
    text = f"\n{event.get('text', '')}".partition(f"\n{AFTER_BRIEF}")[0].strip()
    brief = text.partition(BRIEF_MARKER)[2][:8]
    if not state["compactions"] or len(brief) != 8 or not HEX.issuperset(brief):
        return
    state["compactions"][-1]["deliveries"].append(
        {
            "id": brief,
            "hook": event.get("hook", ""),
            "line": event["line"],
            "length": len(text),
            "checksum": zlib.crc32(text.encode("utf-8", "replace")),
        }
    )
