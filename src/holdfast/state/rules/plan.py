"""The plan: tasks or todos with their status, and a plan file. The last status wins."""

from __future__ import annotations

import zlib

from holdfast.lenient_json import as_dict, as_object
from holdfast.state.text import redact_and_clip, to_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from holdfast.lenient_json import JsonObject
    from holdfast.state.types import State
    from holdfast.transcript.types import Event

HANDLES = ("tool", "plan", "plan_file")
TOOLS = (
    "TodoWrite", "TaskCreate", "TaskUpdate", "TaskList", "TaskGet", "Write", "ExitPlanMode",
)  # fmt: skip
MAX_ITEMS = 200
MAX_BLOCKED_BY = 20
MAX_ITEM_CHARS, MAX_DETAIL_CHARS, MAX_PLAN_FILE_CHARS = 300, 600, 3000
# Where hosts keep the plans of plan mode.
PLAN_FOLDERS = ("/.claude/plans/", ".claude/plans/")


def apply(state: State, event: Event) -> None:
    if event["kind"] == "plan":
        _read_list(state, event["detail"], event["line"])
    elif event["kind"] == "plan_file":
        _set_plan_file(state, event["name"], event["text"], event["line"])
    elif event["ok"] and event["name"]:
        _apply_tool(state, event, as_object(event.get("detail")))


def _apply_tool(state: State, event: Event, detail: JsonObject) -> None:
    arguments, line = event["input"], event["line"]
    if event["name"] == "TodoWrite":
        _replace_todos(state, detail.get("newTodos") or arguments.get("todos"), line)
    elif event["name"] == "TaskCreate":
        _create_task(state, event, detail.get("task"))
    elif event["name"] == "TaskUpdate":
        text, status = to_text(arguments.get("subject")), to_text(arguments.get("status"))
        ident = to_text(arguments.get("taskId"))
        _set_item(state, ident, text, status, line)
        _add_blocked_by(state, ident, arguments.get("addBlockedBy"))
    elif event["name"] == "TaskList":
        _read_list(state, detail.get("tasks"), line)
    elif event["name"] == "TaskGet":
        _read_list(state, [detail.get("task")], line)
    elif event["name"] in ("Write", "ExitPlanMode"):
        path = to_text(arguments.get("file_path")) or to_text(detail.get("filePath"))
        text = to_text(arguments.get("content")) or to_text(detail.get("plan"))
        if any(folder in path for folder in PLAN_FOLDERS):
            _set_plan_file(state, path, text, line)
    del state["plan"][:-MAX_ITEMS]


def _set_plan_file(state: State, path: str, text: str, line: int) -> None:
    """Keep the last text of a plan file; an empty path or text leaves the known one."""
    old = state["plan_file"]
    path = redact_and_clip(path, 300) or (old["path"] if old else "")
    text = redact_and_clip(text, MAX_PLAN_FILE_CHARS)
    text = text or (old["text"] if old and old["path"] == path else "")
    state["plan_file"] = {"path": path, "text": text, "line": line}


def _create_task(state: State, event: Event, created: Any) -> None:
    task = as_dict(created)
    text = to_text(task.get("subject")) or to_text(event["input"].get("subject"))
    ident = to_text(task.get("id")) or str(len(state["plan"]) + 1)
    for item in state["plan"]:
        if item["id"] == ident:
            # A new list numbers its tasks from one again; the old items stay, under another id.
            item["id"] = f"{ident}@{item['line']}"
    _set_item(state, ident, text, "pending", event["line"])
    detail = redact_and_clip(to_text(event["input"].get("description")), MAX_DETAIL_CHARS)
    if detail and state["plan"] and state["plan"][-1]["id"] == ident:
        state["plan"][-1]["detail"] = detail
    metadata = as_dict(event["input"].get("metadata"))
    wave = _to_number(to_text(metadata.get("wave") or metadata.get("wave_number")))
    if wave and state["plan"] and state["plan"][-1]["id"] == ident:
        state["plan"][-1]["wave"] = wave


