"""Compactions, and the briefs of ours that the host wrote down after each."""

from __future__ import annotations

import zlib

from holdfast.state.wording import keep

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.state.model import State
    from holdfast.transcript.model import Event

HANDLES = ("compaction", "summary", "reply", "tool_call", "injected")
# Every brief carries it, with the eight digits that name the brief.
MARKER = "holdfast:"
HEX = frozenset("0123456789abcdef")


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
    elif compactions and compactions[-1]["summary_line"] and not compactions[-1]["reply_line"]:
        compactions[-1]["reply_line"] = event["line"]


def _begin(state: State, event: Event) -> None:
    state["compactions"].append(
        {
            "id": keep(event.get("id", ""), 100),
            "line": event["line"],
            "trigger": event.get("trigger", ""),
            "before": event.get("before", 0),
            "after": event.get("after", 0),
            "summary_line": 0,
            "reply_line": 0,
            "deliveries": [],
        }
    )


def _delivered(state: State, event: Event) -> None:
    text = event.get("text", "").strip()
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
