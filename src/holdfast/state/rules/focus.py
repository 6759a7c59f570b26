"""What was being done when the log ends, and the question that waits for the user."""

from __future__ import annotations

from holdfast.state.wording import clip, keep, sentences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.state.model import State
    from holdfast.transcript.model import Event

HANDLES = ("reply", "prompt", "tool_call", "tool_result", "usage")
LONGEST = 800


def apply(state: State, event: Event) -> None:
    kind = event["kind"]
    state["last_speaker"] = "user" if kind in ("prompt", "tool_result") else "agent"
    if kind == "prompt":
        state["question"] = None
    elif kind == "reply":
        _said(state, event)


def _said(state: State, event: Event) -> None:
    text = event["text"].strip()
    state["doing"] = {"text": clip(text, LONGEST), "line": event["line"]}
    state["question"] = None
    last = sentences(text)[-1:] if text.endswith(("?", "？")) else []
    # Code may end with a question mark too, and is no sentence.
    if last and text.endswith(last[0]):
        state["question"] = {"text": keep(last[0], 400), "line": event["line"]}
