"""What the user asked for, verbatim: the first request, the latest, and those between."""

from __future__ import annotations

from holdfast.state.rules.commands import render_command
from holdfast.state.rules.question_answers import find_typed_answers
from holdfast.state.text import padded_words, redact_and_clip, split_sentences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.state.types import State
    from holdfast.transcript.types import Event

HANDLES = ("prompt", "command", "tool", "interrupted")
TOOLS = ("AskUserQuestion",)
MAX_REQUESTS = 60
MAX_REQUEST_CHARS, MAX_QUESTION_CHARS = 6000, 300
# A longer prompt can be understood without the question that it answers.
MAX_ANSWER_CHARS = 300
# Words that refer to what was said before.
REFERRING_WORDS = frozenset(
    ("this", "that", "these", "those", "them", "again", "there", "same", "instead", "too")
)
# A text longer than this that is sent twice in a row is a second try, not a second request.
REPEATED_REQUEST_MIN_CHARS = 200


def apply(state: State, event: Event) -> None:
    if event["kind"] == "interrupted":
        if state["requests"]:
            state["requests"][-1]["stopped"] = event["line"]
    elif event["kind"] == "tool":
        for question, answer in find_typed_answers(event):
            _add_request(state, answer, event, question)
    else:
        text = event["text"] if event["kind"] == "prompt" else render_command(event)
        question = state["questions"][-1]["text"] if state["questions"] else ""
        is_short = len(text) < MAX_ANSWER_CHARS
        context = _find_context(state, text) if is_short and not question else ""
        said_line = state["doing"]["line"] if state["doing"] else 0
        if question:
            said_line = state["questions"][-1]["line"]
        _add_request(state, text, event, question if is_short else "", context, said_line)


def _add_request(
    state: State,
    text: str,
    event: Event,
    question: str = "",
    context: str = "",
    said_line: int = 0,
) -> None:
    requests = state["requests"]
    text, at = redact_and_clip(_cut_middle(text), MAX_REQUEST_CHARS), event.get("at", "")
    is_retry = len(text) > REPEATED_REQUEST_MIN_CHARS and requests and requests[-1]["text"] == text
    if not text or is_retry:
        return
    # A second compaction may log old messages again, with their old timestamps.
    # https://github.com/anthropics/claude-code/issues/92089
    if at and any(known["at"] == at and known["text"] == text for known in requests):
        return
    requests.append({"text": text, "line": event["line"], "at": at})
    if "waited" in event:
        requests[-1]["waited"] = True
    if question:
        requests[-1]["question"] = redact_and_clip(question, MAX_QUESTION_CHARS)
    elif context:
        requests[-1]["context"] = redact_and_clip(context, MAX_QUESTION_CHARS)
    if (question or context) and said_line:
        requests[-1]["said_line"] = said_line
    if len(requests) > MAX_REQUESTS:
        # The first request states the purpose of the session, so the second oldest is dropped.
        del requests[1]
        state["requests_dropped"] += 1


def _cut_middle(text: str) -> str:
    """Keep beginning and end of a long text: what is asked often follows what was pasted."""
    half = MAX_REQUEST_CHARS // 2 - 10
    return text if len(text) <= MAX_REQUEST_CHARS else f"{text[:half]}\n…\n{text[-half:]}"


def _find_context(state: State, text: str) -> str:
    """Return the last sentence that the agent said before a message that refers to it, or ""."""
    if REFERRING_WORDS.isdisjoint(padded_words(text).split()):
        return ""
    last_request = state["requests"][-1]["line"] if state["requests"] else 0
    said = state["doing"]
    if said is None or said["line"] < last_request:
        return ""
    sentences = split_sentences(said["text"])
    return sentences[-1] if sentences else ""
