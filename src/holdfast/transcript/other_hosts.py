"""Convert the logs of other hosts into events with Claude Code's tool names.

The hosts are Factory Droid, deepagents-code, Gemini CLI, Copilot CLI and Cursor; the formats are
taken from their documentation and published code. Unknown types and keys are ignored; nothing here
may raise.
"""

from __future__ import annotations

from holdfast.lenient_json import as_dict, as_text
from holdfast.transcript import apply_patch, claude_code
from holdfast.transcript.user_text import make_event, strip_client_tags

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from holdfast.transcript.types import Event

    EventGroup = tuple[str, list[Event]]

# Claude Code's name of each tool, by the other host's name in lower case.
TOOL_NAMES = {
    "execute": "Bash", "bash": "Bash", "run_shell_command": "Bash", "shell": "Bash",
    "create": "Write", "write_file": "Write", "write": "Write",
    "edit": "Edit", "replace": "Edit", "str_replace": "Edit", "strreplace": "Edit",
    "multiedit": "MultiEdit", "edit_file": "Edit",
    "view": "Read", "read_file": "Read", "read": "Read",
    "todowrite": "TodoWrite", "write_todos": "TodoWrite", "applypatch": "apply_patch",
    "apply_patch": "apply_patch",
}  # fmt: skip
PATH_KEYS = ("file_path", "path", "absolute_path", "filePath")
# Marks the message of Gemini that replaces the history before it.
SNAPSHOT_TAG = "<state_snapshot>"
# Prefixes of the texts that the client writes in the user's role.
CLIENT_TEXT_PREFIXES = ("<environment_context>", "<system-reminder>", "<user_info>")


def to_event_groups(line: dict[str, Any], number: int) -> list[EventGroup]:
    """Return groups of events, each with the key under which the host may log it again.

    The decoder skips a group whose key it has seen; an empty key is never skipped.
    """
    kind = line.get("type")
    if "$set" in line:
        return _stamp(_convert_gemini_update(line), line, number)
    if kind in ("user", "gemini"):
        return _stamp(_convert_gemini_message(line), line, number)
    convert = _CONVERTERS.get(kind) if isinstance(kind, str) else None
    if convert is not None:
        return _stamp([("", convert(line, number))], line, number)
    if "projectHash" in line:
        place = {"session": as_text(line.get("sessionId")), "host": "gemini"}
        return _stamp([("", [make_event("place", place=place)])], line, number)
    return _stamp([("", _convert_role_message(line, number))], line, number)


def _stamp(groups: list[EventGroup], line: dict[str, Any], number: int) -> list[EventGroup]:
    """Add the line's number and timestamp to all events."""
    at = line.get("timestamp")
    for _, events in groups:
        for event in events:
            event["line"] = number
            if isinstance(at, str):
                event["at"] = at
    return groups


def _convert_role_message(line: dict[str, Any], number: int) -> list[Event]:
    """A line of Cursor, or one that deepagents-code makes of its messages."""
    role, message = line.get("role"), line.get("message")
    content = message.get("content") if isinstance(message, dict) else line.get("content")
    if role == "tool":
        ident = as_text(line.get("record_id"))
        call = make_event("tool_call", id=ident, name=as_text(line.get("name")), input={})
        return [call, make_event("tool_result", id=ident, ok=True, text=_join_text(content))]
    return _convert_like_claude(role, content, number)


def _convert_like_claude(role: Any, content: Any, number: int) -> list[Event]:
    """Convert a message whose content is written as Claude Code's, except for tool names."""
    if role not in ("user", "assistant"):
        return []
    events = claude_code.to_events({"type": role, "message": {"content": content}}, number)
    if role == "assistant" and isinstance(content, str) and content.strip():
        events = [make_event("reply", text=content)]
    for event in events:
        if event["kind"] == "tool_call":
            event.update(to_call_event(event["id"], event["name"], event["input"]))
    return [
        event for event in events if not as_text(event.get("text")).startswith(CLIENT_TEXT_PREFIXES)
    ]


def _convert_droid_message(line: dict[str, Any], number: int) -> list[Event]:
    message = as_dict(line.get("message"))
    return _convert_like_claude(message.get("role"), message.get("content"), number)


def _convert_droid_start(line: dict[str, Any], number: int) -> list[Event]:
    place = {"session": as_text(line.get("id")), "cwd": as_text(line.get("cwd")), "host": "droid"}
    return [make_event("place", place={name: value for name, value in place.items() if value})]


def _convert_gemini_message(line: dict[str, Any]) -> list[EventGroup]:
    """A message, which the client writes again whenever it grows."""
    ident, text = as_text(line.get("id")), _join_text(line.get("content")).strip()
    if line.get("type") == "user":
        typed = strip_client_tags(text)
        is_prompt = typed and not text.startswith((SNAPSHOT_TAG, *CLIENT_TEXT_PREFIXES))
        return [(f"{ident} prompt", [make_event("prompt", text=typed)])] if is_prompt else []
    groups = [(f"{ident} reply", [make_event("reply", text=text)])] if text else []
    calls = line.get("toolCalls")
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict) and call.get("status") in ("success", "error", "cancelled"):
            groups.append((as_text(call.get("id")), _convert_gemini_call(call)))
    tokens = line.get("tokens")
    count = tokens.get("input") if isinstance(tokens, dict) else None
    if isinstance(count, int) and count:
        model = as_text(line.get("model"))
        usage = make_event("usage", id=ident, model=model, context=count, output=0)
        groups.append((f"{ident} usage", [usage]))
    return groups


