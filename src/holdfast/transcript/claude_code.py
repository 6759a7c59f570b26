"""Claude Code's transcript lines as events.

Unknown types and keys are passed over; nothing here may raise.
"""

from __future__ import annotations

from holdfast.transcript.speech import LONGEST, event, refusal, said, typed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from holdfast.transcript.model import Event

CONTEXT = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
PLACE = {"cwd": "cwd", "gitBranch": "branch", "version": "client", "sessionId": "session"}


def place(line: dict[str, Any]) -> dict[str, str]:
    """Where the session stands, as written on every message line."""
    if line.get("type") not in ("user", "assistant") or line.get("isSidechain"):
        return {}
    return {
        ours: value for theirs, ours in PLACE.items() if isinstance(value := line.get(theirs), str)
    }


def events(line: dict[str, Any], number: int) -> list[Event]:
    """The events of one line, in order."""
    kind = line.get("type")
    reader = _READERS.get(kind) if isinstance(kind, str) else None
    if reader is None:
        return []
    found: list[Event] = reader(line)
    if not found:
        return found
    at = line.get("timestamp")
    if isinstance(at, str):
        for one in found:
            one["line"], one["at"] = number, at
    else:
        for one in found:
            one["line"] = number
    if line.get("isSidechain"):
        agent = _word(line.get("agentId")) or "sidechain"
        for one in found:
            one.setdefault("agent", agent)
    return found


def _user(line: dict[str, Any]) -> list[Event]:
    found: list[Event] = []
    message = line.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if line.get("todos") and isinstance(line["todos"], list):
        found.append(event("plan", detail=line["todos"]))
    if isinstance(plan := line.get("planContent"), str) and plan:
        found.append(event("plan_file", text=plan, name=""))
    if line.get("isCompactSummary"):
        found.append(event("summary", text=_text(content)))
        return found
    if isinstance(content, str):
        _add(found, said(content, bool(line.get("isMeta"))))
        return found
    for block in content if isinstance(content, list) else ():
        if not isinstance(block, dict):
            continue
        kind = block.get("type")
        if kind == "tool_result":
            _tool_result(found, block, line)
        elif kind == "text":
            _add(found, said(_word(block.get("text")), bool(line.get("isMeta"))))
    return found


def _tool_result(found: list[Event], block: dict[str, Any], line: dict[str, Any]) -> None:
    content, ident = block.get("content"), block.get("tool_use_id")
    text = content if isinstance(content, str) else _text(content)
    ok = not block.get("is_error")
    found.append({
        "kind": "tool_result", "line": 0, "id": ident if isinstance(ident, str) else "", "ok": ok,
        "text": text, "detail": line.get("toolUseResult"),
    })  # fmt: skip
    if not ok:
        _add(found, refusal(text))


def _assistant(line: dict[str, Any]) -> list[Event]:
    message = line.get("message")
    if line.get("isApiErrorMessage") or not isinstance(message, dict):
        return []
    found: list[Event] = []
    content = message.get("content")
    for block in content if isinstance(content, list) else ():
        if not isinstance(block, dict):
            continue
        kind = block.get("type")
        if kind == "tool_use":
            ident, name, given = block.get("id"), block.get("name"), block.get("input")
            found.append({
                "kind": "tool_call", "line": 0, "id": ident if isinstance(ident, str) else "",
                "name": name if isinstance(name, str) else "",
                "input": given if isinstance(given, dict) else {},
            })  # fmt: skip
        elif kind == "text" and (words := _word(block.get("text"))):
            found.append({"kind": "reply", "line": 0, "text": words[:LONGEST]})
    usage = message.get("usage")
    if isinstance(usage, dict) and message.get("model") != "<synthetic>":
        found.append(_usage(message, usage))
    return found


def _usage(message: dict[str, Any], usage: dict[str, Any]) -> Event:
    context = 0
    for name in CONTEXT:
        count = usage.get(name)
        if isinstance(count, int):
            context += count
    output, ident, model = usage.get("output_tokens"), message.get("id"), message.get("model")
    return {
        "kind": "usage", "line": 0, "id": ident if isinstance(ident, str) else "",
        "model": model if isinstance(model, str) else "", "context": context,
        "output": output if isinstance(output, int) else 0,
    }  # fmt: skip


def _system(line: dict[str, Any]) -> list[Event]:
    if line.get("subtype") != "compact_boundary":
        return []
    told = line.get("compactMetadata")
    told = told if isinstance(told, dict) else {}
    found = event("compaction", trigger=_word(told.get("trigger")), id=_word(line.get("uuid")))
    for ours, theirs in (("before", "preTokens"), ("after", "postTokens")):
        if isinstance(told.get(theirs), int):
            found[ours] = told[theirs]  # type: ignore[literal-required]
    if isinstance(told.get("durationMs"), int):
        found["duration"] = told["durationMs"]
    return [found]


def _attachment(line: dict[str, Any]) -> list[Event]:
    attached = line.get("attachment")
    if not isinstance(attached, dict):
        return []
    kind = attached.get("type")
    found: list[Event] = []
    if kind in ("hook_additional_context", "hook_success"):
        # One hook's text per part. A hook that printed JSON also leaves it in `stdout`, which
        # the model is not shown.
        content, hook = attached.get("content"), _word(attached.get("hookEvent"))
        for part in content if isinstance(content, list) else [content]:
            found.append(event("injected", hook=hook, text=_text([part])))
    elif kind == "queued_command" and attached.get("commandMode", "prompt") == "prompt":
        # Typed while the agent was at work.
        words = _text(attached.get("prompt"))
        _add(found, said(words, is_meta=True) if line.get("isMeta") else typed(words))
        for one in found:
            one["queued"] = True
    elif kind in ("task_reminder", "todo_reminder", "todo"):
        found.append(event("plan", detail=attached.get("content")))
    elif kind == "plan_file_reference":
        path, plan = _word(attached.get("planFilePath")), _word(attached.get("planContent"))
        found.append(event("plan_file", name=path, text=plan))
    return found


def _queue(line: dict[str, Any]) -> list[Event]:
    """What was typed while the agent was at work. Older clients write it down nowhere else."""
    operation, content = _word(line.get("operation")), _word(line.get("content"))
    if operation != "enqueue":
        return [event("queue", name=operation)]
    heard = typed(content)
    queued = heard if heard is not None and heard["kind"] in ("prompt", "command") else None
    return [event("queue", name=operation, detail=queued)]


def _progress(line: dict[str, Any]) -> list[Event]:
    """A sub-agent's messages, as some versions repeat them in the main log."""
    data = line.get("data")
    if not isinstance(data, dict) or data.get("type") != "agent_progress":
        return []
    message = data.get("message")
    if not isinstance(message, dict):
        return []
    reader = _user if message.get("type") == "user" else _assistant
    agent = _word(data.get("agentId")) or "sidechain"
    found = reader(message)
    for one in found:
        one["agent"] = agent
        one["parent"] = _word(line.get("parentToolUseID"))
    return found


def _pull_request(line: dict[str, Any]) -> list[Event]:
    return [event("pull_request", text=_word(line.get("prUrl")))]


_READERS = {
    "user": _user,
    "assistant": _assistant,
    "system": _system,
    "attachment": _attachment,
    "queue-operation": _queue,
    "progress": _progress,
    "pr-link": _pull_request,
}


def _add(found: list[Event], one: Event | None) -> None:
    if one is not None:
        found.append(one)


def _word(value: Any) -> str:
    """A text; what is none says nothing."""
    return value if isinstance(value, str) else ""


def _text(content: Any) -> str:
    """The text of a string, of a list of strings or of a list of blocks."""
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
