"""The file trail: what is there now because of this session, net of everything that undid it.

Only what succeeded counts. Shell commands are read by `state/shell_effects.py`.
"""

from __future__ import annotations

from holdfast.foreign_json import told
from holdfast.state.paths import relative
from holdfast.state.trail import edited, trail_of, written

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from holdfast.state.model import State
    from holdfast.transcript.model import Event

HANDLES = ("tool", "compaction")
EDITS = ("Edit", "MultiEdit", "NotebookEdit", "Write")
# The reference file-system server of the Model Context Protocol.
SERVER = "mcp__filesystem__"
SERVED = ("write_file", "edit_file", "read_file", "read_text_file", "move_file")
TOOLS = (*EDITS, "Read", "Bash", "apply_patch", *(SERVER + _verb for _verb in SERVED))


def apply(state: State, event: Event) -> None:
    if event["kind"] == "compaction":
        _lose_sight(state, event["line"])
        return
    if not event["ok"]:
        return
    name, given = event["name"], event["input"]
    # The call names the file; its result often does not.
    path, line = _path(given), event.get("call_line") or event["line"]
    if name in EDITS and isinstance(path, str):
        _settle(state, relative(state, path), event.get("call_line", 0))
    if name == "Read":
        trail = trail_of(state, path, line)
        trail["reads"] = trail.get("reads", 0) + 1
    elif name in ("Edit", "MultiEdit", "NotebookEdit"):
        edited(trail_of(state, path, line), str(given.get("new_string") or ""))
    elif name == "Write":
        written(state, path, line, _is_new(event.get("detail")), str(given.get("content") or ""))
    elif name == "Bash":
        _shell(state, event)
    elif name == "apply_patch":
        _patched(state, event)
    elif name.startswith(SERVER):
        _served(state, name.removeprefix(SERVER), given, line)


def _path(given: dict[str, Any]) -> Any:
    return given.get("file_path") or given.get("notebook_path") or given.get("path")


def _is_new(detail: Any) -> bool:
    return bool(told(detail).get("type") == "create")


def _lose_sight(state: State, line: int) -> None:
    """An edit whose result was not written down before a compaction may have happened or not."""
    for call in state["calls"].values():
        if call["name"] in EDITS and call["line"] < line:
            path = _path(call["input"])
            if isinstance(path, str) and path:
                trail = state["files"].get(relative(state, path), {"line": call["line"]})
                trail["unknown"] = call["line"]
                state["files"][relative(state, path)] = trail


def _settle(state: State, name: str, call_line: int) -> None:
    """The result came after all."""
    trail = state["files"].get(name, {})
    if trail.get("unknown") == call_line:
        trail.pop("unknown", None)


def _served(state: State, verb: str, given: dict[str, Any], line: int) -> None:
    path = _path(given)
    if verb == "write_file":
        written(state, path, line, new=True, text=str(given.get("content") or ""))
    elif verb == "edit_file":
        edited(trail_of(state, path, line), "")
    elif verb in ("read_file", "read_text_file"):
        trail = trail_of(state, path, line)
        trail["reads"] = trail.get("reads", 0) + 1
    elif verb == "move_file":
        from holdfast.state.file_effects import happened

        source, target = str(given.get("source") or ""), str(given.get("destination") or "")
        happened(state, "move", source, target, line)


def _shell(state: State, event: Event) -> None:
    from holdfast.state.file_effects import happened
    from holdfast.state.shell_effects import effects

    command = str(event["input"].get("command") or "")
    line = event.get("call_line") or event["line"]
    folder = event.get("cwd") or state["place"].get("cwd", "")
    for kind, path, target in effects(command, folder):
        happened(state, kind, path, target, line)
    if "git" in command and "commit" in command:
        for trail in state["files"].values():
            if trail.get("edits"):
                trail["committed"] = trail["edits"]


def _patched(state: State, event: Event) -> None:
    from holdfast.state.file_effects import happened
    from holdfast.state.patch_effects import effects

    folder = event.get("cwd") or state["place"].get("cwd", "")
    for kind, path, target in effects(event["input"].get("changes"), folder):
        happened(state, kind, path, target, event["line"])
