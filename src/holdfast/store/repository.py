"""Sessions, snapshots, compactions, marks, handoffs and hook runs in a database.

The SQL statements are in sql/repository.sql and the same for SQLite and PostgreSQL.
"""

from __future__ import annotations

import os
import zlib

from holdfast import fast_json
from holdfast.errors import NotFound, StoreUnavailable
from holdfast.redaction import redact, redact_value
from holdfast.state.completeness import count_items
from holdfast.store import codec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from holdfast.state.types import State
    from holdfast.store.protocols import (
        CompactionRow,
        Database,
        HandoffRow,
        SessionRow,
        SnapshotRow,
        SnapshotWithFolder,
        TranscriptRow,
    )
    from holdfast.transcript.types import Cursor


# The lock for all writes to the rows of sessions. SQLite has one lock for the whole file anyway.
WRITE_LOCK = "records"
# A Unix time later than that of any row.
FAR_FUTURE = 1e18


class StoreRepository:
    """Implements `holdfast.store.protocols.Store` on a SQLite or PostgreSQL database."""

    def __init__(self, database: Database, queries: dict[str, str]) -> None:
        self.database = database
        self._queries = queries
        self._encoded: tuple[State | None, str] = (None, "")

    def close(self) -> None:
        self.database.close()

    def begin(self) -> None:
        self._encoded = (None, "")
        self.database.begin(WRITE_LOCK)

    def commit(self) -> None:
        self.database.commit()

    def rollback(self) -> None:
        self.database.rollback()

    def _select(self, name: str, values: Any = ()) -> list[dict[str, Any]]:
        return self.database.run(self._queries[name], list(values))[0]

    def _select_named(self, name: str, values: dict[str, Any]) -> list[dict[str, Any]]:
        return self.database.run(self._queries[name], values)[0]

    def _select_one(self, name: str, values: Any = ()) -> dict[str, Any] | None:
        return next(iter(self._select(name, values)), None)

    def _write(self, name: str, values: dict[str, Any]) -> int:
        return self.database.run(self._queries[name], values, WRITE_LOCK)[1]

    def _encode(self, state: State) -> str:
        """Return a state as text. A session and its snapshot are saved in one transaction, so the
        text is reused within it.
        """
        if self._encoded[0] is not state or not self.database.in_transaction:
            self._encoded = (state, codec.encode_state(state))
        return self._encoded[1]

    # Sessions

    def session(self, session: str) -> SessionRow | None:
        row = self._select_one("session", (session,))
        return _decode_session(row) if row else None

    def sessions(
        self, project: str | None, limit: int = 50, before: tuple[float, str] | None = None
    ) -> list[SessionRow]:
        at, ident = before or (FAR_FUTURE, "")
        values = {"project": project, "at": at, "id": ident, "limit": limit}
        if project is None:
            del values["project"]
        name = "all_sessions" if project is None else "sessions_of"
        return [_decode_session(row) for row in self._select_named(name, values)]

    def transcripts(self, project: str | None) -> list[TranscriptRow]:
        values = {"project": project}
        return self.database.run(self._queries["transcripts"], values)[0]  # type: ignore[return-value]

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
            "cursor": fast_json.dumps(cursor),
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
            "richness": count_items(state),
            "context": state["usage"]["context"],
            "state": codec.compress(text),
        }
        self._write("add_snapshot", values)
        written = self._select_one("snapshot", (ident,))
        if written is None or codec.decompress(written["state"]) != text:
            raise StoreUnavailable(f"snapshot {ident} did not read back as it was written")
        return ident

    def snapshot(self, ident: str) -> SnapshotRow:
        row = self._select_one("snapshot", (ident,))
        if row is None:
            raise NotFound(f"No snapshot {ident}", hint="`holdfast snapshots` lists them")
        return self._decode_snapshot(row)

    def snapshots(self, session: str, limit: int = 50) -> list[SnapshotRow]:
        return [
            self._decode_snapshot(row) for row in self._select("snapshots_of", (session, limit))
        ]

    def snapshots_before(
        self,
        session: str | None,
        before: tuple[float, str] | None,
        limit: int,
        folder: str | None = None,
    ) -> list[SnapshotWithFolder]:
        at, ident = before or (FAR_FUTURE, "")
        values = {"session": session, "at": at, "id": ident, "limit": limit, "folder": folder}
        rows = self._select_named("snapshots_before", values)
        return [{**self._decode_snapshot(row), "folder": row["folder"]} for row in rows]

    def richest_snapshot(self, session: str) -> SnapshotRow | None:
        row = self._select_one("richest_snapshot", (session,))
        return self._decode_snapshot(row) if row else None

    def prune(self, session: str, *, snapshots: int, compactions: int) -> None:
        self._write("prune_snapshots", {"session": session, "limit": snapshots})
        self._write("shorten_compactions", {"session": session, "limit": compactions})

    def _decode_snapshot(self, row: dict[str, Any]) -> SnapshotRow:
        blob = row["state"]
        if base := codec.get_base_id(blob):
            # An old snapshot, stored as the difference from another one.
            base_row = self._select_one("snapshot", (base,))
            if base_row is None:
                raise StoreUnavailable(f"snapshot {row['id']} cannot be read without {base}")
            row["state"] = codec.decode_state(
                codec.decompress(blob, codec.decompress(base_row["state"]))
            )
        else:
            row["state"] = codec.decode_state(codec.decompress(blob))
        return row  # type: ignore[return-value]

    # Compactions

    def compactions(self, session: str) -> list[CompactionRow]:
        return self._select("compactions_of", (session,))  # type: ignore[return-value]

    def compaction(self, session: str, ordinal: int) -> CompactionRow | None:
        return self._select_one("compaction", (session, ordinal))  # type: ignore[return-value]

    def open_compaction(
        self, session: str, ordinal: int, *, trigger: str | None, snapshot: str | None, now: float
    ) -> None:
        values = {
            "session": session,
            "ordinal": ordinal,
            "trigger_name": trigger,
            "snapshot": snapshot,
            "now": now,
        }
        self._write("open_compaction", values)

    def note_summary(self, session: str, ordinal: int, summary: str) -> None:
        values = {"session": session, "ordinal": ordinal, "summary": redact(summary)}
        self._write("note_summary", values)

    def note_brief(
        self,
        session: str,
        ordinal: int,
        *,
        brief_id: str,
        brief: str,
        line: int,
        delivered_by: str,
        now: float,
    ) -> None:
        values = {
            "session": session,
            "ordinal": ordinal,
            "brief_id": brief_id,
            "brief": redact(brief),
            "line": line,
            "delivered_by": delivered_by,
            "now": now,
        }
        self._write("note_brief", values)

    def note_receipt(self, session: str, ordinal: int, receipt: str, line: int | None) -> None:
        values = {"session": session, "ordinal": ordinal, "receipt": receipt, "line": line}
        self._write("note_receipt", values)

    def last_save_and_receipt(self, session: str) -> tuple[float, str]:
        row = self._select_named("last_save_and_receipt", {"session": session})[0]
        return row["saved_at"] or 0.0, row["receipt"] or ""

    # Marks

    def get_mark(self, session: str, name: str) -> dict[str, Any]:
        row = self._select_one("mark", (session, name))
        value = fast_json.loads(row["value"]) if row else {}
        return value if isinstance(value, dict) else {}

    def set_mark(
        self, session: str, name: str, value: dict[str, Any], *, is_redacted: bool = False
    ) -> None:
        text = fast_json.dumps(value if is_redacted else redact_value(value))
        self._write("set_mark", {"session": session, "name": name, "value": text})

    # Handoffs

    def add_handoff(
        self, session: str, *, agent: str, content: dict[str, Any], raw: str, **fields: Any
    ) -> str:
        ident = make_handoff_id(session, agent)
        values = {
            "id": ident,
            "session": session,
            "agent": agent,
            "content": fast_json.dumps(redact_value(content)),
            "raw": codec.compress(fast_json.dumps(redact(raw))),
            **redact_value(fields),
        }
        self._write("add_handoff", values)
        return ident

    def handoff(self, ident: str) -> HandoffRow:
        row = self._select_one("handoff", (ident,))
        if row is None:
            raise NotFound(f"No handoff {ident}", hint="`holdfast handoff list` lists them")
        return _decode_handoff(row)

    def handoffs(self, session: str, limit: int = 50) -> list[HandoffRow]:
        return [_decode_handoff(row) for row in self._select("handoffs_of", (session, limit))]

    # Hook runs

    def record_hook(
        self, host: str, event: str, session: str, milliseconds: float, now: float
    ) -> None:
        values = {
            "host": host,
            "event": event,
            "session": session,
            "milliseconds": milliseconds,
            "now": now,
        }
        self._write("record_hook", values)

    def hook_runs(self) -> list[dict[str, Any]]:
        return self._select("hook_runs")


def _decode_session(row: dict[str, Any]) -> SessionRow:
    row["cursor"] = fast_json.loads(row["cursor"])
    row["state"] = codec.decode_state(row["state"])
    return row  # type: ignore[return-value]


def make_handoff_id(session: str, agent: str) -> str:
    """Return the id of the handoff of an agent in a session, a checksum of both."""
    return f"{zlib.crc32(f'{session} {agent}'.encode('utf-8', 'replace')):08x}"


def _decode_handoff(row: dict[str, Any]) -> HandoffRow:
    row["content"] = fast_json.loads(row["content"])
    row["raw"] = fast_json.loads(codec.decompress(row["raw"]))
    return row  # type: ignore[return-value]
