"""The file trail: what was read, edited, created and deleted, and only if it succeeded."""

from __future__ import annotations

from holdfast.state.wording import keep

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from holdfast.state.model import FileTrail, State
    from holdfast.transcript.model import Event

HANDLES = ("tool",)
MOST = 3000
DEFINES = ("def ", "class ", "func ", "fn ", "function ")


def apply(state: State, event: Event) -> None:
    if not event["ok"]:
        return
    name, given = event["name"], event["input"]
    if name == "Read":
        trail = _trail(state, given.get("file_path"), event["line"])
        trail["reads"] = trail.get("reads", 0) + 1
    elif name in ("Edit", "MultiEdit", "NotebookEdit"):
        path = given.get("file_path") or given.get("notebook_path")
        _edited(_trail(state, path, event["line"]), str(given.get("new_string") or ""))
    elif name == "Write":
        trail = _trail(state, given.get("file_path"), event["line"])
        if _is_new(event.get("detail")):
            trail["created"] = event["line"]
            trail.pop("deleted", None)
        _edited(trail, str(given.get("content") or ""))
    elif name == "Bash":
        _shell(state, str(given.get("command") or ""), event["line"])


def _is_new(detail: Any) -> bool:
    return isinstance(detail, dict) and detail.get("type") == "create"


def _edited(trail: FileTrail, text: str) -> None:
    trail["edits"] = trail.get("edits", 0) + 1
    if symbol := _symbol(text):
        trail["symbol"] = symbol


def _trail(state: State, path: Any, line: int) -> FileTrail:
    if not isinstance(path, str) or not path:
        return {}
    files = state["files"]
    # Taken out and put in again: the order of keys is the order of last use.
    trail = files.pop(name := relative(state, path), {})
    trail["line"] = line
    files[name] = trail
    if len(files) > MOST:
        del files[next(path for path, old in files.items() if not old.get("edits"))]
    return trail


def relative(state: State, path: str) -> str:
    """A path as the project names it."""
    root = state["place"].get("root", "").rstrip("/")
    inside = bool(root) and path.startswith(root + "/")
    return keep(path[len(root) + 1 :] if inside else path, 500)


def _symbol(text: str) -> str:
    """The first thing that an edit defines, if it says so."""
    for line in text.splitlines():
        stripped = line.strip().removeprefix("async ").removeprefix("export ")
        for word in DEFINES:
            if stripped.startswith(word):
                name = stripped[len(word) :].split("(")[0].split(":")[0].split("{")[0].strip()
                return name[:60] if name.isidentifier() else ""
    return ""


def _shell(state: State, command: str, line: int) -> None:
    if "rm " not in command and "mv " not in command:
        return
    import shlex

    for part in command.replace("&&", "\n").replace(";", "\n").splitlines():
        try:
            words = shlex.split(part)
        except ValueError:
            continue
        if words[:1] == ["git"]:
            words = words[1:]
        paths = [word for word in words[1:] if not word.startswith("-")]
        if words[:1] == ["rm"]:
            for path in paths:
                _delete(state, path, line)
        elif words[:1] == ["mv"] and len(paths) == 2:
            _move(state, paths[0], paths[1], line)


def _delete(state: State, path: str, line: int) -> None:
    """What was created here and deleted here never was; what existed before is gone."""
    name = relative(state, path)
    gone = [known for known in state["files"] if known == name or known.startswith(f"{name}/")]
    for known in gone:
        trail = state["files"].pop(known)
        if not trail.get("created"):
            state["files"][known] = {"line": line, "deleted": line}
    if not gone and not any(sign in name for sign in "*?$"):
        state["files"][name] = {"line": line, "deleted": line}


def _move(state: State, source: str, target: str, line: int) -> None:
    old = state["files"].get(relative(state, source), {})
    _delete(state, source, line)
    name = relative(state, target)
    state["files"].pop(name, None)
    state["files"][name] = {**old, "line": line, "created": line}
