"""What the user asked for, verbatim: the first request, the latest, and the chain between."""

from __future__ import annotations

from holdfast.state.rules.answers import own_words
from holdfast.state.rules.commands import typed
from holdfast.state.wording import keep

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.state.model import State
    from holdfast.transcript.model import Event

HANDLES = ("prompt", "command", "tool", "interrupted")
TOOLS = ("AskUserQuestion",)
MOST = 60
LONGEST, LONGEST_QUESTION = 6000, 200
# A long text that comes again right away is a second try, not a second wish.
LONG = 200


def apply(state: State, event: Event) -> None:
    if event["kind"] == "interrupted":
        if state["requests"]:
            state["requests"][-1]["stopped"] = event["line"]
    elif event["kind"] == "tool":
        for question, said in own_words(event):
            _add(state, said, event, question)
    else:
        _add(state, event["text"] if event["kind"] == "prompt" else typed(event), event)


def _add(state: State, said: str, event: Event, question: str = "") -> None:
    requests = state["requests"]
    text, at = keep(said, LONGEST), event.get("at", "")
    if not text or (requests and len(text) > LONG and requests[-1]["text"] == text):
        return
    # A second compaction may write old messages down again, with their old time.
    # https://github.com/anthropics/claude-code/issues/92089
    if at and any(known["at"] == at and known["text"] == text for known in requests):
        return
    requests.append({"text": text, "line": event["line"], "at": at})
    if "waited" in event:
        requests[-1]["waited"] = True
    if question:
        requests[-1]["question"] = keep(question, LONGEST_QUESTION)
    if len(requests) > MOST:
        # The first says what all of this is for; the middle can be looked up.
        del requests[1]
        state["requests_dropped"] += 1
