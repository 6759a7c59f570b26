"""The file trail: what is there now because of this session, net of everything that undid it.

Only what succeeded counts. Shell commands are read by `state/shell_effects.py`.
"""

from __future__ import annotations

from holdfast.foreign_json import told
from holdfast.state.paths import relative

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from holdfast.state.model import FileTrail, State
    from holdfast.transcript.model import Event

HANDLES = ("tool", "compaction")
MOST = 3000
DEFINES = ("def ", "class ", "func ", "fn ", "function ")
EDITS = ("Edit", "MultiEdit", "NotebookEdit", "Write")
# The reference file-system server of the Model Context Protocol.
SERVER = "mcp__filesystem__"
SERVED = ("write_file", "edit_file", "read_file", "read_text_file", "move_file")
TOOLS = (*EDITS, "Read", "Bash", "apply_patch", *(SERVER + _verb for _verb in SERVED))
# A bracket is a pattern to the shell, but in practice a folder such as `app/[slug]`.
WILD = frozenset("*?")


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
        trail = _trail(state, path, line)
        trail["reads"] = trail.get("reads", 0) + 1
    elif name in ("Edit", "MultiEdit", "NotebookEdit"):
        _edited(_trail(state, path, line), str(given.get("new_string") or ""))
    elif name == "Write":
        _written(state, path, line, _is_new(event.get("detail")), str(given.get("content") or ""))
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


def _written(state: State, path: Any, line: int, new: bool, text: str = "") -> None:
    """A whole file was put there. What was deleted before is back, and counts as changed."""
    was_there = isinstance(path, str) and relative(state, path) in state["files"]
    trail = _trail(state, path, line)
    if new and not was_there:
        trail["created"] = line
    _edited(trail, text)


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
    _meant(trail, name, path, line)
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
        _written(state, path, line, new=True, text=str(given.get("content") or ""))
    elif verb == "edit_file":
        _edited(_trail(state, path, line), "")
    elif verb in ("read_file", "read_text_file"):
        trail = _trail(state, path, line)
        trail["reads"] = trail.get("reads", 0) + 1
    elif verb == "move_file":
        _move(state, str(given.get("source") or ""), str(given.get("destination") or ""), line)


def _shell(state: State, event: Event) -> None:
    from holdfast.state.shell_effects import effects

    command = str(event["input"].get("command") or "")
    line = event.get("call_line") or event["line"]
    folder = event.get("cwd") or state["place"].get("cwd", "")
    for kind, path, target in effects(command, folder):
        _happened(state, kind, path, target, line)
    if "git" in command and "commit" in command:
        for trail in state["files"].values():
            if trail.get("edits"):
                trail["committed"] = trail["edits"]


def _patched(state: State, event: Event) -> None:
    from holdfast.state.patch_effects import effects

    folder = event.get("cwd") or state["place"].get("cwd", "")
    for kind, path, target in effects(event["input"].get("changes"), folder):
        _happened(state, kind, path, target, event["line"])


def _happened(state: State, kind: str, path: str, target: str, line: int) -> None:
    if kind in ("move", "copy"):
        (_move if kind == "move" else _copy)(state, path, target, line)
    else:
        _SHELL[kind](state, path, line)


def _matching(state: State, path: str) -> list[str]:
    """The known files that a path in a command stands for: itself, what is in it, or a pattern."""
    name = relative(state, path.rstrip("/"))
    if not name or "\0" in name:
        return []
    if WILD.intersection(name):
        from fnmatch import fnmatchcase

        shape = name.replace("[", "[[]")
        return [
            known
            for known in state["files"]
            if fnmatchcase(known, shape) or fnmatchcase(known, f"{shape}/*")
        ]
    inside = f"{name}/"
    # The root itself, as in `git checkout -- .`, holds every name that is not absolute.
    if name == state["place"].get("root", "").rstrip("/"):
        return [known for known in state["files"] if not known.startswith("/")]
    return [known for known in state["files"] if known == name or known.startswith(inside)]


def _replace(state: State, path: str, line: int) -> None:
    if not WILD.intersection(path):
        _written(state, path, line, new=True)


def _append(state: State, path: str, line: int) -> None:
    if not WILD.intersection(path):
        _edited(_trail(state, path, line), "")


