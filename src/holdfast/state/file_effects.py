"""Apply what commands and patches do to files to the file trails, net of earlier effects.

Imported only when there is such an effect: most turns have none.
"""

from __future__ import annotations

from holdfast.state.file_history import (
    put_last,
    record_edit,
    record_write,
    set_last_line,
    touch_trail,
)
from holdfast.state.paths import to_project_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from holdfast.state.types import FileTrail, State

# To the shell a bracket is a pattern too, but in practice it is a folder such as `app/[slug]`.
WILDCARDS = frozenset("*?")
EFFECT_BY_CHANGE = {"add": "write", "update": "edit", "delete": "delete"}


def apply_effect(state: State, kind: str, path: str, target: str, line: int) -> None:
    """Apply one effect, of a kind from `shell_effects.py`; `target` is for a move or copy."""
    if kind in ("move", "copy"):
        (_move if kind == "move" else _copy)(state, path, target, line)
    else:
        _HANDLERS[kind](state, path, line)


def find_patch_effects(changes: Any, folder: str) -> Iterator[tuple[str, str, str]]:
    """Yield kind, path and target of each change of a patch that was applied in `folder`."""
    for change in changes if isinstance(changes, list) else ():
        path, target = (_join(folder, change.get(key)) for key in ("path", "to"))
        if path and change.get("kind") in EFFECT_BY_CHANGE:
            yield EFFECT_BY_CHANGE[change["kind"]], path, ""
        if path and target and target != path:
            yield "move", path, target


def _join(folder: str, path: Any) -> str:
    if not isinstance(path, str) or not path:
        return ""
    is_relative = not path.startswith(("/", "~")) and path[1:2] != ":"
    return f"{folder}/{path}" if folder and is_relative else path


def _find_matching(state: State, path: str) -> list[str]:
    """Return the known files that a path means: itself, those in the folder, or by a pattern."""
    name = to_project_path(state, path.rstrip("/"))
    if not name or "\0" in name:
        return []
    if WILDCARDS.intersection(name):
        from fnmatch import fnmatchcase

        pattern = name.replace("[", "[[]")
        return [
            known
            for known in state["files"]
            if fnmatchcase(known, pattern) or fnmatchcase(known, f"{pattern}/*")
        ]
    prefix = f"{name}/"
    # The root itself, as in `git checkout -- .`, contains every name that is not absolute.
    if name == state["place"].get("root", "").rstrip("/"):
        return [known for known in state["files"] if not known.startswith("/")]
    return [known for known in state["files"] if known == name or known.startswith(prefix)]


def _write(state: State, path: str, line: int) -> None:
    if not WILDCARDS.intersection(path):
        record_write(state, path, line, new=True)


def _append(state: State, path: str, line: int) -> None:
    if not WILDCARDS.intersection(path):
        record_edit(touch_trail(state, path, line), "")


def _edit(state: State, path: str, line: int) -> None:
    is_pattern = WILDCARDS.intersection(path)
    for name in _find_matching(state, path) if is_pattern else [to_project_path(state, path)]:
        trail = state["files"].get(name, {})
        set_last_line(trail, name, path, line)
        record_edit(trail, "")
        put_last(state, name, trail)


def _touch(state: State, path: str, line: int) -> None:
    """Create a file; one that is known stays as it is."""
    if not WILDCARDS.intersection(path) and to_project_path(state, path) not in state["files"]:
        record_write(state, path, line, new=True)


def _delete(state: State, path: str, line: int) -> None:
    """Delete files; a path that is not known is taken for a file from before the session."""
    names = _find_matching(state, path)
    if not names and not WILDCARDS.intersection(path) and not path.endswith("/"):
        names = [to_project_path(state, path)]
    _mark_deleted(state, names, path, line)


def _delete_tree(state: State, path: str, line: int) -> None:
    """`rm -r`: a path that is not known is a folder, if it existed at all, and not recorded."""
    _mark_deleted(state, _find_matching(state, path), path, line)


def _mark_deleted(state: State, names: list[str], path: str, line: int) -> None:
    """A file that this session created leaves no trace; one from before is kept as deleted."""
    for name in names:
        trail = state["files"].pop(name, {})
        if not trail.get("created"):
            set_last_line(trail, name, path, line)
            named: FileTrail = (
                {"source_line": trail["source_line"]} if "source_line" in trail else {}
            )
            put_last(state, name, {"line": line, "deleted": line, **named})


def _restore(state: State, path: str, line: int) -> None:
    """`git restore`: edits since the last commit are undone."""
    for name in _find_matching(state, path):
        trail = state["files"][name]
        committed = trail.pop("committed", 0)
        trail.pop("deleted", None)
        set_last_line(trail, name, path, line)
        if trail.get("created") and not committed:
            continue
        trail.pop("edits", None)
        if committed:
            trail["edits"] = trail["committed"] = committed


def _move(state: State, source: str, target: str, line: int) -> None:
    """Delete the old name; the new one counts as created, unless it existed before the session."""
    for old, new in _find_transfers(state, source, target):
        trail = state["files"].get(old, {}).copy()
        replaced = state["files"].get(new)
        _delete(state, _to_absolute(state, old), line)
        trail.pop("deleted", None)
        set_last_line(trail, new, f"{source} {target}", line)
        if replaced is not None and not replaced.get("created"):
            trail.pop("created", None)
            trail["edits"] = trail.get("edits", 0) or 1
        else:
            trail["created"] = line
        put_last(state, new, trail)


def _copy(state: State, source: str, target: str, line: int) -> None:
    for _, new in _find_transfers(state, source, target):
        record_write(state, _to_absolute(state, new), line, new=True)


def _find_transfers(state: State, source: str, target: str) -> list[tuple[str, str]]:
    """Return old and new names, for a file, a folder or a pattern."""
    sources = _find_matching(state, source)
    if not sources:
        if WILDCARDS.intersection(source):
            return []
        sources = [to_project_path(state, source.rstrip("/"))]
    source_name = to_project_path(state, source.rstrip("/"))
    target_name = to_project_path(state, target.rstrip("/"))
    files = state["files"]
    is_folder = target.endswith("/") or any(name.startswith(f"{target_name}/") for name in files)
    pairs = []
    for old in sources:
        inner = old[len(source_name) + 1 :] if old.startswith(f"{source_name}/") else ""
        last = (source_name if inner else old).rpartition("/")[2]
        into = is_folder or WILDCARDS.intersection(source)
        head = f"{target_name}/{last}" if into else target_name
        pairs.append((old, f"{head}/{inner}" if inner else head))
    return pairs


def _to_absolute(state: State, name: str) -> str:
    root = state["place"].get("root", "").rstrip("/")
    return name if name.startswith(("/", "~")) or not root else f"{root}/{name}"


def _ignore(state: State, path: str, line: int) -> None:
    """A new folder is not a file."""


_HANDLERS: dict[str, Callable[[State, str, int], None]] = {
    "write": _write,
    "append": _append,
    "touch": _touch,
    "edit": _edit,
    "delete": _delete,
    "delete tree": _delete_tree,
    "restore": _restore,
    "folder": _ignore,
}
