"""Lines of hosts whose logs say what Claude Code's say in other words: told in its shape.

Factory Droid, deepagents-code, Gemini CLI, Copilot CLI and Cursor. Written from their
documentation and published code; what is not understood is passed over, and nothing may raise.
"""

from __future__ import annotations

from holdfast.transcript import claude_code, patch
from holdfast.transcript.speech import event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from holdfast.transcript.model import Event

# Which tool of theirs is which of ours.
TOOLS = {
    "execute": "Bash", "bash": "Bash", "run_shell_command": "Bash", "shell": "Bash",
    "create": "Write", "write_file": "Write", "write": "Write",
    "edit": "Edit", "replace": "Edit", "str_replace": "Edit", "strreplace": "Edit",
    "multiedit": "MultiEdit", "edit_file": "Edit",
    "view": "Read", "read_file": "Read", "read": "Read",
    "todowrite": "TodoWrite", "write_todos": "TodoWrite", "applypatch": "apply_patch",
    "apply_patch": "apply_patch",
}  # fmt: skip
PATHS = ("file_path", "path", "absolute_path", "filePath")
# How a message begins that stands for everything before it, in Gemini's log.
SNAPSHOT = "<state_snapshot>"
LEFT_OUT = ("<environment_context>", "<system-reminder>", "<user_info>")


def groups(line: dict[str, Any], number: int) -> list[tuple[str, list[Event]]]:
    """Events that belong together, each group with the identity by which it may come again."""
    kind = line.get("type")
    if "$set" in line:
        return _stamped(_replaced(line), line, number)
    if kind in ("user", "gemini"):
        return _stamped(_gemini(line), line, number)
    reader = _READERS.get(kind) if isinstance(kind, str) else None
    if reader is not None:
        return _stamped([("", reader(line, number))], line, number)
    if "projectHash" in line:
        told = {"session": _word(line.get("sessionId")), "host": "gemini"}
        return _stamped([("", [event("place", place=told)])], line, number)
    return _stamped([("", _by_role(line, number))], line, number)


def _stamped(
    found: list[tuple[str, list[Event]]], line: dict[str, Any], number: int
) -> list[tuple[str, list[Event]]]:
    at = line.get("timestamp")
    for _, events in found:
        for one in events:
            one["line"] = number
            if isinstance(at, str):
                one["at"] = at
    return found


def _by_role(line: dict[str, Any], number: int) -> list[Event]:
    """Cursor's lines, and those that deepagents-code makes of its messages."""
    role, message = line.get("role"), line.get("message")
    content = message.get("content") if isinstance(message, dict) else line.get("content")
    if role == "tool":
        ident = _word(line.get("record_id"))
        asked = event("tool_call", id=ident, name=_word(line.get("name")), input={})
        return [asked, event("tool_result", id=ident, ok=True, text=_text(content))]
    return _as_claude(role, content, number)


def _as_claude(role: Any, content: Any, number: int) -> list[Event]:
    if role not in ("user", "assistant"):
        return []
    found = claude_code.events({"type": role, "message": {"content": content}}, number)
    if role == "assistant" and isinstance(content, str) and content.strip():
        found = [event("reply", text=content)]
    for one in found:
        if one["kind"] == "tool_call":
            one.update(_call(one["id"], one["name"], one["input"]))
    return [one for one in found if not _word(one.get("text")).startswith(LEFT_OUT)]


def _droid(line: dict[str, Any], number: int) -> list[Event]:
    message = line.get("message")
    message = message if isinstance(message, dict) else {}
    return _as_claude(message.get("role"), message.get("content"), number)


def _droid_start(line: dict[str, Any], number: int) -> list[Event]:
    told = {"session": _word(line.get("id")), "cwd": _word(line.get("cwd")), "host": "droid"}
    return [event("place", place={name: value for name, value in told.items() if value})]


def _gemini(line: dict[str, Any]) -> list[tuple[str, list[Event]]]:
    """A message; the client writes it again whenever it has more to say of it."""
    ident, text = _word(line.get("id")), _text(line.get("content")).strip()
    if line.get("type") == "user":
        person = text and not text.startswith((SNAPSHOT, *LEFT_OUT))
        return [(f"{ident} prompt", [event("prompt", text=text)])] if person else []
    found = [(f"{ident} reply", [event("reply", text=text)])] if text else []
    calls = line.get("toolCalls")
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict) and call.get("status") in ("success", "error", "cancelled"):
            found.append((_word(call.get("id")), _gemini_call(call)))
    tokens = line.get("tokens")
    count = tokens.get("input") if isinstance(tokens, dict) else None
    if isinstance(count, int) and count:
        model = _word(line.get("model"))
        used = event("usage", id=ident, model=model, context=count, output=0)
        found.append((f"{ident} usage", [used]))
    return found


