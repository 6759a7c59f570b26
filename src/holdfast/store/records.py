"""The verbs of a store over named SQL statements; a dialect brings the connection."""

from __future__ import annotations

import os

from holdfast import quick_json
from holdfast.errors import NoSuchRecord, StoreUnavailable
from holdfast.state.richness import richness
from holdfast.store import encoding
from holdfast.store.compaction_records import CompactionRecords

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

    from holdfast.state.model import State
    from holdfast.store.base import Database, ListedSnapshot, SessionRow, SnapshotRow, TranscriptRow
    from holdfast.transcript.model import Cursor


# Whoever writes to more than one row of a session holds this lock, by whatever name.
LOCK = "records"
# Later than anything was seen.
NEVER = 1e18


class Records(CompactionRecords):
    """See `holdfast.store.base.Store`; a dialect brings the database."""

    def __init__(self, database: Database, queries: dict[str, str]) -> None:
        self.database = database
        self._queries = queries
        self._encoded: tuple[State | None, str] = (None, "")

    def close(self) -> None:
        self.database.close()

    def begin(self) -> None:
        self._encoded = (None, "")
        self.database.begin(LOCK)

    def commit(self) -> None:
        self.database.commit()

    def rollback(self) -> None:
        self.database.rollback()

    def _all(self, name: str, values: Any = ()) -> list[dict[str, Any]]:
        return self.database.run(self._queries[name], list(values))[0]

    def _found(self, name: str, values: dict[str, Any]) -> list[dict[str, Any]]:
        return self.database.run(self._queries[name], values)[0]

    def _one(self, name: str, values: Any = ()) -> dict[str, Any] | None:
        return next(iter(self._all(name, values)), None)

    def _write(self, name: str, values: dict[str, Any]) -> int:
        return self.database.run(self._queries[name], values, LOCK)[1]

    def _encode(self, state: State) -> str:
        """A session and its snapshot are saved in one transaction: encoded once for both."""
        if self._encoded[0] is not state or not self.database.in_transaction:
            self._encoded = (state, encoding.dump(state))
        return self._encoded[1]

    # Sessions

    def session(self, session: str) -> SessionRow | None:
        found = self._one("session", (session,))
        return _session(found) if found else None

    def sessions(
        self, project: str | None, most: int = 50, before: tuple[float, str] | None = None
    ) -> list[SessionRow]:
        at, ident = before or (NEVER, "")
        values = {"project": project, "at": at, "id": ident, "most": most}
        if project is None:
            del values["project"]
        name = "all_sessions" if project is None else "sessions_of"
        return [_session(row) for row in self._found(name, values)]

    def transcripts(self, project: str | None) -> list[TranscriptRow]:
        values = {"project": project}
        return self.database.run(self._queries["transcripts"], values)[0]  # type: ignore[return-value]

    def folders(self, sessions: Collection[str]) -> dict[str, str]:
        """Where these sessions are led, as far as they are known."""
        given = {f"s{number}": session for number, session in enumerate(sessions)}
        listed = ", ".join(f":{name}" for name in given) or "NULL"
        statement = f"SELECT id, project FROM sessions WHERE id IN ({listed})"
        return {row["id"]: row["project"] for row in self.database.run(statement, given)[0]}

    def save_session(
        self,
        *,
        session: str,
        host: str,
        project: str,
        transcript: str,
        cursor: Cursor | None,
        state: State,
        revision: int,
        now: float,
    ) -> bool:
        values = {
            "id": session,
            "host": host,
            "project": project,
            "transcript": transcript,
            "cursor": quick_json.dumps(cursor),
            "state": self._encode(state),
            "revision": revision,
            "first_line": state["lines"],
            "now": now,
        }
        return self._write("save_session" if revision else "add_session", values) == 1

    def end_session(self, session: str, now: float) -> None:
        self._write("end_session", {"id": session, "now": now})

    def reopen_session(self, session: str) -> None:
        self._write("reopen_session", {"id": session})

    # Snapshots

    def add_snapshot(self, session: str, reason: str, state: State, now: float) -> str:
        ident = os.urandom(4).hex()
        text = self._encode(state)
        values = {
            "id": ident,
            "session": session,
            "reason": reason,
            "now": now,
            "line": state["lines"],
            "richness": richness(state),
            "context": state["usage"]["context"],
            "state": encoding.pack(text),
        }
        self._write("add_snapshot", values)
        written = self._one("snapshot", (ident,))
        if written is None or encoding.unpack(written["state"]) != text:
            raise StoreUnavailable(f"snapshot {ident} did not read back as it was written")
        return ident

    def snapshot(self, ident: str) -> SnapshotRow:
        found = self._one("snapshot", (ident,))
        if found is None:
            raise NoSuchRecord(f"snapshot {ident}", hint="`holdfast snapshots` lists them")
        return self._snapshot(found)

    def snapshots(self, session: str, most: int = 50) -> list[SnapshotRow]:
        return [self._snapshot(row) for row in self._all("snapshots_of", (session, most))]

    def snapshots_before(
        self,
        session: str | None,
        before: tuple[float, str] | None,
        most: int,
        folder: str | None = None,
    ) -> list[ListedSnapshot]:
        at, ident = before or (1e18, "")
        values = {"session": session, "at": at, "id": ident, "most": most, "folder": folder}
        found = self._found("snapshots_before", values)
        return [{**self._snapshot(row), "folder": row["folder"]} for row in found]

    def richest_snapshot(self, session: str) -> SnapshotRow | None:
        found = self._one("richest_snapshot", (session,))
        return self._snapshot(found) if found else None

    def restorable(self, session: str) -> tuple[Any, ...]:
        return what_is_restorable(self._found("restorable", {"session": session}))

    def prune(self, session: str, *, snapshots: int, compactions: int) -> None:
        self._write("prune_snapshots", {"session": session, "most": snapshots})
        self._write("shorten_compactions", {"session": session, "most": compactions})

    def _snapshot(self, row: dict[str, Any]) -> SnapshotRow:
        blob = row["state"]
        if base := encoding.base_of(blob):
            # An old one, kept as what differs from another.
            other = self._one("snapshot", (base,))
            if other is None:
                raise StoreUnavailable(f"snapshot {row['id']} cannot be read without {base}")
            row["state"] = encoding.load(encoding.unpack(blob, encoding.unpack(other["state"])))
        else:
            row["state"] = encoding.load(encoding.unpack(blob))
        return row  # type: ignore[return-value]


def _session(row: dict[str, Any]) -> SessionRow:
    row["cursor"] = quick_json.loads(row["cursor"])
    row["state"] = encoding.load(row["state"])
    return row  # type: ignore[return-value]


def what_is_restorable(rows: list[dict[str, Any]]) -> tuple[Any, ...]:
    found = tuple(rows[0].values())
    return found if any(found) else ()
