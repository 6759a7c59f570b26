"""Projects, found by any path that lies in them. Paths are compared as text: nothing is opened."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.errors import NoSuchRecord
from holdfast.ledger import ids, tombstones
from holdfast.ledger.tables import PROJECT_PATHS, PROJECTS

if TYPE_CHECKING:
    from holdfast.ledger.ledger import Ledger, Row


def by_path(ledger: Ledger, path: str) -> Row:
    """The project of this folder or of the nearest one above it."""
    for candidate in _upwards(path):
        known = ledger.get(PROJECT_PATHS, candidate)
        found = ledger.get(PROJECTS, known["project"]) if known else None
        if found is not None:
            return found
    raise NoSuchRecord(f"a project at {path}", hint="POST /api/projects makes one")


def name_of(ledger: Ledger, path: str, origin: str = "") -> str:
    """The id that the project of this path has, or would have.

    Another repository may lie there now, or on another machine: then its origin counts, but not
    against somebody who has named the folder itself.
    """
    known, by_path = ledger.get(PROJECT_PATHS, _clean(path)), ids.ident("project", _clean(path))
    if not origin:
        return str(known["project"]) if known else by_path
    by_origin = ids.ident("project", origin)
    if known is None or known["project"] != by_path or ledger.get(PROJECTS, by_origin):
        return by_origin
    return by_path


def project(
    ledger: Ledger,
    path: str,
    now: float,
    *,
    name: str = "",
    origin: str = "",
    metadata: dict[str, Any] | None = None,
) -> Row:
    """The project of exactly this path, made if need be.

    `origin` is the address of its repository: clones of one are one project, wherever they lie.
    """
    path = _clean(path)
    with ledger.together(f"project {path}"):
        ident = name_of(ledger, path, origin)
        found = ledger.get(PROJECTS, ident)
        if found is None:
            tombstones.lift(ledger, ident)
            found = ledger.write(PROJECTS, {
                "id": ident, "path": path, "name": name or path.rpartition("/")[2] or path,
                "metadata": metadata or {}, "created_at": now, "updated_at": now,
            })  # fmt: skip
        elif name or metadata:
            merged = {**found["metadata"], **(metadata or {})}
            found = ledger.change(PROJECTS, found, now, name=name or found["name"], metadata=merged)
        known = ledger.get(PROJECT_PATHS, path)
        if known is None or known["project"] != ident:
            ledger.write(PROJECT_PATHS, {"id": path, "project": ident, "updated_at": now})
    return found


def _clean(path: str) -> str:
    return path.rstrip("/") or "/"


def _upwards(path: str) -> list[str]:
    parts = _clean(path).split("/")
    return ["/".join(parts[:count]) or "/" for count in range(len(parts), 0, -1)]
