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
    name = relative(state, path)
    trail = state["files"].get(name, {})
    # What can be used is there, whatever was said of it before.
    trail.pop("deleted", None)
    trail["line"] = line
    _put(state, name, trail)
    return trail


def _put(state: State, name: str, trail: FileTrail) -> None:
    """Last: the order of keys is the order of last use."""
    files = state["files"]
    files.pop(name, None)
    files[name] = trail
    if len(files) > MOST:
        others = (known for known, old in files.items() if not old.get("edits") and known != name)
        del files[next(others, next(iter(files)))]


def relative(state: State, path: str) -> str:
    """A path as the project names it."""
    root = state["place"].get("root", "").rstrip("/\\")
    inside = bool(root) and _slashed(path).startswith(_slashed(root) + "/")
    return keep(path[len(root) + 1 :] if inside else path, 500)


def _slashed(path: str) -> str:
    return path.replace("\\", "/")


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

    for joint in ("&&", "||", ";", "|"):
        command = command.replace(joint, "\n")
    for part in command.splitlines():
        try:
            words = shlex.split(part)
        except ValueError:
            continue
        if words[:1] == ["git"]:
            words = words[1:]
        paths = _paths(words[1:])
        if words[:1] == ["rm"] and "--cached" not in words:
            for path in paths:
                _delete(state, path, line)
        elif words[:1] == ["mv"] and len(paths) == 2:
            _move(state, paths[0], paths[1], line)


def _paths(words: list[str]) -> list[str]:
    """The arguments that are paths; what follows a redirection is none."""
    end = next(
        (n for n, word in enumerate(words) if word == "&" or "<" in word or ">" in word), None
    )
    return [word for word in words[:end] if not word.startswith("-")]


def _name(state: State, path: str) -> str:
    """The name of a path in a command, or none if only the shell knows what it stands for."""
    if any(sign in path for sign in "*?$`{[~"):
        return ""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    return relative(state, ("/" if path.startswith("/") else "") + "/".join(parts))


def _within(state: State, name: str) -> list[str]:
    return [known for known in state["files"] if known == name or known.startswith(f"{name}/")]


def _delete(state: State, path: str, line: int) -> None:
    """What was created here and deleted here never was; what existed before is gone."""
    name = _name(state, path)
    if not name:
        return
    for known in _within(state, name) or [name]:
        trail = state["files"].pop(known, {})
        if not trail.get("created"):
            _put(state, known, {"line": line, "deleted": line})


def _move(state: State, source: str, target: str, line: int) -> None:
    old, new = _name(state, source), _name(state, target)
    if not old or not new:
        return
    if target.endswith("/") or any(known.startswith(f"{new}/") for known in state["files"]):
        new = f"{new}/{old.rpartition('/')[2]}"
    moved = {known: state["files"][known] for known in _within(state, old)} or {old: {}}
    _delete(state, source, line)
    for known, trail in moved.items():
        trail = {**trail, "line": line, "created": line}
        trail.pop("deleted", None)
        _put(state, new + known[len(old) :], trail)
