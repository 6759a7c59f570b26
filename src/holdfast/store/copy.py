"""Copy sessions with their snapshots, compactions and handoffs to another database."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from holdfast import fast_json
from holdfast.store import codec, sqlite_migrations
from holdfast.store.repository import WRITE_LOCK

if TYPE_CHECKING:
    from holdfast.store.protocols import Database

Row = dict[str, Any]


class SessionCopier:
    """Copies sessions from a source to a target database. Copying a session again only adds what is
    new.
    """

    def __init__(self, source: Database, target: Database) -> None:
        self._source = source
        self._target = target
        self._queries = sqlite_migrations.load_queries("copy")

    def _select(self, database: Database, name: str, **values: Any) -> list[Row]:
        return database.run(self._queries[name], values)[0]

    def compute_session_versions(self) -> dict[str, str]:
        """Return a hash for each session that changes whenever there is something new to copy.

        This is called every few seconds, so it reads no long texts and makes no query per session.
        """
        rows_by_session: dict[str, list[Row]] = {
            row["id"]: [row] for row in self._select(self._source, "sessions")
        }
        for name in ("all_snapshots", "all_compactions", "all_handoffs"):
            for row in self._select(self._source, name):
                rows_by_session[row["session"]].append(row)
        return {
            session: hashlib.sha256(fast_json.dumps(rows).encode()).hexdigest()[:24]
            for session, rows in rows_by_session.items()
        }

    def copy(self, session: str) -> None:
        """Copy one session in one transaction."""
        self._target.begin(WRITE_LOCK)
        try:
            for row in self._select(self._source, "session", id=session):
                values = {**row, "is_further": int(self._is_further(row))}
                self._target.run(self._queries["put_session"], values)
            compactions = self._select(self._source, "compactions", id=session)
            renamed = self._copy_snapshots(session, {row["snapshot"] for row in compactions})
            for row in compactions:
                snapshot = renamed.get(row["snapshot"], row["snapshot"])
                self._target.run(self._queries["put_compaction"], {**row, "snapshot": snapshot})
            for row in self._select(self._source, "handoffs", id=session):
                self._target.run(
                    self._queries["put_handoff"], {**row, "id": self._choose_handoff_id(row)}
                )
        except BaseException:
            self._target.rollback()
            raise
        self._target.commit()

    def _is_further(self, row: Row) -> bool:
        """Return whether the source has read at least as much of the transcript as the target.

        If so, the session is replaced even if its time is older, because clocks may differ.
        """
        known = self._select(self._target, "session", id=row["id"])
        return bool(known) and _count_lines(known[0]) <= _count_lines(row)

    def _copy_snapshots(self, session: str, needed: set[str | None]) -> dict[str, str]:
        """Copy the snapshots that are missing; return the new ids of those that had to be renamed.

        Snapshots are copied in order. One that is missing in the target, and is from an earlier
        line than the newest there, was copied before and deleted since, so it is skipped. Snapshots
        in `needed`, which belong to compactions, are always copied.
        """
        renamed: dict[str, str] = {}
        (newest,) = self._select(self._target, "newest_snapshot", id=session)
        for known in self._select(self._source, "snapshot_ids", id=session):
            ident = known["id"]
            if ident not in needed and newest["line"] and known["line"] < newest["line"]:
                continue
            owner = self._select(self._target, "snapshot_owner", id=ident)
            if owner and owner[0]["session"] == session:
                continue
            if owner:
                renamed[ident] = _make_longer_id(session, ident)
            for row in self._select(self._source, "snapshot", id=ident):
                state = self._compress_without_base(row["state"])
                values = {**row, "id": renamed.get(ident, ident), "state": state}
                self._target.run(self._queries["put_snapshot"], values)
        return renamed

    def _compress_without_base(self, blob: bytes) -> bytes:
        """Return a snapshot compressed without a base, which may have another id in the target."""
        base = codec.get_base_id(blob)
        if not base:
            return blob
        (base_row,) = self._select(self._source, "snapshot", id=base)
        base_text = codec.decompress(base_row["state"])
        return codec.compress_tightly(codec.decompress(blob, base_text))

    def _choose_handoff_id(self, row: Row) -> str:
        ident, session = str(row["id"]), str(row["session"])
        owner = self._select(self._target, "handoff_owner", id=ident)
        return (
            _make_longer_id(session, ident) if owner and owner[0]["session"] != session else ident
        )


def _count_lines(row: Row) -> int:
    return int(codec.decode_state(row["state"])["lines"])


def _make_longer_id(session: str, ident: str) -> str:
    """Return a longer id for a row whose id is already used by another session of the team."""
    return hashlib.sha256(f"{session} {ident}".encode()).hexdigest()[:16]
