"""Compactions, and the briefs of ours that the host wrote down after each."""

from __future__ import annotations

import zlib

from holdfast.state.wording import keep

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.state.model import State
    from holdfast.transcript.model import Event

HANDLES = ("compaction", "summary", "reply", "tool_call", "injected", "usage")
# Every brief carries it, with the eight digits that name the brief.
MARKER = "holdfast:"
HEX = frozenset("0123456789abcdef")
# What may follow a brief in the same text: no part of it, and said by others.
AFTER_BRIEF = "Messages from other agents"


def apply(state: State, event: Event) -> None:
    compactions = state["compactions"]
    kind = event["kind"]
    if kind == "compaction":
        _begin(state, event)
    elif kind == "summary":
        # Older clients write no boundary: there the summary is the compaction.
        if not compactions or compactions[-1]["summary_line"] or compactions[-1]["reply_line"]:
            _begin(state, event)
        compactions[-1]["summary_line"] = event["line"]
    elif kind == "injected":
        _delivered(state, event)
    elif kind == "usage":
        _left(state, event)
    elif compactions and compactions[-1]["summary_line"] and not compactions[-1]["reply_line"]:
        compactions[-1]["reply_line"] = event["line"]


def _begin(state: State, event: Event) -> None:
    state["compactions"].append(
        {
            "id": keep(event.get("id", ""), 100),
            "line": event["line"],
            "trigger": event.get("trigger", ""),
            "before": event.get("before", 0) or _measured(state, event),
            "after": event.get("after", 0),
            "summary_line": 0,
            "reply_line": 0,
            "deliveries": [],
        }
    )


def _measured(state: State, event: Event) -> int:
    """How full it was, where a boundary does not say."""
    return state["usage"]["context"] if event["kind"] == "compaction" else 0


def _left(state: State, event: Event) -> None:
    """Hosts whose boundary does not say how much is left say it right after."""
    if "window" in event and state["compactions"]:
        last = state["compactions"][-1]
        last["after"] = last["after"] or (0 if last["reply_line"] else event["context"])


def _delivered(state: State, event: Event) -> None:
    text = f"\n{event.get('text', '')}".partition(f"\n{AFTER_BRIEF}")[0].strip()
    brief = text.partition(MARKER)[2][:8]
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