def _edit(state: State, path: str, line: int) -> None:
    for name in _matching(state, path) if WILD.intersection(path) else [relative(state, path)]:
        trail = state["files"].get(name, {})
        _meant(trail, name, path, line)
        _edited(trail, "")
        _put(state, name, trail)


def _touch(state: State, path: str, line: int) -> None:
    """Makes a file that was not there; one that was there stays as it is."""
    if not WILD.intersection(path) and relative(state, path) not in state["files"]:
        _written(state, path, line, new=True)


def _delete(state: State, path: str, line: int) -> None:
    """What was created here and deleted here never was; what existed before is gone."""
    found = _matching(state, path)
    if not found and not WILD.intersection(path) and not path.endswith("/"):
        found = [relative(state, path)]
    _forget(state, found, path, line)


def _delete_tree(state: State, path: str, line: int) -> None:
    """`rm -r` of something unknown is a folder, if it was there at all."""
    _forget(state, _matching(state, path), path, line)


def _forget(state: State, found: list[str], path: str, line: int) -> None:
    for known in found:
        trail = state["files"].pop(known, {})
        if not trail.get("created"):
            _meant(trail, known, path, line)
            told: FileTrail = {"told": trail["told"]} if "told" in trail else {}
            _put(state, known, {"line": line, "deleted": line, **told})


def _meant(trail: FileTrail, name: str, path: str, line: int) -> None:
    """The last thing that happened; a folder or pattern does not say which files it means."""
    if name.rpartition("/")[2] not in path and "line" in trail:
        trail["told"] = trail.get("told", trail["line"])
    else:
        trail.pop("told", None)
    trail["line"] = line


def _restore(state: State, path: str, line: int) -> None:
    """Back to what git has: what was edited since the last commit is undone."""
    for known in _matching(state, path):
        trail = state["files"][known]
        kept = trail.pop("committed", 0)
        trail.pop("deleted", None)
        _meant(trail, known, path, line)
        if trail.get("created") and not kept:
            continue
        trail.pop("edits", None)
        if kept:
            trail["edits"] = trail["committed"] = kept


def _move(state: State, source: str, target: str, line: int) -> None:
    """The old name is gone as if deleted; the new one is new, unless it was there before."""
    for old, new in _transfers(state, source, target):
        trail = state["files"].get(old, {}).copy()
        replaced = state["files"].get(new)
        _delete(state, _absolute(state, old), line)
        trail.pop("deleted", None)
        _meant(trail, new, f"{source} {target}", line)
        if replaced is not None and not replaced.get("created"):
            trail.pop("created", None)
            trail["edits"] = trail.get("edits", 0) or 1
        else:
            trail["created"] = line
        _put(state, new, trail)


def _copy(state: State, source: str, target: str, line: int) -> None:
    for _, new in _transfers(state, source, target):
        _written(state, _absolute(state, new), line, new=True)


def _transfers(state: State, source: str, target: str) -> list[tuple[str, str]]:
    """Old and new names, for a file, a folder, or what a pattern matches."""
    sources = _matching(state, source)
    if not sources:
        if WILD.intersection(source):
            return []
        sources = [relative(state, source.rstrip("/"))]
    base = relative(state, source.rstrip("/"))
    goal = relative(state, target.rstrip("/"))
    known = state["files"]
    into = target.endswith("/") or any(name.startswith(f"{goal}/") for name in known)
    pairs = []
    for old in sources:
        inner = old[len(base) + 1 :] if old.startswith(f"{base}/") else ""
        last = (base if inner else old).rpartition("/")[2]
        head = f"{goal}/{last}" if into or WILD.intersection(source) else goal
        pairs.append((old, f"{head}/{inner}" if inner else head))
    return pairs


def _absolute(state: State, name: str) -> str:
    root = state["place"].get("root", "").rstrip("/")
    return name if name.startswith(("/", "~")) or not root else f"{root}/{name}"


def _nothing(state: State, path: str, line: int) -> None:
    """A folder is not a file."""


_SHELL: dict[str, Callable[[State, str, int], None]] = {
    "write": _replace,
    "append": _append,
    "touch": _touch,
    "edit": _edit,
    "delete": _delete,
    "delete tree": _delete_tree,
    "restore": _restore,
    "folder": _nothing,
}
