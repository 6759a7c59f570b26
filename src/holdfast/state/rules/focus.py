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
# Who has worked on for so many lines was not held up.
WORKED_ON = 100
# How a question begins whose choices follow as a list.
ASKING = (
    "would you like", "do you want", "should i", "shall i", "want me to", "which ", "what would",
    "how would you", "how should",
)  # fmt: skip
LISTED = "-*•0123456789"
# What a client puts where the model said nothing; some also log mere line ends before thinking.
NOTHING_SAID = "No response requested."

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
    elif kind == "tool_call":
        _works_on(state, event)
    elif kind == "tool" and event["name"] == "AskUserQuestion":
        state["questions"] = []


def _said(state: State, event: Event) -> None:
    text, line = event["text"].strip(), event["line"]
    if not text or text == NOTHING_SAID:
        return
    state["doing"] = {"text": clip(text, LONGEST), "line": line}
    if state["questions"]:
        state["questions"] = []
    if question := _question(text):
        state["questions"] = [{"text": keep(question, LONGEST_QUESTION), "line": line}]
    if BLOCKED.among(heard(event["text"])):
        for one in sentences(text):
            if BLOCKED.among(Heard(one)) and not one.startswith("If "):
                _held_up(state, keep(one, LONGEST_QUESTION), line)


def _question(text: str) -> str:
    """The question that a reply ends with, as a sentence or with a list of choices."""
    if text.endswith(("?", "？")):
        last = sentences(text)[-1:]
        # Code may end with a question mark too, and is no sentence.
        return last[0] if last and text.endswith(last[0]) else ""
    if text[text.rfind("\n") + 1 :].lstrip()[:1] not in LISTED:
        return ""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    at = next((at for at in reversed(range(len(lines))) if lines[at][0] not in LISTED), 0)
    lead = "".join(lines[at : at + 1])
    asks = lead.endswith(":") and lead.lower().startswith(ASKING)
    return " ".join(lines[at:]) if asks else ""


def _works_on(state: State, event: Event) -> None:
    if event["name"] == "AskUserQuestion":
        _asks(state, event)
    if state["blockers"]:
        held = event["line"] - WORKED_ON
        state["blockers"] = [known for known in state["blockers"] if known["line"] > held]


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
