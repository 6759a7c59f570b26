"""Transcript lines as Claude Code writes them, and helpers to decode and fold them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from holdfast.state.fold import fold, new_state
from holdfast.state.types import State
from holdfast.transcript.decoder import decode
from holdfast.transcript.types import Event

Line = dict[str, Any]

ROOT = "/srv/app"
AT = "2026-01-05T10:00:00.000Z"
SUMMARY = "This session is being continued from a previous conversation that ran out of context."


def line(kind: str, **fields: Any) -> Line:
    """A line with the fields that every message line has."""
    return {
        "isSidechain": False,
        "type": kind,
        "timestamp": AT,
        "cwd": ROOT,
        "sessionId": "5e55",
        "version": "2.1.325",
        "gitBranch": "main",
        **fields,
    }


def user(content: Any, **fields: Any) -> Line:
    return line("user", message={"role": "user", "content": content}, **fields)


def assistant(*blocks: Any, usage: Any = None, **fields: Any) -> Line:
    message = {"id": "msg_1", "model": "claude-sonnet-4-5", "content": list(blocks)}
    return line("assistant", message={**message, "usage": usage} if usage else message, **fields)


def text(content: str) -> Line:
    return {"type": "text", "text": content}


def reply(content: str, **fields: Any) -> Line:
    return assistant(text(content), **fields)


def call(name: str, tool_input: Any, call_id: str = "toolu_1", **fields: Any) -> Line:
    block = {"type": "tool_use", "id": call_id, "name": name, "input": tool_input}
    return assistant(block, **fields)


def result(
    content: Any = "",
    *,
    ok: bool = True,
    detail: Any = None,
    call_id: str = "toolu_1",
    **fields: Any,
) -> Line:
    block = {"type": "tool_result", "tool_use_id": call_id, "content": content, "is_error": not ok}
    return user([block], toolUseResult=detail, **fields)


def tool_use(
    name: str, tool_input: Any, content: Any = "", *, ok: bool = True, detail: Any = None
) -> list[Line]:
    """A tool call and its result."""
    return [call(name, tool_input), result(content, ok=ok, detail=detail)]


def bash(command: str, output: str = "", *, ok: bool = True, detail: Any = None) -> list[Line]:
    return tool_use("Bash", {"command": command}, output, ok=ok, detail=detail)


def usage_line(context: int, **message: Any) -> Line:
    """A message of the model that carries its token usage."""
    message_line = assistant(usage={"input_tokens": context, "output_tokens": 7})
    message_line["message"].update(message)
    return message_line


def boundary(**metadata: Any) -> Line:
    return line("system", subtype="compact_boundary", compactMetadata=metadata)


def summary() -> Line:
    return user(SUMMARY, isCompactSummary=True, isVisibleInTranscriptOnly=True)


def attachment(kind: str, **body: Any) -> Line:
    return line("attachment", attachment={"type": kind, **body})


def raw(line: Line | bytes) -> bytes:
    """The bytes of a line as the host writes them; bytes are returned unchanged."""
    if isinstance(line, bytes):
        return line
    return json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def numbered(lines: Iterable[Line | bytes], first: int = 1) -> list[tuple[int, bytes]]:
    return [(number, raw(line)) for number, line in enumerate(lines, first)]


def events_of(*lines: Line | bytes) -> list[Event]:
    """The events of the lines, without those of kind `place`."""
    return [event for event in decode(numbered(lines)) if event["kind"] != "place"]


def state_of(*lines: Line | bytes) -> State:
    """The state after the lines of a file."""
    return fold(new_state(), decode(numbered(lines)))
