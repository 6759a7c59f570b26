"""Update the trail of one file: what created, changed or read it last. Pure."""

from __future__ import annotations

from holdfast.state.paths import to_project_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from holdfast.state.types import FileTrail, State

MAX_FILES = 3000
DEFINITION_PREFIXES = ("def ", "class ", "func ", "fn ", "function ")


def record_write(state: State, path: Any, line: int, new: bool, text: str = "") -> None:
    """Record that a whole file was written; `new` says that it did not exist.

    A file that was deleted before exists again and counts as changed, not as created.
    """
    is_known = isinstance(path, str) and to_project_path(state, path) in state["files"]
    trail = touch_trail(state, path, line)
    if new and not is_known:
        trail["created"] = line
    record_edit(trail, text)


def record_edit(trail: FileTrail, text: str) -> None:
    """Count an edit, and remember the first symbol that its text defines."""
    trail["edits"] = trail.get("edits", 0) + 1
    if symbol := _find_symbol(text):
        trail["symbol"] = symbol


def touch_trail(state: State, path: Any, line: int) -> FileTrail:
    """Return the trail of a file that was just used, and move it to the end.

    For something that is not a path, the trail is empty and belongs to no state.
    """
    if not isinstance(path, str) or not path:
        return {}
    name = to_project_path(state, path)
    trail = state["files"].get(name, {})
    # A file that was used exists, so an earlier deletion no longer holds.
    trail.pop("deleted", None)
    set_last_line(trail, name, path, line)
    put_last(state, name, trail)
    return trail


def put_last(state: State, name: str, trail: FileTrail) -> None:
    """Store a trail; the order of keys is the order of last use."""
    files = state["files"]
    files.pop(name, None)
    files[name] = trail
    if len(files) > MAX_FILES:
        unedited = (known for known, old in files.items() if not old.get("edits") and known != name)
        del files[next(unedited, next(iter(files)))]


def set_last_line(trail: FileTrail, name: str, path: str, line: int) -> None:
    """Set the line of the last change.

    If a command names the file only by a folder or pattern, `told` is the last line that names it.
    """
    if name.rpartition("/")[2] not in path and "line" in trail:
        trail["told"] = trail.get("told", trail["line"])
    else:
        trail.pop("told", None)
    trail["line"] = line


def _find_symbol(text: str) -> str:
    """Return the name of the first function or class that a text defines, or ""."""
    if not any(prefix in text for prefix in DEFINITION_PREFIXES):
        return ""
    for line in text.splitlines():
        stripped = line.strip().removeprefix("async ").removeprefix("export ")
        if stripped.startswith(DEFINITION_PREFIXES):
            rest = stripped.partition(" ")[2]
            name = rest.split("(")[0].split(":")[0].split("{")[0].strip()
            return name[:60] if name.isidentifier() else ""
    return ""
