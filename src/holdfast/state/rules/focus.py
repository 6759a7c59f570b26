"""What was being done when the log ends, what waits for the user, and what holds the work up."""

from __future__ import annotations

from holdfast.state.wording import Cues, Heard, clip, heard, keep, plain, sentences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.state.model import State
    from holdfast.transcript.model import Event

HANDLES = ("reply", "prompt", "command", "tool_call", "tool")
LONGEST = 800
LONGEST_QUESTION = 400
MOST_BLOCKERS = 5

BLOCKED = Cues(
    "blocked by", "blocked on", "i'm blocked", "i am blocked", "is blocked", "blocker", "blocking",
    "can't proceed", "cannot proceed", "unable to proceed", "waiting for you", "waiting on you",
    "waiting for your", "need your", "needs your", "requires your", "you'll need to",
    "you will need to", "before i can",
)  # fmt: skip


def apply(state: State, event: Event) -> None:
    kind = event["kind"]
    state["last_speaker"] = "user" if kind in ("prompt", "command", "tool") else "agent"
    if kind == "reply":
        _said(state, event)
    elif kind in ("prompt", "command"):
        # Whatever was asked or missing, the user has had the chance to deal with it.
        state["questions"], state["blockers"] = [], []
    elif kind == "tool_call" and event["name"] == "AskUserQuestion":
        _asks(state, event)
    elif kind == "tool" and event["name"] == "AskUserQuestion":
        state["questions"] = []


def _said(state: State, event: Event) -> None:
    text, line = event["text"].strip(), event["line"]
    state["doing"] = {"text": clip(text, LONGEST), "line": line}
    if state["questions"]:
        state["questions"] = []
    if text.endswith(("?", "？")):
        last = sentences(text)[-1:]
        # Code may end with a question mark too, and is no sentence.
        if last and text.endswith(last[0]):
            state["questions"] = [{"text": keep(last[0], LONGEST_QUESTION), "line": line}]
    if BLOCKED.among(heard(event["text"])):
        for one in sentences(text):
            if BLOCKED.among(Heard(one)):
                _held_up(state, keep(one, LONGEST_QUESTION), line)


def _held_up(state: State, by: str, line: int) -> None:
    state["blockers"] = [known for known in state["blockers"] if known["text"] != by]
    state["blockers"].append({"text": by, "line": line})
    del state["blockers"][:-MOST_BLOCKERS]


def _asks(state: State, event: Event) -> None:
    """Questions with choices stay open until their result comes."""
    asked = event["input"].get("questions")
    state["questions"] = [
        {"text": keep(plain(one.get("question")), LONGEST_QUESTION), "line": event["line"]}
        for one in (asked if isinstance(asked, list) else ())[:8]
        if isinstance(one, dict) and plain(one.get("question"))
    ]
