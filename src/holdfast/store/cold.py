"""Old snapshots take less room: packed tighter, and those of a session as what differs from one.

That one belongs to a compaction, so nobody takes it away. The newest and the richest of a session,
from which hooks restore, depend on no other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast.errors import StoreUnavailable
from holdfast.store import encoding, schema
from holdfast.store.records import LOCK

if TYPE_CHECKING:
    from holdfast.store.base import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """How many snapshots, and how many bytes less they take."""

    snapshots: int = 0
    saved: int = 0


class Cold:
    """The snapshots of one database that are older than that."""

    def __init__(self, database: Database, before: float) -> None:
        self._database = database
        self._before = before
        self._queries = schema.queries("cold")

    def measure(self, without: set[str]) -> Packed:
        """What packing would save once those are gone; nothing is changed."""
        found = [self._changes(session) for session in self._sessions()]
        return self._added([[one for one in part if one[0] not in without] for part in found])

    def pack(self) -> Packed:
        """Pack them, a session at a time, each read back before it counts."""
        return self._added([self._pack(session) for session in self._sessions()])

    def _sessions(self) -> list[str]:
        return [row["session"] for row in self._ask("sessions", before=self._before)]

    def _added(self, parts: list[list[tuple[str, bytes, int]]]) -> Packed:
        done = [one for part in parts for one in part]
        return Packed(snapshots=len(done), saved=sum(saved for _, _, saved in done))

    def _pack(self, session: str) -> list[tuple[str, bytes, int]]:
        self._database.begin(LOCK)
        try:
            done = self._changes(session)
            for ident, blob, _ in done:
                before = self._text(self._ask("state", id=ident)[0]["state"])
                self._database.run(self._queries["put"], {"id": ident, "state": blob})
                if self._text(self._ask("state", id=ident)[0]["state"]) != before:
                    raise StoreUnavailable(f"snapshot {ident} did not read back as it was")
        except BaseException:
            self._database.rollback()
            raise
        self._database.commit()
        return done

    def _changes(self, session: str) -> list[tuple[str, bytes, int]]:
        """Which snapshots of a session get smaller: id, new bytes, bytes saved."""
        rows = self._ask("snapshots", session=session)
        cold = [row for row in rows if row["created_at"] < self._before]
        loose = [row for row in cold if not encoding.is_tight(bytes(row["state"]))]
        if not loose:
            return []
        base = self._base(session, cold)
        richest = max(rows, key=lambda row: (row["richness"], row["created_at"], row["id"]))
        alone = {base, rows[-1]["id"], richest["id"]}
        told = next((self._text(row["state"]) for row in rows if row["id"] == base), "")
        packed = [
            (row, self._tighter(row, "" if row["id"] in alone else base, told)) for row in loose
        ]
        return [
            (row["id"], blob, saved)
            for row, blob in packed
            if (saved := len(row["state"]) - len(blob)) > 0
        ]

    def _base(self, session: str, cold: list[dict[str, Any]]) -> str:
        """One that is old itself and depends on no other; nothing if there is none."""
        alone = {row["id"] for row in cold if not encoding.base_of(bytes(row["state"]))}
        named = [row["snapshot"] for row in self._ask("bases", session=session)]
        return next((ident for ident in named if ident in alone), "")

    def _tighter(self, row: dict[str, Any], base: str, told: str) -> bytes:
        text = self._text(row["state"])
        alone = encoding.pack_tight(text)
        return min(alone, encoding.pack_beside(text, base, told), key=len) if base else alone

    def _text(self, blob: Any) -> str:
        base = encoding.base_of(bytes(blob))
        told = self._text(self._ask("state", id=base)[0]["state"]) if base else ""
        return encoding.unpack(bytes(blob), told)

    def _ask(self, name: str, **values: Any) -> list[dict[str, Any]]:
        return self._database.run(self._queries[name], values)[0]
