"""The trail of one file: who made, changed or read it last, and what became of it. Pure."""

from __future__ import annotations

from holdfast.state.paths import relative

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from holdfast.state.model import FileTrail, State

MOST = 3000
DEFINES = ("def ", "class ", "func ", "fn ", "function ")


def written(state: State, path: Any, line: int, new: bool, text: str = "") -> None:
    """A whole file was put there. What was deleted before is back, and counts as changed."""
    was_there = isinstance(path, str) and relative(state, path) in state["files"]
    trail = trail_of(state, path, line)
    if new and not was_there:
        trail["created"] = line
    edited(trail, text)


def edited(trail: FileTrail, text: str) -> None:
    trail["edits"] = trail.get("edits", 0) + 1
    if symbol := _symbol(text):
        trail["symbol"] = symbol


def trail_of(state: State, path: Any, line: int) -> FileTrail:
    if not isinstance(path, str) or not path:
        return {}
    name = relative(state, path)
    trail = state["files"].get(name, {})
    # What can be used is there, whatever was said of it before.
    trail.pop("deleted", None)
    meant(trail, name, path, line)
    put(state, name, trail)
    return trail


def put(state: State, name: str, trail: FileTrail) -> None:
    """Last: the order of keys is the order of last use."""
    files = state["files"]
    files.pop(name, None)
    files[name] = trail
    if len(files) > MOST:
        others = (known for known, old in files.items() if not old.get("edits") and known != name)
        del files[next(others, next(iter(files)))]


def meant(trail: FileTrail, name: str, path: str, line: int) -> None:
    """The last thing that happened; a folder or pattern does not say which files it means."""
    if name.rpartition("/")[2] not in path and "line" in trail:
        trail["told"] = trail.get("told", trail["line"])
    else:
        trail.pop("told", None)
    trail["line"] = line


def _symbol(text: str) -> str:
    """The first thing that an edit defines, if it says so."""
    if not any(word in text for word in DEFINES):
        return ""
    for line in text.splitlines():
        stripped = line.strip().removeprefix("async ").removeprefix("export ")
        if stripped.startswith(DEFINES):
            rest = stripped.partition(" ")[2]
            name = rest.split("(")[0].split(":")[0].split("{")[0].strip()
            return name[:60] if name.isidentifier() else ""
    return ""
