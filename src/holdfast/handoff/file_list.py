"""Many paths in few letters: what they share is said once, as in `src/{a.py, b/c.py}`."""

from __future__ import annotations

from holdfast.brief.tokens import cost

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

TITLE = "Files: "
# So few are written out.
PLAINLY = 3


class _Folder(dict[str, "_Folder"]):
    """Names to what is below them; a file has nothing below."""


def endings(paths: Iterable[str]) -> set[str]:
    """Every shorter way to name one of these files: of `src/a/b.py`, `a/b.py` and `b.py`."""
    return {path[at + 1 :] for path in paths for at, sign in enumerate(path) if sign == "/"}


def file_list(paths: list[str], room: float) -> str:
    """One line that names these files; if they do not all fit, it says how many are missing."""
    shorter = endings(paths)
    wanted = [path for path in paths if path not in shorter]
    if not wanted:
        return ""
    line = f"{TITLE}{', '.join(wanted)}"
    if len(wanted) <= PLAINLY and cost(line) <= room:
        return line
    line = TITLE + together(wanted)
    kept = len(wanted)
    while cost(line) > room and kept > 1:
        kept = min(kept - 1, int(kept * room / cost(line)) or 1)
        line = f"{TITLE}{together(wanted[:kept])}; and {len(wanted) - kept} more"
    return line if cost(line) <= room else f"{TITLE}{len(wanted)}"


def together(paths: Iterable[str]) -> str:
    root = _Folder()
    for path in paths:
        below = root
        for part in path.split("/"):
            below = below.setdefault(part, _Folder())
    return "; ".join(_written(name, below) for name, below in root.items())


def _written(name: str, below: _Folder) -> str:
    inside = [_written(other, deeper) for other, deeper in below.items()]
    if len(inside) < 2:
        return f"{name}/{inside[0]}" if inside else name
    return f"{name}/{{{', '.join(inside)}}}"
