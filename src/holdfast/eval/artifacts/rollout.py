"""Lines of a Codex rollout in the shape of Claude Code's, so that all scoring is the same.

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
NOT_THE_USER = re.compile(
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
HEAD = 400


def is_rollout(line: Line) -> bool:
    return line.get("type") in KINDS and isinstance(line.get("payload"), dict)


class Rollout:
    """Follows one log: where it stands, and which calls still run."""

    def __init__(self) -> None:
        self.cwd = ""
        self.branch = ""
        self._parts: dict[str, list[str]] = {}  # call -> the calls it was taken apart into
        self._running: dict[str, str] = {}  # what runs -> the call that began it
        self._asking: dict[str, str] = {}  # a call that waits -> what it waits for

    def translated(self, line: Line) -> Line:
        """The same line as Claude Code would have written it."""
        payload = line["payload"]
        if line["type"] in ("session_meta", "turn_context"):
            self.cwd = _text(payload.get("cwd")) or self.cwd
            git = payload.get("git")
            self.branch = _text(git.get("branch")) if isinstance(git, dict) else self.branch
        told = {"type": "rollout", "cwd": self.cwd, "gitBranch": self.branch, "payload": payload}
        if line["type"] == "compacted":
            text = _text(payload.get("message"))
            return told | {"type": "user", "isCompactSummary": True, "message": {"content": text}}
        if line["type"] == "event_msg":
            return told | self._inner(payload)
        if line["type"] == "response_item":
            return told | self._item(payload, "ordinal" in line, line.get("metadata"))
        return told

    def _item(self, payload: Line, newer: bool, about: Any) -> Line:
        kind = _text(payload.get("type"))
        if kind == "message":
            summarises = isinstance(about, dict) and about.get("compaction_output")
            return {} if summarises else _message(payload)
        if kind in ("function_call", "custom_tool_call", "local_shell_call"):
            blocks = [*self._calls(payload, newer)]
            return _said("assistant", blocks) | self._folder(payload)
        if kind in ("function_call_output", "custom_tool_call_output"):
            return _said("user", [*self._results(payload)])
        return {}

    def _folder(self, payload: Line) -> Line:
        given = _arguments(payload)
        folder = _text(given.get("workdir"))
        if not folder and (found := WORKDIR.search(_text(payload.get("input")))):
            folder = json.loads(found[1])
        return {"cwd": folder} if folder else {}

    def _calls(self, payload: Line, newer: bool) -> Iterator[Line]:
        ident, name = _text(payload.get("call_id")), _text(payload.get("name"))
        given, written = _arguments(payload), _text(payload.get("input"))
        if name == "apply_patch":
            parts = [*_files(ident, written or _text(given.get("input")))]
            self._parts[ident] = [part["id"] for part in parts]
            yield from parts
        elif name == "exec" and written:
            commands = [json.loads(found) for found in COMMAND.findall(written)]
            if steps := [(json.loads(step), status) for step, status in STEP.findall(written)]:
                yield _call(f"{ident} plan", "TodoWrite", {"todos": _todos(steps)})
            if commands and not newer:
                yield _call(ident, "Bash", {"command": "\n".join(commands)})
        elif name in ("write_stdin", "wait"):
            self._asking[ident] = str(given.get("session_id") or given.get("cell_id"))
        elif name == "update_plan":
            steps = [(_text(s.get("step")), _text(s.get("status"))) for s in given.get("plan", [])]
            yield _call(ident, "TodoWrite", {"todos": _todos(steps)})
        elif name == "view_image":
            yield _call(ident, "Read", {"file_path": given.get("path")})
        elif command := _command(given.get("cmd") or given.get("command")):
            yield _call(ident, "Bash", {"command": command})
        else:
            yield _call(ident, name, given)

    def _results(self, payload: Line) -> Iterator[Line]:
        ident, text = _text(payload.get("call_id")), _output(payload.get("output"))
        asked = self._asking.pop(ident, "")
        begun = self._running.get(asked, "") if asked else ident
        running = RUNNING.search(text[:HEAD])
        if running:
            self._running[running[1] or running[2]] = begun
        if running or not begun:
            return
        code = EXIT.search(text[:HEAD])
        ok = not FAILED.match(text) and (code is None or code[1] == "0")
        _, _, printed = text.partition("Output:\n")
        for part in self._parts.pop(begun, [begun]):
            made = "File created successfully" if part.endswith(" Add") else ""
            yield _result(part, made or printed or text, ok)

    def _inner(self, payload: Line) -> Line:
        """What a script did, told by the client: commands and patches that are no items."""
        item = payload.get("item") if payload.get("type") == "item_completed" else payload
        item = item if isinstance(item, dict) else {}
        ident = _text(item.get("id") or item.get("call_id"))
        if not ident.startswith("exec-"):
            return {}
        if isinstance(item.get("changes"), dict):
            ok = item.get("success") is True or item.get("status") == "completed"
            return _said("user", [*_changed(ident, item["changes"], ok)])
        if command := _command(item.get("command")):
            ok, text = item.get("exit_code") == 0, _text(item.get("aggregated_output"))
            folder = _text(item.get("cwd")).removeprefix("file://")
            blocks = [_call(ident, "Bash", {"command": command}), _result(ident, text, ok)]
            return _said("user", blocks) | ({"cwd": folder} if folder else {})
        return {}


def _message(payload: Line) -> Line:
    content = payload.get("content")
    texts = [_text(part.get("text")) for part in (content if isinstance(content, list) else ())]
    if payload.get("role") == "assistant":
        return _said("assistant", [{"type": "text", "text": text} for text in texts])
    theirs = [text for text in texts if not NOT_THE_USER.match(text)]
    if payload.get("role") != "user" or not theirs:
        return {}
    return _said("user", [{"type": "text", "text": text} for text in theirs])


def _files(ident: str, patch: str) -> Iterator[Line]:
    """One call for each file of a patch."""
    path = ""
    for number, (kind, named, target) in enumerate(FILE.findall(patch)):
        path = named.strip() or path
        yield _change(f"{ident} {number}", kind or "Move", path, target.strip())


def _changed(ident: str, changes: Line, ok: bool) -> Iterator[Line]:
    for number, (path, what) in enumerate(changes.items()):
        kind, target = _text(what.get("type")).capitalize(), _text(what.get("move_path"))
        made = _change(f"{ident} {number}", kind, path, "")
        yield made
        yield _result(made["id"], "File created successfully" if kind == "Add" else "", ok)
        if target:
            moved = _change(f"{ident} {number} to", "Move", path, target)
            yield from (moved, _result(moved["id"], "", ok))


def _change(ident: str, kind: str, path: str, target: str) -> Line:
    if kind == "Add":
        return _call(f"{ident} Add", "Write", {"file_path": path})
    if kind == "Update":
        return _call(ident, "Edit", {"file_path": path})
    words = ["mv", path, target] if kind == "Move" else ["rm", path]
    return _call(ident, "Bash", {"command": shlex.join(words)})


def _said(kind: str, blocks: list[Line]) -> Line:
    return {"type": kind, "message": {"content": blocks}} if blocks else {}


def _call(ident: str, tool: str, given: Line) -> Line:
    return {"type": "tool_use", "id": ident, "name": tool, "input": given}


def _result(ident: str, text: str, ok: bool) -> Line:
    return {"type": "tool_result", "tool_use_id": ident, "content": text, "is_error": not ok}


def _todos(steps: list[tuple[str, str]]) -> list[Line]:
    return [{"content": step, "status": status} for step, status in steps]


def _command(given: Any) -> str:
    if isinstance(given, list) and len(given) == 3 and str(given[1]).endswith("c"):
        return str(given[2])
    return shlex.join(map(str, given)) if isinstance(given, list) else _text(given)


def _arguments(payload: Line) -> Line:
    try:
        given = json.loads(_text(payload.get("arguments")) or "{}")
    except (ValueError, RecursionError):
        return {}
    return given if isinstance(given, dict) else {}


def _output(output: Any) -> str:
    if isinstance(output, list):
        return "".join(_text(part.get("text")) for part in output if isinstance(part, dict))
    text = _text(output)
    try:
        told = json.loads(text) if text.startswith('{"output"') else None
    except (ValueError, RecursionError):
        told = None
    if isinstance(told, dict) and isinstance(told.get("metadata"), dict):
        return f"Exit code: {told['metadata'].get('exit_code')}\nOutput:\n{told['output']}"
    return text


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
