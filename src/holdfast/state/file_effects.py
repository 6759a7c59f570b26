"""What commands and patches do to files, on the trail: effects of one kind each, net of others.

Imported when there is one: most turns have none.
"""

from __future__ import annotations

from holdfast.state.paths import relative
from holdfast.state.trail import edited, meant, put, trail_of, written

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.state.model import FileTrail, State

# A bracket is a pattern to the shell, but in practice a folder such as `app/[slug]`.
WILD = frozenset("*?")


def happened(state: State, kind: str, path: str, target: str, line: int) -> None:
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
        written(state, path, line, new=True)


def _append(state: State, path: str, line: int) -> None:
    if not WILD.intersection(path):
        edited(trail_of(state, path, line), "")


def _edit(state: State, path: str, line: int) -> None:
    for name in _matching(state, path) if WILD.intersection(path) else [relative(state, path)]:
        trail = state["files"].get(name, {})
        meant(trail, name, path, line)
        edited(trail, "")
        put(state, name, trail)


def _touch(state: State, path: str, line: int) -> None:
    """Makes a file that was not there; one that was there stays as it is."""
    if not WILD.intersection(path) and relative(state, path) not in state["files"]:
        written(state, path, line, new=True)


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
            meant(trail, known, path, line)
            told: FileTrail = {"told": trail["told"]} if "told" in trail else {}
            put(state, known, {"line": line, "deleted": line, **told})


def _restore(state: State, path: str, line: int) -> None:
    """Back to what git has: what was edited since the last commit is undone."""
    for known in _matching(state, path):
        trail = state["files"][known]
        kept = trail.pop("committed", 0)
        trail.pop("deleted", None)
        meant(trail, known, path, line)
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
        meant(trail, new, f"{source} {target}", line)
        if replaced is not None and not replaced.get("created"):
            trail.pop("created", None)
            trail["edits"] = trail.get("edits", 0) or 1
        else:
            trail["created"] = line
        put(state, new, trail)


def _copy(state: State, source: str, target: str, line: int) -> None:
    for _, new in _transfers(state, source, target):
        written(state, _absolute(state, new), line, new=True)


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
