"""The verbs of a store for what happens to a session: compactions, marks, handoffs, hooks."""

from __future__ import annotations

import zlib

from holdfast import quick_json
from holdfast.errors import NoSuchRecord
from holdfast.redact import redact, redact_value
from holdfast.store import encoding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from holdfast.store.base import CompactionRow, HandoffRow


class CompactionRecords:
    """See `holdfast.store.base.Store`; `Records` runs the statements."""

    if TYPE_CHECKING:

        def _all(self, name: str, values: Any = ()) -> list[dict[str, Any]]: ...
        def _found(self, name: str, values: dict[str, Any]) -> list[dict[str, Any]]: ...
        def _one(self, name: str, values: Any = ()) -> dict[str, Any] | None: ...
        def _write(self, name: str, values: dict[str, Any]) -> int: ...

    # Compactions

    def compactions(self, session: str) -> list[CompactionRow]:
        return self._all("compactions_of", (session,))  # type: ignore[return-value]

    def compaction(self, session: str, ordinal: int) -> CompactionRow | None:
        return self._one("compaction", (session, ordinal))  # type: ignore[return-value]

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

    def glance(self, session: str) -> tuple[float, str]:
        found = self._found("glance", {"session": session})[0]
        return found["saved_at"] or 0.0, found["receipt"] or ""

    # Marks

    def mark(self, session: str, name: str) -> dict[str, Any]:
        found = self._one("mark", (session, name))
        value = quick_json.loads(found["value"]) if found else {}
        return value if isinstance(value, dict) else {}

    def set_mark(
        self, session: str, name: str, value: dict[str, Any], *, clean: bool = False
    ) -> None:
        text = quick_json.dumps(value if clean else redact_value(value))
        self._write("set_mark", {"session": session, "name": name, "value": text})

    # Handoffs

    def add_handoff(
        self, session: str, *, agent: str, content: dict[str, Any], raw: str, **fields: Any
    ) -> str:
        ident = handoff_id(session, agent)
        values = {
            "id": ident,
            "session": session,
            "agent": agent,
            "content": quick_json.dumps(redact_value(content)),
            "raw": encoding.pack(quick_json.dumps(redact(raw))),
            **redact_value(fields),
        }
        self._write("add_handoff", values)
        return ident

    def handoff(self, ident: str) -> HandoffRow:
        found = self._one("handoff", (ident,))
        if found is None:
            raise NoSuchRecord(f"handoff {ident}", hint="`holdfast handoff list` lists them")
        return _handoff(found)

    def handoffs(self, session: str, most: int = 50) -> list[HandoffRow]:
        return [_handoff(row) for row in self._all("handoffs_of", (session, most))]

    # Hooks

    def hook_seen(
        self, host: str, event: str, session: str, milliseconds: float, now: float
    ) -> None:
        values = {
            "host": host,
            "event": event,
            "session": session,
            "milliseconds": milliseconds,
            "now": now,
        }
        self._write("hook_seen", values)

    def hooks_seen(self) -> list[dict[str, Any]]:
        return self._all("hooks_seen")


def handoff_id(session: str, agent: str) -> str:
    """The same for the same agent, whoever asks."""
    return f"{zlib.crc32(f'{session} {agent}'.encode('utf-8', 'replace')):08x}"


def _handoff(row: dict[str, Any]) -> HandoffRow:
    row["content"] = quick_json.loads(row["content"])
    row["raw"] = quick_json.loads(encoding.unpack(row["raw"]))
    return row  # type: ignore[return-value]