def _find_wave(text: str) -> int:
    """Return the number in a text such as `Wave 2: …`, or 0."""
    after = f" {text.lower()}".partition(" wave ")[2].split(":")[0].split()
    return _to_number(after[0]) if after else 0


def _to_number(word: str) -> int:
    return int(word) if word.isascii() and word.isdigit() and len(word) < 5 else 0


def _read_list(state: State, items: Any, line: int) -> None:
    """Read a whole list from the host: todos have a content, tasks an id and a subject."""
    if not isinstance(items, list) or not items:
        return
    tasks = [task for task in items if isinstance(task, dict) and to_text(task.get("subject"))]
    if not tasks:
        _replace_todos(state, items, line)
    for task in tasks:
        ident, status = to_text(task.get("id")), to_text(task.get("status"))
        known = next((item for item in state["plan"] if item["id"] == ident), None)
        if known is None or known["status"] != status:
            _set_item(state, ident, to_text(task.get("subject")), status, line)
        _add_blocked_by(state, ident, task.get("blockedBy"))


def _add_blocked_by(state: State, ident: str, others: Any) -> None:
    """Add the ids of tasks that must be done first."""
    for item in state["plan"]:
        if item["id"] == ident and isinstance(others, list):
            new = [to_text(other) for other in others if to_text(other)]
            blocked_by = dict.fromkeys([*item.get("blocked_by", []), *new])
            item["blocked_by"] = list(blocked_by)[:MAX_BLOCKED_BY]


def _replace_todos(state: State, todos: Any, line: int) -> None:
    """Replace the plan by a list of todos: each TodoWrite holds the whole list."""
    if not isinstance(todos, list):
        return
    valid = [todo for todo in todos if isinstance(todo, dict) and to_text(todo.get("content"))]
    known = {item["text"]: item for item in state["plan"]}
    items = []
    occurrences: dict[str, int] = {}
    for todo in valid:
        text = redact_and_clip(to_text(todo["content"]), MAX_ITEM_CHARS)
        status = to_text(todo.get("status")) or "pending"
        old = known.pop(text, None)
        is_changed = old is None or old["status"] != status
        occurrences[text] = occurrences.get(text, 0) + 1
        items.append(
            {
                "id": _make_todo_id(text, occurrences[text]),
                "text": text,
                "status": status,
                "line": line if is_changed or old is None else old["line"],
                "source_line": line if is_changed or old is None else old["source_line"],
                "blocked_by": [],
                "wave": _find_wave(text),
            }
        )
    # Completed items that the new list leaves out stay; open ones are no longer planned.
    completed = [
        item for item in state["plan"] if item["text"] in known and item["status"] == "completed"
    ]
    state["plan"] = [*completed, *items]  # type: ignore[list-item]


def _make_todo_id(text: str, occurrence: int) -> str:
    """Make an id from a todo's text, because todos have none; equal texts are numbered."""
    ident = f"todo-{zlib.crc32(text.encode('utf-8', 'replace')):08x}"
    return ident if occurrence == 1 else f"{ident}-{occurrence}"


def _set_item(state: State, ident: str, text: str, status: str, line: int) -> None:
    """Update or add an item; the status `deleted` removes it."""
    if not ident:
        return
    for item in state["plan"]:
        if item["id"] == ident:
            if text:
                item["text"], item["source_line"] = redact_and_clip(text, MAX_ITEM_CHARS), line
            item["status"] = status or item["status"]
            item["line"] = line
            break
    else:
        if text:
            state["plan"].append(
                {
                    "id": ident,
                    "text": redact_and_clip(text, MAX_ITEM_CHARS),
                    "status": status or "pending",
                    "line": line,
                    "source_line": line,
                    "blocked_by": [],
                    "wave": _find_wave(text),
                }
            )
    state["plan"] = [item for item in state["plan"] if item["status"] != "deleted"]
