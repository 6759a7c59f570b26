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
    from collections.abc import Mapping
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
UNREADABLE_MESSAGE = "(this message is damaged in the store)"


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
        first_line: int | None = None,
        replace: bool = False,
    ) -> bool:
        text = self._encode(state)
        values = {
            "id": session,
            "host": host,
            "project": project,
            "transcript": transcript,
            "cursor": _encode_cursor(cursor, text),
            "state": text,
            "revision": revision,
            "first_line": state["lines"] if first_line is None else first_line,
            "now": now,
        }
        if replace:
            return self._write("replace_session", values) == 1
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
        rows = [self._find_readable(row) for row in self._select("snapshots_of", (session, limit))]
        return [row for row in rows if row is not None]

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
        readable = [(self._find_readable(row), row["folder"]) for row in rows]
        return [{**row, "folder": folder} for row, folder in readable if row is not None]

    def richest_snapshot(self, session: str) -> SnapshotRow | None:
        number = 0
        while row := self._select_one("richest_snapshot", (session, number)):
            if readable := self._find_readable(row):
                return readable
            number += 1
        return None

    def prune(self, session: str, *, snapshots: int, compactions: int) -> None:
        self._write("prune_snapshots", {"session": session, "limit": snapshots})
        self._write("shorten_compactions", {"session": session, "limit": compactions})

    def _find_readable(self, row: dict[str, Any]) -> SnapshotRow | None:
        """Return the decoded snapshot, or None if it is damaged."""
        try:
            return self._decode_snapshot(row)
        except StoreUnavailable:
            return None

    def _decode_snapshot(self, row: dict[str, Any]) -> SnapshotRow:
        try:
            state = codec.decode_state(self._decompress_snapshot(row["state"]))
        except (zlib.error, ValueError, TypeError) as problem:
            raise StoreUnavailable(f"snapshot {row['id']} is damaged ({problem})") from problem
        # The text has a checksum, the columns beside it have none.
        return {**row, "state": state, "line": state["lines"]}  # type: ignore[typeddict-item]

    def _decompress_snapshot(self, blob: bytes) -> str:
        base = codec.get_base_id(blob)
        if not base:
            return codec.decompress(blob)
        # An old snapshot, stored as the difference from another one.
        base_row = self._select_one("snapshot", (base,))
        if base_row is None:
            raise ValueError(f"it cannot be read without {base}")
        return codec.decompress(blob, codec.decompress(base_row["state"]))

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
        return _load_object(row["value"]) if row else {}

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


def _encode_cursor(cursor: Cursor | None, state_text: str) -> str:
    """Return the cursor as JSON, with a checksum of it and of the state that belongs to it."""
    position = cursor or {}
    return fast_json.dumps({**position, "checksum": _checksum(position, state_text)})


def _decode_session(row: dict[str, Any]) -> SessionRow:
    """Return the row with its cursor and state.

    Of a damaged row only the columns beside them are kept: the cursor is None, the state is empty
    and of version 0, so that the transcript is folded again.
    """
    cursor, state = _load_object(row["cursor"]), codec.decode_state(row["state"])
    checksum = cursor.pop("checksum", None)
    if checksum is None:
        # Rows that were written before there was a checksum.
        is_damaged = not state["version"] or (not cursor and row["cursor"] != "null")
    else:
        is_damaged = checksum != _checksum(cursor, row["state"])
    row["is_damaged"] = is_damaged or not isinstance(row["first_line"], int)
    row["cursor"] = None if row["is_damaged"] else cursor or None
    row["state"] = codec.decode_state("") if row["is_damaged"] else state
    return row  # type: ignore[return-value]


def _checksum(cursor: Mapping[str, Any], state_text: str) -> int:
    return zlib.crc32(state_text.encode(), zlib.crc32(fast_json.dumps(cursor).encode()))


def _load_object(text: Any) -> dict[str, Any]:
    """Return the JSON object in a column, or {} if it is damaged or something else."""
    try:
        value = fast_json.loads(text)
    except (ValueError, TypeError, AttributeError):
        return {}
    return value if isinstance(value, dict) else {}


def make_handoff_id(session: str, agent: str) -> str:
    """Return the id of the handoff of an agent in a session, a checksum of both."""
    return f"{zlib.crc32(f'{session} {agent}'.encode('utf-8', 'replace')):08x}"


def _decode_handoff(row: dict[str, Any]) -> HandoffRow:
    row["content"] = _load_object(row["content"])
    try:
        row["raw"] = fast_json.loads(codec.decompress(row["raw"]))
    except (zlib.error, ValueError, TypeError):
        row["raw"] = UNREADABLE_MESSAGE
    return row  # type: ignore[return-value]
