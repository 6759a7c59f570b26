"""What a patch does to files, in the words of `shell_effects.py`."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

DOES = {"add": "write", "update": "edit", "delete": "delete"}


def effects(changes: Any, folder: str) -> Iterator[tuple[str, str, str]]:
    """Kind, path and target of each change; paths are told from where the patch was applied."""
    for change in changes if isinstance(changes, list) else ():
        path, target = (_within(folder, change.get(key)) for key in ("path", "to"))
        if path and change.get("kind") in DOES:
            yield DOES[change["kind"]], path, ""
        if path and target and target != path:
            yield "move", path, target


def _within(folder: str, path: Any) -> str:
    if not isinstance(path, str) or not path:
        return ""
    inside = not path.startswith(("/", "~")) and path[1:2] != ":"
    return f"{folder}/{path}" if folder and inside else path
