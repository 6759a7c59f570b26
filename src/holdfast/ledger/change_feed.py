"""The change feed: which rows were written or deleted, in order, and how far each reader has got.

A position in the feed is a pair of a transaction id and a sequence number. SQLite writes one
transaction at a time, so there the sequence number alone gives the order.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from holdfast import fast_json
from holdfast.redaction import redact_value

if TYPE_CHECKING:
    from collections.abc import Collection

    from holdfast.ledger.schema import Table
    from holdfast.store.protocols import Database

Row = dict[str, Any]
DEFAULT_CHANGES = 100
# Keys in the table `readings` that are not session ids. They are stored, so they must not change.
_PRUNED_KEY = "changes that were taken away"
_DATABASE_ID_KEY = "this machine"
_SAVE_PROGRESS = (
    "INSERT INTO readings (id, value) VALUES (:id, :value) "
    "ON CONFLICT (id) DO UPDATE SET value = excluded.value"
)
_ADD_PROGRESS = "INSERT INTO readings (id, value) VALUES (:id, :value) ON CONFLICT (id) DO NOTHING"
_SAVE_SENT = (
    "INSERT INTO sent (target, seq, at) VALUES (:target, :seq, :at) "
    "ON CONFLICT (target) DO UPDATE SET seq = excluded.seq, at = excluded.at"
)
_CHANGES = "SELECT * FROM changes WHERE seq > :seq{kinds} ORDER BY seq LIMIT :limit"
# A transaction that is still open may commit changes that sort before some that are visible
# already. Reading stops before the oldest open transaction, so that no reader skips them.
_CHANGES_POSTGRES = (
    "SELECT seq, CAST(CAST(tx AS TEXT) AS BIGINT) AS tx, id, kind, record, project, session, gone, "
    "at FROM changes WHERE tx < pg_snapshot_xmin(pg_current_snapshot()) "
    "AND (tx, seq) > (CAST(CAST(:tx AS TEXT) AS xid8), :seq){kinds} "
    "ORDER BY tx, seq LIMIT :limit"
)
_NEXT_TRANSACTION = (
    "SELECT CAST(CAST(pg_snapshot_xmax(pg_current_snapshot()) AS TEXT) AS BIGINT) AS tx"
)
_HAS_PENDING = (
    "SELECT EXISTS (SELECT 1 FROM changes "
    "WHERE tx >= pg_snapshot_xmin(pg_current_snapshot())) AS held"
)


class ChangeFeed:
    """Reads the change feed and stores the positions of its readers."""

    database: Database

    def list_changes(
        self,
        after: tuple[int, int] = (0, 0),
        limit: int = DEFAULT_CHANGES,
        tables: Collection[Table] = (),
    ) -> list[Row]:
        """Return the changes after a position, oldest first; of these tables, or of all."""
        values: Row = {"tx": after[0], "seq": after[1], "limit": limit}
        names = ", ".join(f"'{table.name}'" for table in tables)
        kinds = f" AND kind IN ({names})" if names else ""
        if self.database.dialect == "postgres":
            return self.database.run(_CHANGES_POSTGRES.format(kinds=kinds), values)[0]
        del values["tx"]
        return self.database.run(_CHANGES.format(kinds=kinds), values)[0]

    def get_last_position(self) -> tuple[int, int]:
        """Return the position of the newest change that can be read, (0, 0) if there is none."""
        readable = "WHERE tx < pg_snapshot_xmin(pg_current_snapshot()) "
        is_postgres = self.database.dialect == "postgres"
        rows = self.database.run(
            "SELECT seq, CAST(CAST(tx AS TEXT) AS BIGINT) AS tx FROM changes "
            f"{readable if is_postgres else ''}ORDER BY tx DESC, seq DESC LIMIT 1"
        )[0]
        return (rows[0]["tx"], rows[0]["seq"]) if rows else (0, 0)

    def has_pending_changes(self) -> bool:
        """Return whether committed changes cannot be read yet because an older transaction is
        still open.
        """
        if self.database.dialect != "postgres":
            return False
        return bool(self.database.run(_HAS_PENDING)[0][0]["held"])

    def count_changed_rows(self, after: int) -> int:
        """Return how many rows have changed after a sequence number."""
        values = {"seq": after}
        statement = "SELECT DISTINCT kind, record FROM changes WHERE seq > :seq"
        return len(self.database.run(statement, values)[0])

    def get_pruned_position(self) -> tuple[int, int]:
        """Return the position of the last change that was deleted; the feed is complete after it.

        A reader that is behind this position has missed changes.
        """
        saved = self.load_progress(_PRUNED_KEY)
        position = saved.get("tx", 0), saved.get("seq", 0)
        if position[0] and self.database.dialect == "postgres":
            # A database that was restored into another cluster has new, lower transaction ids.
            (current,) = self.database.run(_NEXT_TRANSACTION)[0]
            return position if position[0] <= current["tx"] else (0, 0)
        return position

    def record_pruned(self, until: tuple[int, int]) -> None:
        """Record that the changes up to this position are being deleted."""
        tx, seq = max(until, self.get_pruned_position())
        self.save_progress(_PRUNED_KEY, {"tx": tx, "seq": seq})

    def get_sent_position(self, target: str) -> tuple[int, float | None]:
        """Return the sequence number of the last change that was sent to a team's database, and
        the time it was sent; (0, None) if nothing was sent.
        """
        values = {"target": target}
        rows = self.database.run("SELECT seq, at FROM sent WHERE target = :target", values)[0]
        return (rows[0]["seq"], rows[0]["at"]) if rows else (0, None)

    def save_sent_position(self, target: str, seq: int, now: float) -> None:
        self.database.run(_SAVE_SENT, {"target": target, "seq": seq, "at": now})

    def delete_sent_position(self, target: str) -> None:
        self.database.run("DELETE FROM sent WHERE target = :target", {"target": target})

    def load_progress(self, session: str) -> Row:
        """Return what `save_progress` stored for a session: how far its transcript was read into
        the ledger. Returns {} if nothing is stored.
        """
        rows = self.database.run("SELECT value FROM readings WHERE id = :id", {"id": session})[0]
        value = fast_json.loads(rows[0]["value"]) if rows else {}
        return value if isinstance(value, dict) else {}

    def save_progress(self, session: str, value: Row) -> None:
        text = fast_json.dumps(redact_value(value))
        self.database.run(_SAVE_PROGRESS, {"id": session, "value": text})

    def get_database_id(self) -> str:
        """Return the random id of this database; the first call creates it."""
        if not (saved := self.load_progress(_DATABASE_ID_KEY)):
            self.database.run(_ADD_PROGRESS, {
                "id": _DATABASE_ID_KEY, "value": fast_json.dumps({"name": os.urandom(8).hex()}),
            })  # fmt: skip
            # Another process may have created it first.
            saved = self.load_progress(_DATABASE_ID_KEY)
        return str(saved["name"])
