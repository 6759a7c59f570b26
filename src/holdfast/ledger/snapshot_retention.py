"""Delete old snapshots of API callers that no restore needs.

In each session the newest and the largest snapshot stay, and each one that a restore uses: it takes
each field from the newest snapshot in which that field has a value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast import fast_json
from holdfast.ledger.contexts import SNAPSHOT_AGENT_TYPE, has_content

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.ledger.repository import Ledger, Row

BATCH_SIZE = 500
_SESSIONS = (
    f"SELECT DISTINCT agent_id FROM agent_contexts WHERE agent_type = '{SNAPSHOT_AGENT_TYPE}' "
    "AND updated_at < :before ORDER BY agent_id"
)
_SNAPSHOTS = (
    "SELECT id, role_context, updated_at FROM agent_contexts WHERE agent_id = :session "
    f"AND agent_type = '{SNAPSHOT_AGENT_TYPE}' ORDER BY updated_at DESC, id DESC"
)
_DELETE = "DELETE FROM agent_contexts WHERE updated_at < :before AND id IN ({0})"


def count_superfluous(ledger: Ledger, before: float) -> Row:
    """Return how many snapshots from before this time are not needed (`n`), and their `bytes`."""
    sizes = [size for _, size in _find_superfluous(ledger, before)]
    return {"n": len(sizes), "bytes": sum(sizes)}


def delete_superfluous(ledger: Ledger, before: float) -> int:
    """Delete the snapshots from before this time that are not needed; return how many."""
    superfluous = [ident for ident, _ in _find_superfluous(ledger, before)]
    deleted = 0
    for start in range(0, len(superfluous), BATCH_SIZE):
        batch = superfluous[start : start + BATCH_SIZE]
        values = {f"i{number}": ident for number, ident in enumerate(batch)}
        statement = _DELETE.format(", ".join(f":{name}" for name in values))
        # A snapshot that was saved again meanwhile has a newer time and is not deleted.
        deleted += ledger.database.run(statement, {**values, "before": before})[1]
    return deleted


def _find_superfluous(ledger: Ledger, before: float) -> Iterator[tuple[str, int]]:
    """Yield id and size of each snapshot that can be deleted."""
    for session in ledger.database.run(_SESSIONS, {"before": before})[0]:
        rows = ledger.database.run(_SNAPSHOTS, {"session": session["agent_id"]})[0]
        needed = _find_needed(rows)
        for row in rows:
            if row["updated_at"] < before and row["id"] not in needed:
                yield row["id"], len(row["role_context"].encode())


def _find_needed(rows: list[Row]) -> set[str]:
    """Return the ids of a session's snapshots that have to stay; `rows` are newest first."""
    largest = max(rows, key=lambda row: (len(row["role_context"]), row["updated_at"], row["id"]))
    needed, seen_fields = {rows[0]["id"], largest["id"]}, set[str]()
    for row in rows:
        body = fast_json.loads(row["role_context"])
        fields = {name for name, value in body.items() if has_content(value)}
        if fields - seen_fields:
            needed.add(row["id"])
            seen_fields |= fields
    return needed
