"""Compress old snapshots: at the highest level, and as differences from one snapshot, the base.

The base is a snapshot that belongs to a compaction, because such snapshots are never deleted. The
newest and the richest snapshot of a session, which hooks restore from, are stored without a base.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast.errors import StoreUnavailable
from holdfast.store import codec, sqlite_migrations
from holdfast.store.repository import WRITE_LOCK

if TYPE_CHECKING:
    from holdfast.store.protocols import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressionResult:
    """How many snapshots were compressed, and how many bytes that saved."""

    snapshots: int = 0
    saved_bytes: int = 0


class SnapshotCompressor:
    """Compresses the snapshots of one database that were created before a given time."""

    def __init__(self, database: Database, before: float) -> None:
        self._database = database
        self._before = before
        self._queries = sqlite_migrations.load_queries("snapshot_compression")

    def measure(self, without: set[str]) -> CompressionResult:
        """Return what `compress` would save, without these snapshots. Nothing is written."""
        plans = [self._plan(session) for session in self._list_sessions()]
        return self._sum([[item for item in plan if item[0] not in without] for plan in plans])

    def compress(self) -> CompressionResult:
        """Compress the snapshots, one transaction per session; each is read back and compared."""
        return self._sum([self._compress_session(session) for session in self._list_sessions()])

    def _list_sessions(self) -> list[str]:
        return [row["session"] for row in self._select("sessions", before=self._before)]

    def _sum(self, plans: list[list[tuple[str, bytes, int]]]) -> CompressionResult:
        items = [item for plan in plans for item in plan]
        return CompressionResult(
            snapshots=len(items), saved_bytes=sum(saved for _, _, saved in items)
        )

    def _compress_session(self, session: str) -> list[tuple[str, bytes, int]]:
        self._database.begin(WRITE_LOCK)
        try:
            plan = self._plan(session)
            for ident, blob, _ in plan:
                text = self._decompress(self._select("state", id=ident)[0]["state"])
                self._database.run(self._queries["update_state"], {"id": ident, "state": blob})
                if self._decompress(self._select("state", id=ident)[0]["state"]) != text:
                    raise StoreUnavailable(f"snapshot {ident} did not read back as it was written")
        except BaseException:
            self._database.rollback()
            raise
        self._database.commit()
        return plan

    def _plan(self, session: str) -> list[tuple[str, bytes, int]]:
        """Return the snapshots of a session that get smaller: id, new bytes, bytes saved."""
        rows = self._select("snapshots", session=session)
        old = [row for row in rows if row["created_at"] < self._before]
        uncompressed = [row for row in old if not codec.is_tightly_compressed(bytes(row["state"]))]
        if not uncompressed:
            return []
        base = self._find_base(session, old)
        richest = max(rows, key=lambda row: (row["richness"], row["created_at"], row["id"]))
        without_base = {base, rows[-1]["id"], richest["id"]}
        base_text = next((self._decompress(row["state"]) for row in rows if row["id"] == base), "")
        compressed = [
            (row, self._compress(row, "" if row["id"] in without_base else base, base_text))
            for row in uncompressed
        ]
        return [
            (row["id"], blob, saved)
            for row, blob in compressed
            if (saved := len(row["state"]) - len(blob)) > 0
        ]

    def _find_base(self, session: str, old: list[dict[str, Any]]) -> str:
        """Return the id of an old snapshot without a base that can be one, or ""."""
        independent = {row["id"] for row in old if not codec.get_base_id(bytes(row["state"]))}
        candidates = [row["snapshot"] for row in self._select("bases", session=session)]
        return next((ident for ident in candidates if ident in independent), "")

    def _compress(self, row: dict[str, Any], base: str, base_text: str) -> bytes:
        text = self._decompress(row["state"])
        whole = codec.compress_tightly(text)
        return min(whole, codec.compress_delta(text, base, base_text), key=len) if base else whole

    def _decompress(self, blob: Any) -> str:
        base = codec.get_base_id(bytes(blob))
        base_text = self._decompress(self._select("state", id=base)[0]["state"]) if base else ""
        return codec.decompress(bytes(blob), base_text)

    def _select(self, name: str, **values: Any) -> list[dict[str, Any]]:
        return self._database.run(self._queries[name], values)[0]
