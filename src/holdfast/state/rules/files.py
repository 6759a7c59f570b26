"""The file trails: what this session did to files, net of everything that undid it.

Only successful calls count. Shell commands are understood by `state/shell_effects.py`.
"""

from __future__ import annotations

from holdfast.lenient_json import as_object
from holdfast.state.file_history import (
    record_edit,
    record_purpose,
    record_swap,
    record_write,
    touch_trail,
)
from holdfast.state.paths import to_project_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from holdfast.state.types import State
    from holdfast.transcript.types import Event

HANDLES = ("tool", "compaction")
EDIT_TOOLS = ("Edit", "MultiEdit", "NotebookEdit", "Write")
# The reference file-system server of the Model Context Protocol.
MCP_PREFIX = "mcp__filesystem__"
MCP_TOOLS = ("write_file", "edit_file", "read_file", "read_text_file", "move_file")
TOOLS = (*EDIT_TOOLS, "Read", "Bash", "apply_patch", *(MCP_PREFIX + _tool for _tool in MCP_TOOLS))


def apply(state: State, event: Event) -> None:
    if event["kind"] == "compaction":
        _mark_unknown_edits(state, event["line"])
        return
    if not event["ok"]:
        return
    name, arguments = event["name"], event["input"]
    # References point to the call, which names the file; its result often does not.
    path, line = _find_path(arguments), event.get("call_line") or event["line"]
    if name in EDIT_TOOLS and isinstance(path, str):
        _clear_unknown_edit(state, to_project_path(state, path), event.get("call_line", 0))
    if name == "Read":
        _record_read(state, path, line)
    elif name in ("Edit", "MultiEdit", "NotebookEdit"):
        trail = touch_trail(state, path, line)
        record_edit(
            trail, str(arguments.get("new_string") or ""), str(arguments.get("old_string") or "")
        )
        record_purpose(state, trail, line)
        record_swap(trail, arguments)
    elif name == "Write":
        text = str(arguments.get("content") or "")
        record_write(state, path, line, _is_new_file(event.get("detail")), text)
        record_purpose(state, touch_trail(state, path, line), line)
    elif name == "Bash":
        _apply_shell(state, event)
    elif name == "apply_patch":
        _apply_patch(state, event)
    elif name.startswith(MCP_PREFIX):
        _apply_mcp(state, name.removeprefix(MCP_PREFIX), arguments, line)


def _find_path(arguments: dict[str, Any]) -> Any:
    return arguments.get("file_path") or arguments.get("notebook_path") or arguments.get("path")


def _is_new_file(detail: Any) -> bool:
    return bool(as_object(detail).get("type") == "create")


def _record_read(state: State, path: Any, line: int) -> None:
    trail = touch_trail(state, path, line)
    trail["reads"] = trail.get("reads", 0) + 1


def _mark_unknown_edits(state: State, line: int) -> None:
    """Mark edits whose result was not logged before a compaction: they may have happened or not."""
    for call in state["calls"].values():
        if call["name"] in EDIT_TOOLS and call["line"] < line:
            path = _find_path(call["input"])
            if isinstance(path, str) and path:
                trail = state["files"].get(to_project_path(state, path), {"line": call["line"]})
                trail["unknown"] = call["line"]
                state["files"][to_project_path(state, path)] = trail


def _clear_unknown_edit(state: State, name: str, call_line: int) -> None:
    """Remove the mark if the result arrived after all."""
    trail = state["files"].get(name, {})
    if trail.get("unknown") == call_line:
        trail.pop("unknown", None)


def _apply_mcp(state: State, tool: str, arguments: dict[str, Any], line: int) -> None:
    path = _find_path(arguments)
    if tool == "write_file":
        record_write(state, path, line, new=True, text=str(arguments.get("content") or ""))
    elif tool == "edit_file":
        record_edit(touch_trail(state, path, line), "")
    elif tool in ("read_file", "read_text_file"):
        _record_read(state, path, line)
    elif tool == "move_file":
        from holdfast.state.file_effects import apply_effect

        source = str(arguments.get("source") or "")
        apply_effect(state, "move", source, str(arguments.get("destination") or ""), line)


def _apply_shell(state: State, event: Event) -> None:
    from holdfast.state.file_effects import apply_effect
    from holdfast.state.shell_effects import find_effects

    command = str(event["input"].get("command") or "")
    line = event.get("call_line") or event["line"]
    folder = event.get("cwd") or state["place"].get("cwd", "")
    for kind, path, target in find_effects(command, folder):
        apply_effect(state, kind, path, target, line)
    if "git" in command and "commit" in command:
        for trail in state["files"].values():
            if trail.get("edits"):
                trail["committed"] = trail["edits"]


def _apply_patch(state: State, event: Event) -> None:
    from holdfast.state.file_effects import apply_effect, find_patch_effects

    folder = event.get("cwd") or state["place"].get("cwd", "")
    for kind, path, target in find_patch_effects(event["input"].get("changes"), folder):
        apply_effect(state, kind, path, target, event["line"])
        if trail := state["files"].get(to_project_path(state, path)):
            record_purpose(state, trail, event["line"])
