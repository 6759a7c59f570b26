"""The plan and where each item of it stands. The last status wins."""

from __future__ import annotations

from holdfast.state.wording import keep, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from holdfast.state.model import State
    from holdfast.transcript.model import Event

HANDLES = ("tool",)
MOST = 200
LONGEST = 300


def apply(state: State, event: Event) -> None:
    if not event["ok"]:
        return
    detail = event.get("detail")
    detail = detail if isinstance(detail, dict) else {}
    if event["name"] == "TodoWrite":
        _replace(state, detail.get("newTodos") or event["input"].get("todos"), event["line"])
    elif event["name"] == "TaskCreate":
        task = detail.get("task")
        task = task if isinstance(task, dict) else {}
        text = plain(task.get("subject")) or plain(event["input"].get("subject"))
        number = plain(task.get("id")) or str(len(state["plan"]) + 1)
        _set(state, number, text, "pending", event["line"])
    elif event["name"] == "TaskUpdate":
        given = event["input"]
        text, status = plain(given.get("subject")), plain(given.get("status"))
        _set(state, plain(given.get("taskId")), text, status, event["line"])
    del state["plan"][:-MOST]


def _replace(state: State, todos: Any, line: int) -> None:
    """TodoWrite tells the whole list each time."""
    if not isinstance(todos, list):
        return
    listed = [todo for todo in todos if isinstance(todo, dict) and plain(todo.get("content"))]
    known = {item["text"]: item for item in state["plan"]}
    fresh = []
    for number, todo in enumerate(listed, 1):
        text = keep(plain(todo["content"]), LONGEST)
        status = plain(todo.get("status")) or "pending"
        old = known.pop(text, None)
        moved = old is None or old["status"] != status
        fresh.append(
            {
                "id": f"todo{number}",
                "text": text,
                "status": status,
                "line": line if moved or old is None else old["line"],
            }
        )
    # A list that was finished and then replaced stays as done; open items that were left out
    # of the new list are no longer part of the plan.
    done = [
        item for item in state["plan"] if item["text"] in known and item["status"] == "completed"
    ]
    state["plan"] = [*done, *fresh]  # type: ignore[list-item]


def _set(state: State, number: str, text: str, status: str, line: int) -> None:
    if not number:
        return
    for item in state["plan"]:
        if item["id"] == number:
            item["text"] = keep(text, LONGEST) if text else item["text"]
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
                }
            )
    state["plan"] = [item for item in state["plan"] if item["status"] != "deleted"]
