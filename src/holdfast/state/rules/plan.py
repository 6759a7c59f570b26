"""The plan and where each item of it stands. The last status wins."""

from __future__ import annotations

import zlib

from holdfast.foreign_json import told
from holdfast.state.wording import keep, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from holdfast.foreign_json import Told
    from holdfast.state.model import State
    from holdfast.transcript.model import Event

HANDLES = ("tool", "plan", "plan_file")
TOOLS = (
    "TodoWrite", "TaskCreate", "TaskUpdate", "TaskList", "TaskGet", "Write", "ExitPlanMode",
)  # fmt: skip
MOST = 200
LONGEST, LONGEST_FILE = 300, 3000
# Where hosts keep plans that were made in plan mode.
PLAN_FOLDERS = ("/.claude/plans/", ".claude/plans/")


def apply(state: State, event: Event) -> None:
    if event["kind"] == "plan":
        _told(state, event["detail"], event["line"])
    elif event["kind"] == "plan_file":
        _filed(state, event["name"], event["text"], event["line"])
    elif event["ok"] and event["name"]:
        _used(state, event, told(event.get("detail")))


def _used(state: State, event: Event, detail: Told) -> None:
    if event["name"] == "TodoWrite":
        _replace(state, detail.get("newTodos") or event["input"].get("todos"), event["line"])
    elif event["name"] == "TaskCreate":
        _create(state, event, detail.get("task"))
    elif event["name"] == "TaskUpdate":
        given = event["input"]
        text, status = plain(given.get("subject")), plain(given.get("status"))
        number = plain(given.get("taskId"))
        _set(state, number, text, status, event["line"])
        _block(state, number, given.get("addBlockedBy"))
    elif event["name"] == "TaskList":
        _told(state, detail.get("tasks"), event["line"])
    elif event["name"] == "TaskGet":
        _told(state, [detail.get("task")], event["line"])
    elif event["name"] in ("Write", "ExitPlanMode"):
        path = plain(event["input"].get("file_path")) or plain(detail.get("filePath"))
        text = plain(event["input"].get("content")) or plain(detail.get("plan"))
        if any(folder in path for folder in PLAN_FOLDERS):
            _filed(state, path, text, event["line"])
    del state["plan"][:-MOST]


def _filed(state: State, path: str, text: str, line: int) -> None:
    """A plan in a file: the last text of it that the log holds."""
    old = state["plan_file"]
    path = keep(path, 300) or (old["path"] if old else "")
    text = keep(text, LONGEST_FILE) or (old["text"] if old and old["path"] == path else "")
    state["plan_file"] = {"path": path, "text": text, "line": line}


def _create(state: State, event: Event, made: Any) -> None:
    task = made if isinstance(made, dict) else {}
    text = plain(task.get("subject")) or plain(event["input"].get("subject"))
    number = plain(task.get("id")) or str(len(state["plan"]) + 1)
    for item in state["plan"]:
        if item["id"] == number:
            # A new list counts from one again; what was done stays done.
            item["id"] = f"{number}@{item['line']}"
    _set(state, number, text, "pending", event["line"])
    given = event["input"].get("metadata")
    wave = plain(given.get("wave") or given.get("wave_number")) if isinstance(given, dict) else ""
    if _number(wave) and state["plan"] and state["plan"][-1]["id"] == number:
        state["plan"][-1]["wave"] = _number(wave)


def _wave(text: str) -> int:
    """`Wave 2: …` says so itself."""
    after = f" {text.lower()}".partition(" wave ")[2].split(":")[0].split()
    return _number(after[0]) if after else 0


def _number(word: str) -> int:
    return int(word) if word.isascii() and word.isdigit() and len(word) < 5 else 0


def _told(state: State, listed: Any, line: int) -> None:
    """A whole list, told by the host: todos have a content, tasks a number and a subject."""
    if not isinstance(listed, list) or not listed:
        return
    tasks = [task for task in listed if isinstance(task, dict) and plain(task.get("subject"))]
    if not tasks:
        _replace(state, listed, line)
    for task in tasks:
        number, status = plain(task.get("id")), plain(task.get("status"))
        known = next((item for item in state["plan"] if item["id"] == number), None)
        if known is None or known["status"] != status:
            _set(state, number, plain(task.get("subject")), status, line)
        _block(state, number, task.get("blockedBy"))


def _block(state: State, number: str, others: Any) -> None:
    """What must be done first."""
    for item in state["plan"]:
        if item["id"] == number and isinstance(others, list):
            named = [plain(other) for other in others if plain(other)]
            item["blocked_by"] = list(dict.fromkeys([*item.get("blocked_by", []), *named]))[:20]


def _replace(state: State, todos: Any, line: int) -> None:
    """TodoWrite tells the whole list each time."""
    if not isinstance(todos, list):
        return
    listed = [todo for todo in todos if isinstance(todo, dict) and plain(todo.get("content"))]
    known = {item["text"]: item for item in state["plan"]}
    fresh = []
    times: dict[str, int] = {}
    for todo in listed:
        text = keep(plain(todo["content"]), LONGEST)
        status = plain(todo.get("status")) or "pending"
        old = known.pop(text, None)
        moved = old is None or old["status"] != status
        times[text] = times.get(text, 0) + 1
        fresh.append(
            {
                "id": _ident(text, times[text]),
                "text": text,
                "status": status,
                "line": line if moved or old is None else old["line"],
                "told": line if moved or old is None else old["told"],
                "blocked_by": [],
                "wave": _wave(text),
            }
        )
    # A list that was finished and then replaced stays as done; open items that were left out
    # of the new list are no longer part of the plan.
    done = [
        item for item in state["plan"] if item["text"] in known and item["status"] == "completed"
    ]
    state["plan"] = [*done, *fresh]  # type: ignore[list-item]


def _ident(text: str, times: int) -> str:
    """Todos have no id of their own, so their words are one; lists may name a thing twice."""
    ident = f"todo-{zlib.crc32(text.encode('utf-8', 'replace')):08x}"
    return ident if times == 1 else f"{ident}-{times}"


def _set(state: State, number: str, text: str, status: str, line: int) -> None:
    if not number:
        return
    for item in state["plan"]:
        if item["id"] == number:
            if text:
                item["text"], item["told"] = keep(text, LONGEST), line
            item["status"] = status or item["status"]
            item["line"] = line
            break
    else:
        if text:
            state["plan"].append(
                {
                    "id": number,
                    "text": keep(text, LONGEST),
                    "status": status or "pending",
                    "line": line,
                    "told": line,
                    "blocked_by": [],
                    "wave": _wave(text),
                }
            )
    state["plan"] = [item for item in state["plan"] if item["status"] != "deleted"]
