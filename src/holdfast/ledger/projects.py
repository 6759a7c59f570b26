"""Projects, found by any path inside them. Paths are compared as text; no file is opened."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.errors import NotFound
from holdfast.ledger import tombstones
from holdfast.ledger.schema import PROJECT_PATHS, PROJECTS, make_id

if TYPE_CHECKING:
    from holdfast.ledger.repository import Ledger, Row


def find_by_path(ledger: Ledger, path: str) -> Row:
    """Return the project of a folder or of its nearest parent folder. Raises NotFound if there is
    none.
    """
    for candidate in _list_parents(path):
        known = ledger.get(PROJECT_PATHS, candidate)
        project = ledger.get(PROJECTS, known["project"]) if known else None
        if project is not None:
            return project
    raise NotFound(f"No project recorded for {path}", hint="POST /api/projects creates one")


def find_project_id(ledger: Ledger, path: str, origin: str = "") -> str:
    """Return the id of the project at a path, or the id that it would get.

    The id comes from the origin of the repository if one is given, because another repository may
    have been at this path before or on another machine. A project that was created for the folder
    itself keeps its id, unless the origin's project exists too.
    """
    known = ledger.get(PROJECT_PATHS, _strip_trailing_slashes(path))
    by_path = make_id("project", _strip_trailing_slashes(path))
    if not origin:
        return str(known["project"]) if known else by_path
    by_origin = make_id("project", origin)
    if known is None or known["project"] != by_path or ledger.get(PROJECTS, by_origin):
        return by_origin
    return by_path


def ensure_project(
    ledger: Ledger,
    path: str,
    now: float,
    *,
    name: str = "",
    origin: str = "",
    metadata: dict[str, Any] | None = None,
) -> Row:
    """Return the project at exactly this path, created if needed, with this name and metadata.

    `origin` is the URL of its repository: all clones of a repository are one project.
    """
    path = _strip_trailing_slashes(path)
    with ledger.transaction(f"project {path}"):
        ident = find_project_id(ledger, path, origin)
        project = ledger.get(PROJECTS, ident)
        if project is None:
            tombstones.remove_tombstone(ledger, ident)
            project = ledger.write(PROJECTS, {
                "id": ident, "path": path, "name": name or path.rpartition("/")[2] or path,
                "metadata": metadata or {}, "created_at": now, "updated_at": now,
            })  # fmt: skip
        elif name or metadata:
            merged = {**project["metadata"], **(metadata or {})}
            project = ledger.update(
                PROJECTS, project, now, name=name or project["name"], metadata=merged
            )
        known = ledger.get(PROJECT_PATHS, path)
        if known is None or known["project"] != ident:
            ledger.write(PROJECT_PATHS, {"id": path, "project": ident, "updated_at": now})
    return project


def _strip_trailing_slashes(path: str) -> str:
    return path.rstrip("/") or "/"


def _list_parents(path: str) -> list[str]:
    """Return a path and all its parent folders, the path first."""
    parts = _strip_trailing_slashes(path).split("/")
    return ["/".join(parts[:count]) or "/" for count in range(len(parts), 0, -1)]
