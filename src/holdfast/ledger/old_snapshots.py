"""Snapshots that callers saved long ago, and which of them nobody would miss.

Of each session the newest and the richest stay, and every one of which a restore still tells: that
takes each field from the newest snapshot that says anything of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast import quick_json
from holdfast.ledger.contexts import SNAPSHOT, says_anything

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.ledger.ledger import Ledger, Row

AT_ONCE = 500
_SESSIONS = (
    f"SELECT DISTINCT agent_id FROM agent_contexts WHERE agent_type = '{SNAPSHOT}' "
    "AND updated_at < :before ORDER BY agent_id"
)
_SNAPSHOTS = (
    "SELECT id, role_context, updated_at FROM agent_contexts WHERE agent_id = :session "
    f"AND agent_type = '{SNAPSHOT}' ORDER BY updated_at DESC, id DESC"
)
_DROP = "DELETE FROM agent_contexts WHERE updated_at < :before AND id IN ({0})"


def count(ledger: Ledger, before: float) -> Row:
    """How many can go, and how long they are."""
    sizes = [size for _, size in _superfluous(ledger, before)]
    return {"n": len(sizes), "bytes": sum(sizes)}


def drop(ledger: Ledger, before: float) -> int:
    """Take them away; how many it were."""
    gone = [ident for ident, _ in _superfluous(ledger, before)]
    dropped = 0
    for start in range(0, len(gone), AT_ONCE):
        given = {f"i{number}": one for number, one in enumerate(gone[start : start + AT_ONCE])}
        statement = _DROP.format(", ".join(f":{name}" for name in given))
        # One that was saved again meanwhile is the newest.
        dropped += ledger.database.run(statement, {**given, "before": before})[1]
    return dropped


def _superfluous(ledger: Ledger, before: float) -> Iterator[tuple[str, int]]:
    for found in ledger.database.run(_SESSIONS, {"before": before})[0]:
        rows = ledger.database.run(_SNAPSHOTS, {"session": found["agent_id"]})[0]
        stay = _told(rows)
        for row in rows:
            if row["updated_at"] < before and row["id"] not in stay:
                yield row["id"], len(row["role_context"].encode())


def _told(rows: list[Row]) -> set[str]:
    """Which of a session's snapshots, the newest first, have to stay."""
    richest = max(rows, key=lambda row: (len(row["role_context"]), row["updated_at"], row["id"]))
    stay, said = {rows[0]["id"], richest["id"]}, set[str]()
    for row in rows:
        saved = quick_json.loads(row["role_context"])
        fields = {name for name, value in saved.items() if says_anything(value)}
        if fields - said:
            stay.add(row["id"])
            said |= fields
    return stay