def _gemini_call(call: dict[str, Any]) -> list[Event]:
    ident, given = _word(call.get("id")), call.get("args")
    made = _call(ident, _word(call.get("name")), given if isinstance(given, dict) else {})
    result = call.get("result")
    texts = [_response(part) for part in (result if isinstance(result, list) else ())]
    ok = call.get("status") == "success"
    return [made, event("tool_result", id=ident, ok=ok, text="\n".join(filter(None, texts)))]


def _response(part: Any) -> str:
    answer = part.get("functionResponse") if isinstance(part, dict) else None
    answer = answer.get("response") if isinstance(answer, dict) else None
    return _word(answer.get("output") or answer.get("error")) if isinstance(answer, dict) else ""


def _replaced(line: dict[str, Any]) -> list[tuple[str, list[Event]]]:
    """The whole history was set anew: a compression, if it begins with what stands for the rest."""
    told = line.get("$set")
    messages = told.get("messages") if isinstance(told, dict) else None
    for message in messages[:3] if isinstance(messages, list) else ():
        text = _text(message.get("content")) if isinstance(message, dict) else ""
        if SNAPSHOT in text:
            ident = _word(message.get("id"))
            made = event("compaction", trigger="", id=ident)
            return [(f"{ident} snapshot", [made, event("summary", text=text)])]
    return []


def _copilot(line: dict[str, Any], number: int) -> list[Event]:
    kind, data = line.get("type"), line.get("data")
    data = data if isinstance(data, dict) else {}
    text = _word(data.get("content"))
    if kind == "user.message":
        return [event("prompt", text=text.strip())] if text.strip() else []
    if kind == "assistant.message":
        asked = data.get("toolRequests")
        calls = [one for one in (asked if isinstance(asked, list) else ()) if isinstance(one, dict)]
        said = [event("reply", text=text)] if text.strip() else []
        return [*said, *(_copilot_call(one) for one in calls)]
    if kind == "tool.execution_complete":
        result = data.get("result")
        told = _word(result.get("content")) if isinstance(result, dict) else _word(result)
        ok = data.get("success") is not False
        return [event("tool_result", id=_word(data.get("toolCallId")), ok=ok, text=told)]
    return _copilot_session(kind, data)


def _copilot_session(kind: Any, data: dict[str, Any]) -> list[Event]:
    if kind == "session.compaction_complete":
        if data.get("success") is False:
            return []
        made = event("compaction", trigger="", id=_word(data.get("checkpointPath")))
        for ours, theirs in (("before", "preCompactionTokens"), ("after", "postCompactionTokens")):
            if isinstance(count := data.get(theirs), int):
                made[ours] = count  # type: ignore[literal-required]
        return [made, event("summary", text=_word(data.get("summaryContent")))]
    about = data.get("context")
    about = about if isinstance(about, dict) else {}
    told = {
        "session": _word(data.get("sessionId")), "client": _word(data.get("copilotVersion")),
        "cwd": _word(about.get("cwd")), "branch": _word(about.get("branch")), "host": "copilot",
    }  # fmt: skip
    return [event("place", place={name: value for name, value in told.items() if value})]


def _copilot_call(asked: dict[str, Any]) -> Event:
    given = asked.get("arguments")
    name = _word(asked.get("name"))
    return _call(_word(asked.get("toolCallId")), name, given if isinstance(given, dict) else {})


def _call(ident: str, name: str, given: dict[str, Any]) -> Event:
    """A call of theirs as one of ours: the tool's name, and the path under one key."""
    tool = TOOLS.get(name.lower(), name)
    told = dict(given)
    path = next((word for key in PATHS if isinstance(word := given.get(key), str)), "")
    if path and tool in ("Read", "Write", "Edit", "MultiEdit"):
        told["file_path"] = path
    if tool == "TodoWrite" and isinstance(todos := given.get("todos"), list):
        told["todos"] = [_todo(todo) for todo in todos]
    if tool == "apply_patch":
        told["changes"] = patch.changes(_word(given.get("input") or given.get("patch")))
    made = event("tool_call", id=ident, name=tool, input=told)
    folder = _word(given.get("directory")) or _word(given.get("dir_path"))
    if folder.startswith("/"):
        made["cwd"] = folder
    return made


def _todo(todo: Any) -> Any:
    if isinstance(todo, dict) and "content" not in todo:
        return {**todo, "content": todo.get("description")}
    return todo


_READERS = {
    "message": _droid,
    "session_start": _droid_start,
    "user.message": _copilot,
    "assistant.message": _copilot,
    "tool.execution_complete": _copilot,
    "session.start": _copilot,
    "session.compaction_complete": _copilot,
}


def _word(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = [part.get("text") for part in (content if isinstance(content, list) else ())
             if isinstance(part, dict)]  # fmt: skip
    return "\n".join(part for part in parts if isinstance(part, str))
