"""The agent's last reply, its open questions to the user, and what blocks the work."""

from __future__ import annotations

from holdfast.state.text import (
    Cues,
    TokenizedText,
    clip,
    redact_and_clip,
    split_sentences,
    to_text,
    tokenize,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.state.types import State
    from holdfast.transcript.types import Event

HANDLES = ("reply", "prompt", "command", "tool_call", "tool")
TOOLS = ("AskUserQuestion",)
MAX_ACTIVITY_CHARS = 2400
MAX_QUESTION_CHARS = 400
MAX_QUESTIONS = 8
MAX_BLOCKERS = 5
# If the agent has continued for so many lines, it was not blocked.
BLOCKER_LIFETIME_LINES = 100
# Prefixes of questions whose choices follow as a list.
QUESTION_PREFIXES = (
    "would you like", "do you want", "should i", "shall i", "want me to", "which ", "what would",
    "how would you", "how should",
)  # fmt: skip
LIST_MARKERS = "-*•0123456789"
# Some clients log this if the model said nothing.
EMPTY_REPLY = "No response requested."

BLOCKED = Cues(
    "blocked by", "blocked on", "i'm blocked", "i am blocked", "is blocked", "blocker", "blocking",
    "can't proceed", "cannot proceed", "unable to proceed", "waiting for you", "waiting on you",
    "waiting for your", "need your", "needs your", "requires your", "you'll need to",
    "you will need to", "before i can",
)  # fmt: skip


def apply(state: State, event: Event) -> None:
    kind = event["kind"]
    if kind == "reply":
        _apply_reply(state, event)
    elif kind in ("prompt", "command"):
        # The user has had the chance to answer or to remove the obstacle.
        state["questions"], state["blockers"] = [], []
    elif kind == "tool_call":
        _apply_tool_call(state, event)
    elif kind == "tool" and event["name"] == "AskUserQuestion":
        state["questions"] = []


def _apply_reply(state: State, event: Event) -> None:
    text, line = event["text"].strip(), event["line"]
    # Some clients log mere line ends before thinking.
    if not text or text == EMPTY_REPLY:
        return
    state["doing"] = {"text": clip(text, MAX_ACTIVITY_CHARS), "line": line}
    if state["questions"]:
        state["questions"] = []
    if question := find_question(text):
        question = redact_and_clip(question, MAX_QUESTION_CHARS)
        state["questions"] = [{"text": question, "line": line}]
    if BLOCKED.match(tokenize(event["text"])):
        for sentence in split_sentences(text):
            if BLOCKED.match(TokenizedText(sentence)) and not sentence.startswith("If "):
                _add_blocker(state, redact_and_clip(sentence, MAX_QUESTION_CHARS), line)


def find_question(text: str) -> str:
    """Return the question that a reply ends with, a sentence or one with a list of choices."""
    if text.endswith(("?", "？")):
        last = split_sentences(text)[-1:]
        # Fenced code may end with a question mark too, and is no sentence.
        return last[0] if last and text.endswith(last[0]) else ""
    if text[text.rfind("\n") + 1 :].lstrip()[:1] not in LIST_MARKERS:
        return ""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    at = next((at for at in reversed(range(len(lines))) if lines[at][0] not in LIST_MARKERS), 0)
    lead = "".join(lines[at : at + 1])
    is_question = lead.endswith(":") and lead.lower().startswith(QUESTION_PREFIXES)
    return " ".join(lines[at:]) if is_question else ""


def _apply_tool_call(state: State, event: Event) -> None:
    if event["name"] == "AskUserQuestion":
        _add_questions(state, event)
    if state["blockers"]:
        oldest = event["line"] - BLOCKER_LIFETIME_LINES
        state["blockers"] = [known for known in state["blockers"] if known["line"] > oldest]


def _add_blocker(state: State, text: str, line: int) -> None:
    state["blockers"] = [known for known in state["blockers"] if known["text"] != text]
    state["blockers"].append({"text": text, "line": line})
    del state["blockers"][:-MAX_BLOCKERS]


def _add_questions(state: State, event: Event) -> None:
    """Questions with choices stay open until the tool's result arrives."""
    questions = event["input"].get("questions")
    state["questions"] = [
        {
            "text": redact_and_clip(to_text(question.get("question")), MAX_QUESTION_CHARS),
            "line": event["line"],
        }
        for question in (questions if isinstance(questions, list) else ())[:MAX_QUESTIONS]
        if isinstance(question, dict) and to_text(question.get("question"))
    ]
