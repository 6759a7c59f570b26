"""Every compaction of a session: what the transcript and the store each know of it."""

from __future__ import annotations

from collections import Counter
from typing import Any

from holdfast.actions.host_summary import host_summary
from holdfast.errors import NoSuchRecord
from holdfast.state.model import State
from holdfast.store.base import SessionRow, SnapshotRow, Store
from holdfast.views.loss import Losses, losses


def entries(store: Store, row: SessionRow, state: State) -> list[dict[str, Any]]:
    """Oldest first. One that was only announced and never came is none."""
    rows = {made["ordinal"]: made for made in store.compactions(row["id"])}
    sent = [ordinal for ordinal, made in rows.items() if made["brief_id"]]
    last = max([len(state["compactions"]), *sent])
    return [_entry(row, state, rows.get(number), number) for number in range(1, last + 1)]


def _entry(row: SessionRow, state: State, made: Any, number: int) -> dict[str, Any]:
    told: Any = dict(enumerate(state["compactions"], 1)).get(number, {})
    made = made or {}
    duration = None
    if made.get("brief_at") and made.get("delivered_by") == "SessionStart":
        duration = round(made["brief_at"] - made["opened_at"], 1)
    return {
        "ordinal": number,
        "at": made.get("opened_at"),
        "trigger": made.get("trigger_name") or told.get("trigger") or None,
        "tokens_before": told.get("before") or None,
        "tokens_after": told.get("after") or None,
        "seconds": duration,
        "transcript": row["transcript"],
        "line": told.get("line"),
        "snapshot": made.get("snapshot"),
        "brief_id": made.get("brief_id"),
        "delivered_by": made.get("delivered_by"),
        "receipt": made.get("receipt") if made.get("brief_id") else None,
    }


def with_snapshot(store: Store, entry: dict[str, Any]) -> dict[str, Any]:
    """The entry with what only the snapshot knows; each has to be unpacked."""
    saved = _snapshot(store, entry)
    usage = saved["state"]["usage"] if saved else None
    return {
        **entry,
        "tool_calls": usage["calls_since_compaction"] if usage else None,
        "tokens_before": entry["tokens_before"] or (usage["context"] if usage else None) or None,
    }


def summarised(older: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Many compactions in one entry."""
    if not older:
        return None
    return {
        "count": len(older),
        "triggers": dict(Counter(entry["trigger"] or "unknown" for entry in older)),
        "receipts": dict(Counter(entry["receipt"] or "no brief" for entry in older)),
    }


def _snapshot(store: Store, entry: dict[str, Any]) -> SnapshotRow | None:
    return store.snapshot(entry["snapshot"]) if entry["snapshot"] else None


class Report:
    """One compaction, whole: before, summary, brief, and what is in neither."""

    def __init__(self, store: Store, row: SessionRow, state: State, number: int) -> None:
        listed = entries(store, row, state)
        if not 1 <= number <= len(listed):
            hint = "`holdfast compactions` lists them"
            raise NoSuchRecord(f"compaction {number} of session {row['id']}", hint=hint)
        self.entry = with_snapshot(store, listed[number - 1])
        saved = _snapshot(store, self.entry)
        made = store.compaction(row["id"], number)
        self.saved: State | None = saved["state"] if saved else None
        self.brief = (made["brief"] if made else None) or ""
        noted = (made["summary"] if made else None) or ""
        self.summary = host_summary(row, state, number, noted)

    def losses(self) -> Losses | None:
        """What of the state was kept, restored, or is in neither; None without a snapshot."""
        if self.saved is None:
            return None
        return losses(self.saved, self.summary.everything, self.brief)
