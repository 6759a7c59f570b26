"""What of a transcript can be searched: the texts of its events, without secrets, each capped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.redact import redact, redact_value

if TYPE_CHECKING:
    from holdfast.transcript.model import Event

# An event's text beyond this is left out in the middle: 1 of 2,500 texts in real sessions.
LONGEST = 64_000
TAIL = 16_000
MOST_OPEN_CALLS = 100
MARKER = "holdfast:"
# What an earlier lookup asked and answered is found where it came from.
LOOKUPS = ("holdfast recall", "-m holdfast ", "holdfast show")
FILE_KEYS = ("file_path", "notebook_path", "path")
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


# A sub-agent's doing; and what was typed while the agent was at work, of which some clients write
# down no more than that it waited.
OF_AGENT, WAITED = 1, 2


class Piece(NamedTuple):
    """One searchable text."""

    line: int
    kind: str
    tool: str
    file: str
    at: str
    text: str
    call: int = 0
    """Of a result, the line of its call."""
    ok: bool | None = None
    """Of a result, whether it went well; nothing while it is not known."""
    aside: int = 0
    """`OF_AGENT` or `WAITED`, if it does not stand in the main line of the conversation."""

    @property
    def seconds(self) -> int:
        """When it happened, or 0."""
        from datetime import datetime

        try:
            return int(datetime.fromisoformat(self.at).timestamp()) if self.at else 0
        except (ValueError, OverflowError):
            return 0


# What a call was, until its result is read: tool, file, the result's kind and the call's line.
Calls = dict[str, list[Any]]


def pieces(numbered: Iterable[tuple[int, bytes]], calls: Calls) -> Iterator[Piece | Event]:
    """The texts of transcript lines; compactions are told as the events that they are.

    `calls` are those without a result yet, and is kept up to date.
    """
    # Here and below: a lookup that finds nothing new to read does without.
    from holdfast.transcript.events import decode

    raw = b""

    def noted() -> Iterator[tuple[int, bytes]]:
        nonlocal raw
        for number, line in numbered:
            raw = line
            yield number, line

    for event in decode(noted(), burst=0):
        kind = event["kind"]
        if kind == "compaction":
            yield event
        elif kind == "bad_line":
            text = raw.decode("utf-8", "replace")
            yield Piece(event["line"], "line", "", "", "", capped(redact(text)))
        elif piece := _piece(event, calls):
            yield piece


def whole_pieces(number: int, raw: bytes) -> Iterator[Piece]:
    """The texts of one line, all of each."""
    from holdfast.transcript.events import decode

    for event in decode([(number, raw)]):
        if piece := _piece(event, {}, whole=True):
            yield piece


def _piece(event: Event, calls: Calls, *, whole: bool = False) -> Piece | None:
    """The text of an event. A brief of ours is not worth finding, but can be looked at."""
    aside = OF_AGENT if "agent" in event else 0
    if event["kind"] == "queue":
        event, aside = {**event, **(event.get("detail") or {})}, WAITED
    kind: str = event["kind"]
    tool = file = ""
    call, ok = 0, None
    if kind == "tool_call":
        tool, file, kind = _called(event, calls)
        text = called(event)
    elif kind == "tool_result":
        tool, file, kind, call = calls.pop(event.get("id", ""), ["", "", kind, 0])
        ok = None if "running" in event else event.get("ok")
        text = redact(event.get("text", ""))
    else:
        text = redact(event.get("text", ""))
        if kind == "command":
            text = f"{event.get('name', '')} {text}".strip()
        if kind == "injected" and MARKER in text and not whole:
            return None
    if not text.strip() or kind not in KINDS:
        return None
    text = text if whole else capped(text)
    return Piece(event["line"], kind, tool, file, event.get("at", ""), text, call, ok, aside)


def _called(event: Event, calls: Calls) -> tuple[str, str, str]:
    given, tool = event["input"], event["name"]
    file = redact(next((word for key in FILE_KEYS if isinstance(word := given.get(key), str)), ""))
    command = given.get("command")
    looked_up = tool.startswith("mcp__holdfast__") or (
        isinstance(command, str) and any(mark in command for mark in LOOKUPS)
    )
    calls[event["id"]] = [tool, file, "lookup" if looked_up else "tool_result", event["line"]]
    while len(calls) > MOST_OPEN_CALLS:
        del calls[next(iter(calls))]
    return tool, file, "lookup" if looked_up else "tool_call"


def called(event: Event) -> str:
    """A tool call as a person reads it: no escapes, every line as it was given."""
    lines = [event["name"]]
    for name, value in redact_value(event["input"]).items():
        lines.append(_told(str(name), value))
    return "\n".join(lines)


def _told(name: str, value: Any) -> str:
    if not isinstance(value, str):
        import json

        value = json.dumps(value, ensure_ascii=False)
    return f"{name}:\n{value}" if "\n" in value else f"{name}: {value}"


def capped(text: str) -> str:
    """The text, or its beginning and end."""
    if len(text) <= LONGEST:
        return text
    left_out = len(text) - LONGEST
    return f"{text[: LONGEST - TAIL]}\n… [{left_out} characters left out] …\n{text[-TAIL:]}"
