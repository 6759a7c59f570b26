"""Convert lines of a Codex rollout to the shape of Claude Code's, so that all are scored alike.

A patch becomes one call per file, and a compaction a summary. Nothing here is shared with the
code that is graded.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from typing import Any

Line = dict[str, Any]

KINDS = ("session_meta", "turn_context", "response_item", "event_msg", "compacted")
CLIENT_TEXT = re.compile(
    r"\s*(?:# AGENTS\.md instructions|Another language model started"
    r"|<(?:environment_context|user_instructions|recommended_plugins|turn_aborted|skill|permissions"
    r"|user_shell_command|subagent_notification|INSTRUCTIONS|image)\b)"
)
FILE = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+)$|^\*\*\* Move to: (.+)$", re.M)
COMMAND = re.compile(r'tools\.exec_command\(\s*\{\s*"?cmd"?\s*:\s*("(?:[^"\\]|\\.)*")')
WORKDIR = re.compile(r'"?workdir"?\s*:\s*("(?:[^"\\]|\\.)*")')
STEP = re.compile(r'\{\s*"?step"?\s*:\s*("(?:[^"\\]|\\.)*")\s*,\s*"?status"?\s*:\s*"(\w+)"')
EXIT = re.compile(r"^(?:Process exited with code|Exit code:) (-?\d+)$", re.M)
RUNNING = re.compile(
    r"^(?:Process running with session ID|Script running with cell ID) (\d+)$|^SESSION_ID=(\d+)$",
    re.M,
)
FAILED = re.compile(
    r"aborted|apply_patch verification failed|Script (?:failed|error)|exec_command failed"
    r"|execution error|failed to |unsupported |write_stdin failed|collab spawn failed"
)
HEADER_CHARS = 400


def is_rollout(line: Line) -> bool:
    return line.get("type") in KINDS and isinstance(line.get("payload"), dict)


class Rollout:
    """Converts one log; keeps its folder, branch and running calls."""

    def __init__(self) -> None:
        self.cwd = ""
        self.branch = ""
        self._parts: dict[str, list[str]] = {}  # call -> the calls it was split into
        self._running: dict[str, str] = {}  # running process -> the call that started it
        self._waits: dict[str, str] = {}  # waiting call -> the process it waits for

    def convert(self, line: Line) -> Line:
        """Return the line as Claude Code would have written it."""
        payload = line["payload"]
        if line["type"] in ("session_meta", "turn_context"):
            self.cwd = _text(payload.get("cwd")) or self.cwd
            git = payload.get("git")
            self.branch = _text(git.get("branch")) if isinstance(git, dict) else self.branch
        converted = {
            "type": "rollout",
            "cwd": self.cwd,
            "gitBranch": self.branch,
            "payload": payload,
        }
        if line["type"] == "compacted":
            text = _text(payload.get("message"))
            return converted | {
                "type": "user",
                "isCompactSummary": True,
                "message": {"content": text},
            }
        if line["type"] == "event_msg":
            return converted | self._convert_script_event(payload)
        if line["type"] == "response_item":
            # Clients that number their lines also log each command inside a script.
            return converted | self._convert_item(payload, "ordinal" in line, line.get("metadata"))
        return converted

    def _convert_item(self, payload: Line, logs_script_calls: bool, metadata: Any) -> Line:
        kind = _text(payload.get("type"))
        if kind == "message":
            is_summary = isinstance(metadata, dict) and metadata.get("compaction_output")
            return {} if is_summary else _convert_message(payload)
        if kind in ("function_call", "custom_tool_call", "local_shell_call"):
            blocks = [*self._convert_call(payload, logs_script_calls)]
            return _to_message("assistant", blocks) | self._folder(payload)
        if kind in ("function_call_output", "custom_tool_call_output"):
            return _to_message("user", [*self._convert_result(payload)])
        return {}

    def _folder(self, payload: Line) -> Line:
        arguments = _parse_arguments(payload)
        folder = _text(arguments.get("workdir"))
        if not folder and (match := WORKDIR.search(_text(payload.get("input")))):
            folder = json.loads(match[1])
        return {"cwd": folder} if folder else {}

    def _convert_call(self, payload: Line, logs_script_calls: bool) -> Iterator[Line]:
        ident, name = _text(payload.get("call_id")), _text(payload.get("name"))
        arguments, script = _parse_arguments(payload), _text(payload.get("input"))
        if name == "apply_patch":
            parts = [*_find_patch_calls(ident, script or _text(arguments.get("input")))]
            self._parts[ident] = [part["id"] for part in parts]
            yield from parts
        elif name == "exec" and script:
            commands = [json.loads(command) for command in COMMAND.findall(script)]
            if steps := [(json.loads(step), status) for step, status in STEP.findall(script)]:
                yield _to_call(f"{ident} plan", "TodoWrite", {"todos": _to_todos(steps)})
            if commands and not logs_script_calls:
                yield _to_call(ident, "Bash", {"command": "\n".join(commands)})
        elif name in ("write_stdin", "wait"):
            self._waits[ident] = str(arguments.get("session_id") or arguments.get("cell_id"))
        elif name == "update_plan":
            steps = [
                (_text(s.get("step")), _text(s.get("status"))) for s in arguments.get("plan", [])
            ]
            yield _to_call(ident, "TodoWrite", {"todos": _to_todos(steps)})
        elif name == "view_image":
            yield _to_call(ident, "Read", {"file_path": arguments.get("path")})
        elif command := _to_command(arguments.get("cmd") or arguments.get("command")):
            yield _to_call(ident, "Bash", {"command": command})
        else:
            yield _to_call(ident, name, arguments)

    def _convert_result(self, payload: Line) -> Iterator[Line]:
        """Yield the results of a call; none while its process is still running."""
        ident, text = _text(payload.get("call_id")), _find_output(payload.get("output"))
        process = self._waits.pop(ident, "")
        call = self._running.get(process, "") if process else ident
        running = RUNNING.search(text[:HEADER_CHARS])
        if running:
            self._running[running[1] or running[2]] = call
        if running or not call:
            return
        code = EXIT.search(text[:HEADER_CHARS])
        ok = not FAILED.match(text) and (code is None or code[1] == "0")
        _, _, printed = text.partition("Output:\n")
        for part in self._parts.pop(call, [call]):
            notice = "File created successfully" if part.endswith(" Add") else ""
            yield _to_result(part, notice or printed or text, ok)

    def _convert_script_event(self, payload: Line) -> Line:
        """Convert a command or patch inside a script: these are logged as events, not as items."""
        item = payload.get("item") if payload.get("type") == "item_completed" else payload
        item = item if isinstance(item, dict) else {}
        ident = _text(item.get("id") or item.get("call_id"))
        if not ident.startswith("exec-"):
            return {}
        if isinstance(item.get("changes"), dict):
            ok = item.get("success") is True or item.get("status") == "completed"
            return _to_message("user", [*_find_reported_calls(ident, item["changes"], ok)])
        if command := _to_command(item.get("command")):
            ok, text = item.get("exit_code") == 0, _text(item.get("aggregated_output"))
            folder = _text(item.get("cwd")).removeprefix("file://")
            blocks = [_to_call(ident, "Bash", {"command": command}), _to_result(ident, text, ok)]
            return _to_message("user", blocks) | ({"cwd": folder} if folder else {})
        return {}


def _convert_message(payload: Line) -> Line:
    content = payload.get("content")
    texts = [_text(part.get("text")) for part in (content if isinstance(content, list) else ())]
    if payload.get("role") == "assistant":
        return _to_message("assistant", [{"type": "text", "text": text} for text in texts])
    typed = [text for text in texts if not CLIENT_TEXT.match(text)]
    if payload.get("role") != "user" or not typed:
        return {}
    return _to_message("user", [{"type": "text", "text": text} for text in typed])


def _find_patch_calls(ident: str, patch: str) -> Iterator[Line]:
    """Yield one call for each file of a patch."""
    path = ""
    for number, (kind, named, target) in enumerate(FILE.findall(patch)):
        path = named.strip() or path
        yield _to_change(f"{ident} {number}", kind or "Move", path, target.strip())


def _find_reported_calls(ident: str, changes: Line, ok: bool) -> Iterator[Line]:
    """Yield a call and a result for each file of a patch that the client reports."""
    for number, (path, change) in enumerate(changes.items()):
        kind, target = _text(change.get("type")).capitalize(), _text(change.get("move_path"))
        call = _to_change(f"{ident} {number}", kind, path, "")
        yield call
        yield _to_result(call["id"], "File created successfully" if kind == "Add" else "", ok)
        if target:
            move = _to_change(f"{ident} {number} to", "Move", path, target)
            yield from (move, _to_result(move["id"], "", ok))


def _to_change(ident: str, kind: str, path: str, target: str) -> Line:
    if kind == "Add":
        return _to_call(f"{ident} Add", "Write", {"file_path": path})
    if kind == "Update":
        return _to_call(ident, "Edit", {"file_path": path})
    words = ["mv", path, target] if kind == "Move" else ["rm", path]
    return _to_call(ident, "Bash", {"command": shlex.join(words)})


def _to_message(kind: str, blocks: list[Line]) -> Line:
    return {"type": kind, "message": {"content": blocks}} if blocks else {}


def _to_call(ident: str, tool: str, arguments: Line) -> Line:
    return {"type": "tool_use", "id": ident, "name": tool, "input": arguments}


def _to_result(ident: str, text: str, ok: bool) -> Line:
    return {"type": "tool_result", "tool_use_id": ident, "content": text, "is_error": not ok}


def _to_todos(steps: list[tuple[str, str]]) -> list[Line]:
    return [{"content": step, "status": status} for step, status in steps]


def _to_command(arguments: Any) -> str:
    if isinstance(arguments, list) and len(arguments) == 3 and str(arguments[1]).endswith("c"):
        return str(arguments[2])
    return shlex.join(map(str, arguments)) if isinstance(arguments, list) else _text(arguments)


def _parse_arguments(payload: Line) -> Line:
    try:
        arguments = json.loads(_text(payload.get("arguments")) or "{}")
    except (ValueError, RecursionError):
        return {}
    return arguments if isinstance(arguments, dict) else {}


def _find_output(output: Any) -> str:
    if isinstance(output, list):
        return "".join(_text(part.get("text")) for part in output if isinstance(part, dict))
    text = _text(output)
    try:
        record = json.loads(text) if text.startswith('{"output"') else None
    except (ValueError, RecursionError):
        record = None
    if isinstance(record, dict) and isinstance(record.get("metadata"), dict):
        return f"Exit code: {record['metadata'].get('exit_code')}\nOutput:\n{record['output']}"
    return text


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
