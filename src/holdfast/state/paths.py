"""Turn paths, as tools and commands write them, into paths relative to the project."""

from __future__ import annotations

from holdfast.state.text import redact_and_clip

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.state.types import State

MAX_PATH_CHARS = 500
# On macOS these folders are also reachable without `/private`.
PRIVATE_FOLDERS = ("/private/tmp/", "/private/var/", "/private/etc/")

# Sessions use the same paths again and again, and redaction of each is slow.
_path_cache: dict[str, tuple[str, str]] = {}
MAX_CACHED_PATHS = 2000


def to_project_path(state: State, path: str) -> str:
    """Return a path relative to the project, or as it is if it is outside; redacted."""
    root = state["place"].get("root", "")
    cached = _path_cache.get(path)
    if cached is not None and cached[0] == root:
        return cached[1]
    name = _relative_to(root, path)
    if len(_path_cache) > MAX_CACHED_PATHS:
        _path_cache.clear()
    _path_cache[path] = (root, name)
    return name


def resolve_project_path(root: str, cwd: str, path: str) -> str:
    """Like `to_project_path`, for a path that may be relative to a folder below the project's."""
    if path[:1] in "/~\\" or path[1:2] == ":":
        return _relative_to(root, path)
    is_below = cwd.startswith(root + "/") if root else False
    return _normalize(f"{cwd[len(root) + 1 :]}/{path}" if is_below else path)


def _normalize(path: str) -> str:
    parts: list[str] = []
    for part in path.split("/"):
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def _relative_to(root: str, path: str) -> str:
    if root[1:2] == ":":
        path = _to_windows_path(root, path)
    path = _strip_private(_expand_home(root, path))
    root = _strip_private(root.rstrip("/\\") + "/")[:-1]
    starts_alike = path[: len(root)] == root or _is_same_on_windows(path[: len(root)], root)
    is_inside = bool(root) and starts_alike and path[len(root) : len(root) + 1] in ("/", "\\")
    return redact_and_clip(path[len(root) + 1 :] if is_inside else path, MAX_PATH_CHARS)


def _to_windows_path(root: str, path: str) -> str:
    """Write a path with the drive and slashes of the root: tools and shells use either kind."""
    if path[:1] == "/" and path[1:2].isalpha() and path[2:3] in ("", "/"):
        path = f"{path[1].upper()}:{path[2:]}"
    return path.replace("/", "\\") if "\\" in root else path.replace("\\", "/")


def _strip_private(path: str) -> str:
    return path[len("/private") :] if path.startswith(PRIVATE_FOLDERS) else path


def _expand_home(root: str, path: str) -> str:
    """Expand `~/` if the home folder can be derived from the project's path."""
    if not path.startswith("~/"):
        return path
    parts = root.split("/")
    if root.startswith(("/home/", "/Users/")) and len(parts) > 2:
        return f"/{parts[1]}/{parts[2]}{path[1:]}"
    return f"/root{path[1:]}" if parts[:2] == ["", "root"] else path


def _is_same_on_windows(path: str, other: str) -> bool:
    """Compare Windows paths, in which case and slashes do not matter."""
    if path[1:2] != ":" or other[1:2] != ":":
        return False
    return path.replace("\\", "/").lower() == other.replace("\\", "/").lower()
