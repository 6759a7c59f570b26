"""Lists many paths in little space: a shared folder is written once, `src/{a.py, b/c.py}`."""

from __future__ import annotations

from holdfast.tokens.estimate import token_cost

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

TITLE = "Files: "
# Up to this many paths are written out in full.
MAX_UNGROUPED = 3


class _Folder(dict[str, "_Folder"]):
    """The names in a folder, each with what is below it; a file has nothing below."""


def path_suffixes(paths: Iterable[str]) -> set[str]:
    """Return the shorter forms of these paths: of `src/a/b.py`, `a/b.py` and `b.py`."""
    return {path[at + 1 :] for path in paths for at, char in enumerate(path) if char == "/"}


def render_path_list(paths: list[str], tokens: float) -> str:
    """Return one line with these paths within this many tokens.

    If not all of them fit, the line ends with the number of the rest. A path that is the end of
    another one is left out.
    """
    suffixes = path_suffixes(paths)
    distinct = [path for path in paths if path not in suffixes]
    if not distinct:
        return ""
    line = f"{TITLE}{', '.join(distinct)}"
    if len(distinct) <= MAX_UNGROUPED and token_cost(line) <= tokens:
        return line
    line = TITLE + group_paths(distinct)
    kept = len(distinct)
    while token_cost(line) > tokens and kept > 1:
        kept = min(kept - 1, int(kept * tokens / token_cost(line)) or 1)
        line = f"{TITLE}{group_paths(distinct[:kept])}; and {len(distinct) - kept} more"
    return line if token_cost(line) <= tokens else f"{TITLE}{len(distinct)}"


def group_paths(paths: Iterable[str]) -> str:
    """Return the paths with each shared folder written once."""
    root = _Folder()
    for path in paths:
        folder = root
        for part in path.split("/"):
            folder = folder.setdefault(part, _Folder())
    return "; ".join(_render(name, folder) for name, folder in root.items())


def _render(name: str, folder: _Folder) -> str:
    children = [_render(child, below) for child, below in folder.items()]
    if len(children) < 2:
        return f"{name}/{children[0]}" if children else name
    return f"{name}/{{{', '.join(children)}}}"
