"""Sessions with their snapshots, compactions and handoffs, as stored, to another database."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from holdfast import quick_json
from holdfast.store import encoding, schema
from holdfast.store.records import LOCK

if TYPE_CHECKING:
    from holdfast.store.base import Database

Row = dict[str, Any]


class Copying:
    """From here to there. Doing it twice changes nothing."""

    def __init__(self, here: Database, there: Database) -> None:
        self._here = here
        self._there = there
        self._queries = schema.queries("copying")

    def _ask(self, database: Database, name: str, **values: Any) -> list[Row]:
        return database.run(self._queries[name], values)[0]

    def stands(self) -> dict[str, str]:
        """For each session a word that changes whenever there is something new to copy.

        It is asked for every few seconds: nothing long is read for it, and nothing one by one.
        """
        told: dict[str, list[Row]] = {row["id"]: [row] for row in self._ask(self._here, "sessions")}
        for name in ("all_snapshots", "all_compactions", "all_handoffs"):
            for row in self._ask(self._here, name):
                told[row["session"]].append(row)
        return {
            session: hashlib.sha256(quick_json.dumps(rows).encode()).hexdigest()[:24]
            for session, rows in told.items()
        }

    def copy(self, session: str) -> None:
        """One session, all of it or nothing."""
        self._there.begin(LOCK)
        try:
            for row in self._ask(self._here, "session", id=session):
                told = {**row, "is_further": int(self._is_further(row))}
                self._there.run(self._queries["put_session"], told)
            compactions = self._ask(self._here, "compactions", id=session)
            renamed = self._snapshots(session, {row["snapshot"] for row in compactions})
            for row in compactions:
                snapshot = renamed.get(row["snapshot"], row["snapshot"])
                self._there.run(self._queries["put_compaction"], {**row, "snapshot": snapshot})
            for row in self._ask(self._here, "handoffs", id=session):
                self._there.run(self._queries["put_handoff"], {**row, "id": self._handoff_id(row)})
        except BaseException:
            self._there.rollback()
            raise
        self._there.commit()

    def _is_further(self, row: Row) -> bool:
        """Whether as much of its log was read as there, or more, whatever clocks say."""
        known = self._ask(self._there, "session", id=row["id"])
        return bool(known) and _lines(known[0]) <= _lines(row)

    def _snapshots(self, session: str, needed: set[str | None]) -> dict[str, str]:
        """Copy what is missing; which ones had to get another id there.

        They come in their order: one of an earlier line than the newest there, and not there, was
        there and has been thinned out. Compactions need theirs in any case.
        """
        renamed: dict[str, str] = {}
        (newest,) = self._ask(self._there, "newest_snapshot", id=session)
        for known in self._ask(self._here, "snapshot_ids", id=session):
            ident = known["id"]
            if ident not in needed and newest["line"] and known["line"] < newest["line"]:
                continue
            owner = self._ask(self._there, "snapshot_owner", id=ident)
            if owner and owner[0]["session"] == session:
                continue
            if owner:
                renamed[ident] = _longer(session, ident)
            for row in self._ask(self._here, "snapshot", id=ident):
                told = {**row, "id": renamed.get(ident, ident), "state": self._alone(row["state"])}
                self._there.run(self._queries["put_snapshot"], told)
        return renamed

    def _alone(self, blob: bytes) -> bytes:
        """As it can be read without another, which may have another name there."""
        base = encoding.base_of(blob)
        if not base:
            return blob
        (other,) = self._ask(self._here, "snapshot", id=base)
        return encoding.pack_tight(encoding.unpack(blob, encoding.unpack(other["state"])))

    def _handoff_id(self, row: Row) -> str:
        ident, session = str(row["id"]), str(row["session"])
        owner = self._ask(self._there, "handoff_owner", id=ident)
        return _longer(session, ident) if owner and owner[0]["session"] != session else ident


def _lines(row: Row) -> int:
    return int(encoding.load(row["state"])["lines"])


def _longer(session: str, ident: str) -> str:
    """Ids are short, and a team makes many: another session has this one."""
    return hashlib.sha256(f"{session} {ident}".encode()).hexdigest()[:16]
