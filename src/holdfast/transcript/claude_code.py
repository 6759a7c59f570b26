"""Convert Claude Code's transcript lines into events.

Unknown types and keys are ignored; nothing here may raise.
"""

from __future__ import annotations

from holdfast.lenient_json import as_dict, as_text
from holdfast.transcript.user_text import (
    MAX_TEXT_CHARS,
    classify_queued_text,
    classify_text,
    make_event,
    parse_refusal,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from holdfast.transcript.types import Event

# The parts of a request's size in tokens.
CONTEXT_FIELDS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
# A file that the client shows to the model without a call, and one that it only names.
ATTACHED_FILE_TYPES = ("file", "compact_file_reference")
PLACE_FIELDS = {"cwd": "cwd", "gitBranch": "branch", "version": "client", "sessionId": "session"}


def to_place(line: dict[str, Any]) -> dict[str, str]:
    """Return the folder, branch, client version and session that every message line states.

    Empty for other lines and for those of sub-agents.
    """
    if line.get("type") not in ("user", "assistant") or line.get("isSidechain"):
        return {}
    return {
        ours: value
        for theirs, ours in PLACE_FIELDS.items()
        if isinstance(value := line.get(theirs), str)
    }


def to_events(line: dict[str, Any], number: int) -> list[Event]:
    """Return the events of one line, in order."""
    kind = line.get("type")
    convert = _CONVERTERS.get(kind) if isinstance(kind, str) else None
    if convert is None:
        return []
    events: list[Event] = convert(line)
    if not events:
        return events
    at = line.get("timestamp")
    if isinstance(at, str):
        for event in events:
            event["line"], event["at"] = number, at
    else:
        for event in events:
            event["line"] = number
    if line.get("isSidechain"):
        agent = as_text(line.get("agentId")) or "sidechain"
        for event in events:
            event.setdefault("agent", agent)
    return events


def _convert_user(line: dict[str, Any]) -> list[Event]:
    events: list[Event] = []
    message = line.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if line.get("todos") and isinstance(line["todos"], list):
        events.append(make_event("plan", detail=line["todos"]))
    if isinstance(plan := line.get("planContent"), str) and plan:
        events.append(make_event("plan_file", text=plan, name=""))
    if line.get("isCompactSummary"):
        events.append(make_event("summary", text=_join_text(content)))
        return events
    if isinstance(content, str):
        _append(events, classify_text(content, bool(line.get("isMeta"))))
        return events
    for block in content if isinstance(content, list) else ():
        if not isinstance(block, dict):
            continue
        kind = block.get("type")
        if kind == "tool_result":
            _add_tool_result(events, block, line)
        elif kind == "text":
            _append(events, classify_text(as_text(block.get("text")), bool(line.get("isMeta"))))
    return events


def _add_tool_result(events: list[Event], block: dict[str, Any], line: dict[str, Any]) -> None:
    content, ident = block.get("content"), as_text(block.get("tool_use_id"))
    text = content if isinstance(content, str) else _join_text(content)
    ok = not block.get("is_error")
    if not ok:
        # Before the result, as long as the fold knows the call.
        _append(events, parse_refusal(text, ident))
    events.append({
        "kind": "tool_result", "line": 0, "id": ident, "ok": ok, "text": text,
        "detail": line.get("toolUseResult"),
    })  # fmt: skip


def _convert_assistant(line: dict[str, Any]) -> list[Event]:
    message = line.get("message")
    if line.get("isApiErrorMessage") or not isinstance(message, dict):
        return []
    events: list[Event] = []
    content = message.get("content")
    for block in content if isinstance(content, list) else ():
        if not isinstance(block, dict):
            continue
        kind = block.get("type")
        if kind == "tool_use":
            ident, name, arguments = block.get("id"), block.get("name"), block.get("input")
            events.append({
                "kind": "tool_call", "line": 0, "id": ident if isinstance(ident, str) else "",
                "name": name if isinstance(name, str) else "",
                "input": arguments if isinstance(arguments, dict) else {},
            })  # fmt: skip
        elif kind == "text" and (text := as_text(block.get("text"))):
            events.append({"kind": "reply", "line": 0, "text": text[:MAX_TEXT_CHARS]})
    usage = message.get("usage")
    if isinstance(usage, dict) and message.get("model") != "<synthetic>":
        events.append(_to_usage(message, usage))
    return events


def _to_usage(message: dict[str, Any], usage: dict[str, Any]) -> Event:
    context = 0
    for name in CONTEXT_FIELDS:
        count = usage.get(name)
        if isinstance(count, int):
            context += count
    output, ident, model = usage.get("output_tokens"), message.get("id"), message.get("model")
    return {
        "kind": "usage", "line": 0, "id": ident if isinstance(ident, str) else "",
        "model": model if isinstance(model, str) else "", "context": context,
        "output": output if isinstance(output, int) else 0,
    }  # fmt: skip


def _convert_system(line: dict[str, Any]) -> list[Event]:
    """A compaction boundary; other system lines carry no event."""
    if line.get("subtype") != "compact_boundary":
        return []
    metadata = as_dict(line.get("compactMetadata"))
    event = make_event(
        "compaction", trigger=as_text(metadata.get("trigger")), id=as_text(line.get("uuid"))
    )
    for ours, theirs in (("before", "preTokens"), ("after", "postTokens")):
        if isinstance(metadata.get(theirs), int):
            event[ours] = metadata[theirs]  # type: ignore[literal-required]
    if isinstance(metadata.get("durationMs"), int):
        event["duration"] = metadata["durationMs"]
    return [event]


def _convert_attachment(line: dict[str, Any]) -> list[Event]:
    attachment = line.get("attachment")
    if not isinstance(attachment, dict):
        return []
    kind = attachment.get("type")
    events: list[Event] = []
    if kind in ("hook_additional_context", "hook_success"):
        # Each part is the text of one hook. A hook that printed JSON also leaves it in `stdout`,
        # which the model is not shown.
        content, hook = attachment.get("content"), as_text(attachment.get("hookEvent"))
        for part in content if isinstance(content, list) else [content]:
            events.append(make_event("injected", hook=hook, text=_join_text([part])))
    elif kind == "queued_command" and attachment.get("commandMode", "prompt") == "prompt":
        # Typed while the agent was working.
        text = _join_text(attachment.get("prompt"))
        is_meta = line.get("isMeta")
        _append(
            events, classify_text(text, is_meta=True) if is_meta else classify_queued_text(text)
        )
        for event in events:
            event["queued"] = True
    elif kind in ATTACHED_FILE_TYPES:
        path = as_text(attachment.get("filename"))
        events.append(make_event("attached_file", name=path, text=_find_file_text(attachment)))
    elif kind in ("task_reminder", "todo_reminder", "todo"):
        events.append(make_event("plan", detail=attachment.get("content")))
    elif kind == "plan_file_reference":
        path = as_text(attachment.get("planFilePath"))
        plan = as_text(attachment.get("planContent"))
        events.append(make_event("plan_file", name=path, text=plan))
    return events


def _find_file_text(attachment: dict[str, Any]) -> str:
    file = as_dict(as_dict(attachment.get("content")).get("file"))
    return as_text(file.get("content"))


def _convert_queue_operation(line: dict[str, Any]) -> list[Event]:
    """What was typed while the agent was working; older clients log it nowhere else."""
    operation, content = as_text(line.get("operation")), as_text(line.get("content"))
    if operation != "enqueue":
        return [make_event("queue", name=operation)]
    event = classify_queued_text(content)
    message = event if event is not None and event["kind"] in ("prompt", "command") else None
    return [make_event("queue", name=operation, detail=message)]


def _convert_progress(line: dict[str, Any]) -> list[Event]:
    """A sub-agent's message, which some versions repeat in the main log."""
    data = line.get("data")
    if not isinstance(data, dict) or data.get("type") != "agent_progress":
        return []
    message = data.get("message")
    if not isinstance(message, dict):
        return []
    convert = _convert_user if message.get("type") == "user" else _convert_assistant
    agent = as_text(data.get("agentId")) or "sidechain"
    events = convert(message)
    for event in events:
        event["agent"] = agent
        event["parent"] = as_text(line.get("parentToolUseID"))
    return events


def _convert_pull_request(line: dict[str, Any]) -> list[Event]:
    return [make_event("pull_request", text=as_text(line.get("prUrl")))]


_CONVERTERS = {
    "user": _convert_user,
    "assistant": _convert_assistant,
    "system": _convert_system,
    "attachment": _convert_attachment,
    "queue-operation": _convert_queue_operation,
    "progress": _convert_progress,
    "pr-link": _convert_pull_request,
}


def _append(events: list[Event], event: Event | None) -> None:
    if event is not None:
        events.append(event)


def _join_text(content: Any) -> str:
    """Join the text of a string, of a list of strings or of a list of blocks."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = [
        part if isinstance(part, str) else part.get("text")
        for part in content
        if isinstance(part, str | dict)
    ]
    return "\n".join(text for text in texts if isinstance(text, str))
