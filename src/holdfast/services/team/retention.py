"""Delete what is no longer needed, and compress old snapshots that are rarely read.

Everything that a session could be restored from is kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast.ledger import snapshot_retention, unread_flags
from holdfast.services.compaction.handoffs import MAX_HANDOFFS_SHOWN
from holdfast.store import sqlite_migrations
from holdfast.store.repository import WRITE_LOCK
from holdfast.store.snapshot_compression import SnapshotCompressor

if TYPE_CHECKING:
    from holdfast.ledger.repository import Ledger
    from holdfast.store.protocols import Store

DAY_SECONDS = 86_400.0
STORE_KINDS = ("snapshots", "handoffs")
TEAM_KIND = "texts"
LEDGER_KINDS = ("receipts", "messages", "agents", "changes")
CALLER_KIND = "contexts"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpiredRows:
    """Counts of what can be, or was, deleted or compressed, and the bytes that this frees."""

    snapshots: int = 0
    handoffs: int = 0
    texts: int = 0
    """Searchable texts of a team; on a machine they are deleted with their transcripts."""
    contexts: int = 0
    """Snapshots that API callers saved."""
    receipts: int = 0
    messages: int = 0
    agents: int = 0
    changes: int = 0
    """Entries of the change feed."""
    packed: int = 0
    """Snapshots that are compressed and kept."""
    bytes: int = 0

    @property
    def deleted(self) -> dict[str, int]:
        """The counts of what is deleted, without what is only compressed."""
        return {
            name: getattr(self, name)
            for name in (*STORE_KINDS, TEAM_KIND, CALLER_KIND, *LEDGER_KINDS)
        }

    @property
    def total(self) -> int:
        return sum(self.deleted.values()) + self.packed


def count_expired(store: Store, ledger: Ledger, before: float) -> ExpiredRows:
    """Return what is older than `before` and can be deleted or compressed."""
    counts = _count(store, ledger, before)
    old = store.database.run(
        sqlite_migrations.load_queries("retention")["old_snapshots"], {"before": before}
    )[0]
    cold = SnapshotCompressor(store.database, before).measure(without={row["id"] for row in old})
    return ExpiredRows(
        **{name: row["n"] for name, row in counts.items()},
        packed=cold.snapshots,
        bytes=sum(row["bytes"] for row in counts.values()) + cold.saved_bytes,
    )


def remove_expired(store: Store, ledger: Ledger, before: float) -> ExpiredRows:
    """Delete and compress what is older than `before`; return how much that was."""
    queries, parameters = sqlite_migrations.load_queries("retention"), {"before": before}
    freed = sum(row["bytes"] for row in _count(store, ledger, before).values())
    from_store = {
        name: store.database.run(queries[f"drop_{name}"], _parameters(name, before), WRITE_LOCK)[1]
        for name in _store_kinds(store)
    }
    with ledger.transaction():
        # Readers of the change feed that are further behind learn that they missed changes.
        for last in ledger.database.run(queries["last_old_change"], parameters)[0]:
            ledger.record_pruned((last["tx"], last["seq"]))
        # Receipts first: they are found through their messages.
        from_ledger = {
            name: ledger.database.run(queries[f"drop_{name}"], parameters)[1]
            for name in LEDGER_KINDS
        }
        from_ledger[CALLER_KIND] = snapshot_retention.delete_superfluous(ledger, before)
    if path := ledger.database.path:
        unread_flags.delete_expired_flags(path, before)
    cold = SnapshotCompressor(store.database, before).compress()
    freed += cold.saved_bytes
    return ExpiredRows(**from_store, **from_ledger, packed=cold.snapshots, bytes=freed)


def _store_kinds(store: Store) -> tuple[str, ...]:
    return (*STORE_KINDS, TEAM_KIND) if store.database.dialect == "postgres" else STORE_KINDS


def _count(store: Store, ledger: Ledger, before: float) -> dict[str, dict[str, Any]]:
    queries = sqlite_migrations.load_queries("retention")
    counts = {
        name: database.run(queries[f"count_{name}"], _parameters(name, before))[0][0]
        for names, database in (
            (_store_kinds(store), store.database),
            (LEDGER_KINDS, ledger.database),
        )
        for name in names
    }
    return {**counts, CALLER_KIND: snapshot_retention.count_superfluous(ledger, before)}


def _parameters(name: str, before: float) -> dict[str, Any]:
    return (
        {"before": before, "shown": MAX_HANDOFFS_SHOWN}
        if name == "handoffs"
        else {"before": before}
    )
