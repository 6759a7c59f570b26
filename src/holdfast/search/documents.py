"""Extract searchable documents from a transcript: the texts of its events, redacted and capped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.redaction import redact, redact_value
from holdfast.transcript.user_text import BRIEF_MARKER

if TYPE_CHECKING:
    from holdfast.transcript.types import Event

# The middle of a longer text is not indexed: 1 of 2,500 texts in real sessions.
MAX_TEXT_CHARS = 64_000
TAIL_CHARS = 16_000
MAX_OPEN_CALLS = 100
# A call with one of these is an earlier lookup. Its result repeats texts that are indexed already.
LOOKUP_COMMANDS = ("holdfast recall", "-m holdfast ", "holdfast show")
FILE_KEYS = ("file_path", "notebook_path", "path")
# An index stores the position in this tuple: append only.
KINDS = (
    "prompt",
    "reply",
    "tool_call",
    "tool_result",
    "summary",
    "command",
    "injected",
    "agent_done",
    "pull_request",
    "lookup",
    "line",
    "note",
)

# Values of `Document.aside`. Some clients record a prompt that was typed while the agent worked
# only as an entry of the prompt queue.
FROM_SUBAGENT, FROM_QUEUE = 1, 2


class Document(NamedTuple):
    """One searchable text."""

    line: int
    kind: str
    tool: str
    file: str
    at: str
    text: str
    call: int = 0
    """For a tool result, the line of its call."""
    ok: bool | None = None
    """For a tool result, whether the call succeeded; None if that is not known yet."""
    aside: int = 0
    """`FROM_SUBAGENT` or `FROM_QUEUE` if the text is not part of the main conversation, else 0."""

    @property
    def seconds(self) -> int:
        """When it happened, as a Unix timestamp; 0 if that is not known."""
        from datetime import datetime

        try:
            return int(datetime.fromisoformat(self.at).timestamp()) if self.at else 0
        except (ValueError, OverflowError):
            return 0


# Tool calls without a result yet, by id: tool, file, kind of the result, line of the call.
OpenCalls = dict[str, list[Any]]


def extract_documents(
    numbered_lines: Iterable[tuple[int, bytes]], open_calls: OpenCalls
) -> Iterator[Document | Event]:
    """Yield the documents of transcript lines, and compactions as the events that they are.

    `open_calls` is updated in place.
    """
    # Imported here and below: most lookups find nothing new to index and start faster without.
    from holdfast.transcript.decoder import decode

    current_line = b""

    def remember_line() -> Iterator[tuple[int, bytes]]:
        nonlocal current_line
        for number, line in numbered_lines:
            current_line = line
            yield number, line

    for event in decode(remember_line(), batch_bytes=0):
        kind = event["kind"]
        if kind == "compaction":
            yield event
        elif kind == "bad_line":
            text = current_line.decode("utf-8", "replace")
            yield Document(event["line"], "line", "", "", "", cut_middle(redact(text)))
        elif document := _to_document(event, open_calls):
            yield document


def extract_full_documents(number: int, line: bytes) -> Iterator[Document]:
    """Yield the documents of one transcript line, redacted but not capped."""
    from holdfast.transcript.decoder import decode

    for event in decode([(number, line)]):
        if document := _to_document(event, {}, is_full=True):
            yield document


def _to_document(event: Event, open_calls: OpenCalls, *, is_full: bool = False) -> Document | None:
    """Return the document of an event, or None if it has no searchable text.

    With `is_full` the text is not capped, and briefs of Holdfast are included: they are not worth
    finding by words, but a line that holds one can be opened.
    """
    aside = FROM_SUBAGENT if "agent" in event else 0
    if event["kind"] == "queue":
        event, aside = {**event, **(event.get("detail") or {})}, FROM_QUEUE
    kind: str = event["kind"]
    tool = file = ""
    call, ok = 0, None
    if kind == "tool_call":
        tool, file, kind = _register_call(event, open_calls)
        text = render_tool_call(event)
    elif kind == "tool_result":
        tool, file, kind, call = open_calls.pop(event.get("id", ""), ["", "", kind, 0])
        ok = None if "running" in event else event.get("ok")
        text = redact(event.get("text", ""))
    else:
        text = redact(event.get("text", ""))
        if kind == "command":
            text = f"{event.get('name', '')} {text}".strip()
        if kind == "injected" and BRIEF_MARKER in text and not is_full:
            return None
    if not text.strip() or kind not in KINDS:
        return None
    text = text if is_full else cut_middle(text)
    return Document(event["line"], kind, tool, file, event.get("at", ""), text, call, ok, aside)


def _register_call(event: Event, open_calls: OpenCalls) -> tuple[str, str, str]:
    """Add a tool call to `open_calls`; return its tool, file and kind."""
    arguments, tool = event["input"], event["name"]
    file = redact(
        next((value for key in FILE_KEYS if isinstance(value := arguments.get(key), str)), "")
    )
    command = arguments.get("command")
    is_lookup = tool.startswith("mcp__holdfast__") or (
        isinstance(command, str) and any(mark in command for mark in LOOKUP_COMMANDS)
    )
    open_calls[event["id"]] = [tool, file, "lookup" if is_lookup else "tool_result", event["line"]]
    while len(open_calls) > MAX_OPEN_CALLS:
        del open_calls[next(iter(open_calls))]
    return tool, file, "lookup" if is_lookup else "tool_call"


def render_tool_call(event: Event) -> str:
    """Return a tool call as readable text: the tool, then its arguments without escapes."""
    arguments = redact_value(event["input"]).items()
    return "\n".join([event["name"], *(_render_argument(str(key), v) for key, v in arguments)])


def _render_argument(name: str, value: Any) -> str:
    if not isinstance(value, str):
        import json

        value = json.dumps(value, ensure_ascii=False)
    return f"{name}:\n{value}" if "\n" in value else f"{name}: {value}"


def cut_middle(text: str) -> str:
    """Return the text; if it is longer than `MAX_TEXT_CHARS`, only its beginning and its end."""
    if len(text) <= MAX_TEXT_CHARS:
        return text
    left_out = len(text) - MAX_TEXT_CHARS
    head, tail = text[: MAX_TEXT_CHARS - TAIL_CHARS], text[-TAIL_CHARS:]
    return f"{head}\n… [{left_out} characters left out] …\n{tail}"
