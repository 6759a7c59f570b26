"""A row that the fold made on one machine, where callers of the team have said more of it.

What they said stands until the host says something new; what the fold alone knows comes along.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.ledger.tables import PROJECTS, REQUESTS, SUBTASKS, TASKS
from holdfast.ledger.waves import NO_WAVE, OVER
from holdfast.ledger.work import USUAL_PRIORITY

if TYPE_CHECKING:
    from holdfast.ledger.ledger import Row

MET = (PROJECTS.name, REQUESTS.name, TASKS.name, SUBTASKS.name)
# What the fold puts where it knows nothing.
NOTHING: dict[str, Any] = {
    "metadata": {}, "wave_number": NO_WAVE, "priority": USUAL_PRIORITY, "blocked_by": [],
    "agent_id": "", "project": "", "retry_count": 0,
}  # fmt: skip
# Where a caller has put something in the tree, and how far it is.
PLACE, STAND = ("request", "task"), ("status", "completed_at", "started_at")


def together(known: Row, row: Row) -> Row:
    """The row as it is to be written where `known` is."""
    if "path" in row:
        return _project(known, row)
    if not known.get("posted") or row.get("posted"):
        return row
    kept = {name for name, nothing in NOTHING.items() if row.get(name) == nothing}
    kept.update(PLACE)
    finished = not known["folded"] and known["status"] in OVER
    if finished or known["folded"] == row["folded"]:
        kept.update(STAND)
    said = {name: known[name] for name in kept if name in known}
    return {**row, **said, "updated_at": max(row["updated_at"], known["updated_at"])}


def _project(known: Row, row: Row) -> Row:
    """The first path of all its clones, a name that somebody gave it, and what they noted of it."""
    # Whoever has it at that path may call it something else; others only where nobody has.
    can_name = row["path"] == known["path"] or _is_plain(known)
    name = row["name"] if can_name and not _is_plain(row) else known["name"]
    later = max(row["updated_at"], known["updated_at"])
    metadata = {**known["metadata"], **row["metadata"]}
    told = {"path": known["path"], "name": name, "metadata": metadata, "updated_at": later}
    return {**row, **told}


def _is_plain(project: Row) -> bool:
    """Whether it is called by its folder, and nobody has given it a name."""
    return bool(project["name"] == (project["path"].rpartition("/")[2] or project["path"]))
