"""Read the plan from the calls of task tools: what is open and what is done (class T)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from holdfast.eval.session import Piece

OPEN = ("pending", "in_progress")
DONE = "completed"
TASK_NUMBER = re.compile(r"#(\w+)")
# A line of the task list as the tool prints it.
LISTED_TASK = re.compile(r"^#(\w+) \[(\w+)\] (.+?)(?: \[blocked by .*\])?$", re.MULTILINE)
WORD = re.compile(r"\w+")
# A line is about an item if it has this share of the item's words,
MIN_SHARED_WORDS = 0.8
# and at most three times as many words plus these, for a status and a reference.
MAX_EXTRA_WORDS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Todos:
    open: tuple[str, ...]
    done: tuple[str, ...]


def read_todos(pieces: Iterable[Piece]) -> Todos:
    """Return the items of the plan by their last status."""
    status: dict[str, tuple[str, str]] = {}  # key -> text, status
    created: dict[str, str] = {}  # id of a TaskCreate call -> text
    list_calls: set[str] = set()  # ids of TaskList calls
    for piece in pieces:
        if piece.kind == "call" and piece.tool == "TodoWrite":
            # Each call rewrites the whole list; items it leaves out are dropped.
            tasks = {key: value for key, value in status.items() if key.startswith("#")}
            status = {**tasks, **_read_list(piece.arguments.get("todos"))}
        elif piece.kind == "call" and piece.tool == "TaskCreate":
            created[piece.id] = _text(piece.arguments.get("subject"))
        elif piece.kind == "call" and piece.tool == "TaskUpdate":
            _update(status, piece.arguments)
        elif piece.kind == "call" and piece.tool == "TaskList":
            list_calls.add(piece.id)
        elif piece.kind == "result" and piece.id in list_calls:
            for number, state, text in LISTED_TASK.findall(piece.text):
                status[f"#{number}"] = (text, state)
        elif (
            piece.kind == "result"
            and piece.id in created
            and (match := TASK_NUMBER.search(piece.text))
        ):
            status[f"#{match[1]}"] = (created[piece.id], "pending")
    items = list(status.values())
    done = tuple(text for text, state in items if state == DONE and text)
    unfinished = tuple(text for text, state in items if state in OPEN and text)
    return Todos(open=unfinished, done=tuple(text for text in done if text not in unfinished))


def _read_list(listed: Any) -> dict[str, tuple[str, str]]:
    items = [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
    return {
        f"{number} {_text(item.get('content'))}": (
            _text(item.get("content")),
            _text(item.get("status")),
        )
        for number, item in enumerate(items)
    }


def _update(status: dict[str, tuple[str, str]], arguments: dict[str, Any]) -> None:
    key = f"#{arguments.get('taskId')}"
    if key in status:
        text, state = status[key]
        status[key] = (
            _text(arguments.get("subject")) or text,
            _text(arguments.get("status")) or state,
        )


def is_about(line: str, item: str) -> bool:
    """Whether a line is about an item: it has most of the item's words, and not many others."""
    item_words = {word.lower() for word in WORD.findall(item)}
    line_words = {word.lower() for word in WORD.findall(line)}
    shared = len(item_words & line_words)
    has_enough = bool(item_words) and shared >= MIN_SHARED_WORDS * len(item_words)
    return has_enough and len(line_words) <= 3 * len(item_words) + MAX_EXTRA_WORDS


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
