"""The plan as the task tools left it: what is open and what is done (entity class T)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from holdfast.eval.session import Piece

OPEN = ("pending", "in_progress")
DONE = "completed"
NUMBER = re.compile(r"#(\w+)")
# A line of the list that the agent asked for: who else works on it is told there first.
LISTED = re.compile(r"^#(\w+) \[(\w+)\] (.+?)(?: \[blocked by .*\])?$", re.MULTILINE)
WORD = re.compile(r"\w+")
# So much of an item's words make a line a line about that item.
COVER = 0.8
# Status, reference and a few words more.
ROOM = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Todos:
    open: tuple[str, ...]
    done: tuple[str, ...]


def todos(pieces: Iterable[Piece]) -> Todos:
    """The last status of every item before the cut."""
    status: dict[str, tuple[str, str]] = {}  # key -> text, status
    created: dict[str, str] = {}  # call -> text
    asked: set[str] = set()  # calls
    for piece in pieces:
        if piece.kind == "call" and piece.tool == "TodoWrite":
            # Each call writes the whole list anew; what it no longer names is off the list.
            tasks = {key: value for key, value in status.items() if key.startswith("#")}
            status = {**tasks, **_list(piece.given.get("todos"))}
        elif piece.kind == "call" and piece.tool == "TaskCreate":
            created[piece.id] = _text(piece.given.get("subject"))
        elif piece.kind == "call" and piece.tool == "TaskUpdate":
            _update(status, piece.given)
        elif piece.kind == "call" and piece.tool == "TaskList":
            asked.add(piece.id)
        elif piece.kind == "result" and piece.id in asked:
            for number, state, text in LISTED.findall(piece.text):
                status[f"#{number}"] = (text, state)
        elif (
            piece.kind == "result" and piece.id in created and (found := NUMBER.search(piece.text))
        ):
            status[f"#{found[1]}"] = (created[piece.id], "pending")
    items = list(status.values())
    done = tuple(text for text, state in items if state == DONE and text)
    unfinished = tuple(text for text, state in items if state in OPEN and text)
    return Todos(open=unfinished, done=tuple(text for text in done if text not in unfinished))


def _list(listed: Any) -> dict[str, tuple[str, str]]:
    items = [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
    return {
        f"{number} {_text(item.get('content'))}": (
            _text(item.get("content")),
            _text(item.get("status")),
        )
        for number, item in enumerate(items)
    }


def _update(status: dict[str, tuple[str, str]], given: dict[str, Any]) -> None:
    key = f"#{given.get('taskId')}"
    if key in status:
        text, state = status[key]
        status[key] = (_text(given.get("subject")) or text, _text(given.get("status")) or state)


def covers(line: str, item: str) -> bool:
    """Whether this line is about that item: most of its words are there, and not much else."""
    wanted = {word.lower() for word in WORD.findall(item)}
    there = {word.lower() for word in WORD.findall(line)}
    enough = bool(wanted) and len(wanted & there) >= COVER * len(wanted)
    return enough and len(there) <= 3 * len(wanted) + ROOM


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