def _convert_gemini_call(call: dict[str, Any]) -> list[Event]:
    ident = as_text(call.get("id"))
    result = call.get("result")
    texts = [_find_gemini_output(part) for part in (result if isinstance(result, list) else ())]
    ok, text = call.get("status") == "success", "\n".join(filter(None, texts))
    return [
        to_call_event(ident, as_text(call.get("name")), as_dict(call.get("args"))),
        make_event("tool_result", id=ident, ok=ok, text=text),
    ]


def _find_gemini_output(part: Any) -> str:
    response = as_dict(as_dict(as_dict(part).get("functionResponse")).get("response"))
    return as_text(response.get("output") or response.get("error"))


def _convert_gemini_update(line: dict[str, Any]) -> list[EventGroup]:
    """The history was replaced: a compaction, if the new one begins with a state snapshot."""
    messages = as_dict(line.get("$set")).get("messages")
    for message in messages[:3] if isinstance(messages, list) else ():
        text = _join_text(message.get("content")) if isinstance(message, dict) else ""
        if SNAPSHOT_TAG in text:
            ident = as_text(message.get("id"))
            compaction = make_event("compaction", trigger="", id=ident)
            return [(f"{ident} snapshot", [compaction, make_event("summary", text=text)])]
    return []


def _convert_copilot(line: dict[str, Any], number: int) -> list[Event]:
    kind, data = line.get("type"), as_dict(line.get("data"))
    text = as_text(data.get("content"))
    if kind == "user.message":
        typed = strip_client_tags(text)
        return [make_event("prompt", text=typed)] if typed else []
    if kind == "assistant.message":
        calls = data.get("toolRequests")
        replies = [make_event("reply", text=text)] if text.strip() else []
        return [
            *replies,
            *(
                _convert_copilot_call(call)
                for call in (calls if isinstance(calls, list) else ())
                if isinstance(call, dict)
            ),
        ]
    if kind == "tool.execution_complete":
        result = data.get("result")
        output = as_text(result.get("content")) if isinstance(result, dict) else as_text(result)
        ident, ok = as_text(data.get("toolCallId")), data.get("success") is not False
        return [make_event("tool_result", id=ident, ok=ok, text=output)]
    if kind == "session.compaction_complete":
        return _convert_copilot_compaction(data)
    return _convert_copilot_start(data)


def _convert_copilot_compaction(data: dict[str, Any]) -> list[Event]:
    if data.get("success") is False:
        return []
    compaction = make_event("compaction", trigger="", id=as_text(data.get("checkpointPath")))
    for ours, theirs in (("before", "preCompactionTokens"), ("after", "postCompactionTokens")):
        if isinstance(count := data.get(theirs), int):
            compaction[ours] = count  # type: ignore[literal-required]
    return [compaction, make_event("summary", text=as_text(data.get("summaryContent")))]


def _convert_copilot_start(data: dict[str, Any]) -> list[Event]:
    context = as_dict(data.get("context"))
    place = {
        "session": as_text(data.get("sessionId")), "client": as_text(data.get("copilotVersion")),
        "cwd": as_text(context.get("cwd")), "branch": as_text(context.get("branch")),
        "host": "copilot",
    }  # fmt: skip
    return [make_event("place", place={name: value for name, value in place.items() if value})]


def _convert_copilot_call(call: dict[str, Any]) -> Event:
    ident, name = as_text(call.get("toolCallId")), as_text(call.get("name"))
    return to_call_event(ident, name, as_dict(call.get("arguments")))


def to_call_event(ident: str, name: str, arguments: dict[str, Any]) -> Event:
    """Return a call with Claude Code's name of the tool and its key for the path."""
    tool = TOOL_NAMES.get(name.lower(), name)
    converted = dict(arguments)
    path = next((value for key in PATH_KEYS if isinstance(value := arguments.get(key), str)), "")
    if path and tool in ("Read", "Write", "Edit", "MultiEdit"):
        converted["file_path"] = path
    if tool == "TodoWrite" and isinstance(todos := arguments.get("todos"), list):
        converted["todos"] = [_to_todo(todo) for todo in todos]
    if tool == "apply_patch":
        patch = as_text(arguments.get("input") or arguments.get("patch"))
        converted["changes"] = apply_patch.parse_patch(patch)
    call = make_event("tool_call", id=ident, name=tool, input=converted)
    folder = as_text(arguments.get("directory")) or as_text(arguments.get("dir_path"))
    if folder.startswith("/"):
        call["cwd"] = folder
    return call


def _to_todo(todo: Any) -> Any:
    if isinstance(todo, dict) and "content" not in todo:
        return {**todo, "content": todo.get("description")}
    return todo


_CONVERTERS = {
    "message": _convert_droid_message,
    "session_start": _convert_droid_start,
    "user.message": _convert_copilot,
    "assistant.message": _convert_copilot,
    "tool.execution_complete": _convert_copilot,
    "session.start": _convert_copilot,
    "session.compaction_complete": _convert_copilot,
}


def _join_text(content: Any) -> str:
    """Join the text of a string or of a list of blocks; other parts are ignored."""
    if isinstance(content, str):
        return content
    parts = [as_dict(part).get("text") for part in (content if isinstance(content, list) else ())]
    return "\n".join(part for part in parts if isinstance(part, str))
