"""Names of files as the project has them, whichever way a tool or a command wrote them."""

from __future__ import annotations

from holdfast.state.wording import keep

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.state.model import State

LONGEST = 500
# macOS has these folders under two names.
TWO_NAMES = ("/private/tmp/", "/private/var/", "/private/etc/")


def relative(state: State, path: str) -> str:
    """A path as the project names it."""
    root = state["place"].get("root", "")
    known = _named.get(path)
    if known is not None and known[0] == root:
        return known[1]
    name = _relative(root, path)
    if len(_named) > MOST_NAMED:
        _named.clear()
    _named[path] = (root, name)
    return name


def whole(root: str, cwd: str, path: str) -> str:
    """The same for a path that may be told from a folder below the project's."""
    if path[:1] in "/~\\" or path[1:2] == ":":
        return _relative(root, path)
    inside = cwd.startswith(root + "/") if root else False
    return _tidy(f"{cwd[len(root) + 1 :]}/{path}" if inside else path)


def _tidy(path: str) -> str:
    parts: list[str] = []
    for part in path.split("/"):
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


# Sessions name the same files again and again, and each name is looked over for secrets.
_named: dict[str, tuple[str, str]] = {}
MOST_NAMED = 2000


def _relative(root: str, path: str) -> str:
    if root[1:2] == ":":
        path = _on_windows(root, path)
    root, path = _settled(root.rstrip("/\\") + "/")[:-1], _settled(_from_home(root, path))
    same = path[: len(root)] == root or _same_on_windows(path[: len(root)], root)
    inside = bool(root) and same and path[len(root) : len(root) + 1] in ("/", "\\")
    return keep(path[len(root) + 1 :] if inside else path, LONGEST)


def _on_windows(root: str, path: str) -> str:
    """With the slashes that the project's own path has: tools and shells write either."""
    if path[:1] == "/" and path[1:2].isalpha() and path[2:3] in ("", "/"):
        path = f"{path[1].upper()}:{path[2:]}"
    return path.replace("/", "\\") if "\\" in root else path.replace("\\", "/")


def _settled(path: str) -> str:
    return path[len("/private") :] if path.startswith(TWO_NAMES) else path


def _from_home(root: str, path: str) -> str:
    """`~/x` is the same file as its whole name, if the home can be told from the project's."""
    if not path.startswith("~/"):
        return path
    parts = root.split("/")
    if root.startswith(("/home/", "/Users/")) and len(parts) > 2:
        return f"/{parts[1]}/{parts[2]}{path[1:]}"
    return f"/root{path[1:]}" if parts[:2] == ["", "root"] else path


def _same_on_windows(one: str, other: str) -> bool:
    """There the letter of a drive and the slashes may be written either way."""
    if one[1:2] != ":" or other[1:2] != ":":
        return False
    return one.replace("\\", "/").lower() == other.replace("\\", "/").lower()
