"""List the compactions of a session, from the transcript and from the store."""

from __future__ import annotations

from collections import Counter
from typing import Any

from holdfast.errors import NotFound, UnreadableTranscript
from holdfast.services.recall.from_file import read_events
from holdfast.services.time_parsing import parse_timestamp
from holdfast.state.types import Compaction, State
from holdfast.store.protocols import CompactionRow, SessionRow, SnapshotRow, Store

# The receipt of a compaction that got no brief, beside those of the briefs that were sent.
NO_BRIEF = "none"
# Set for a session that `holdfast recover` added to the store, so that no hook had run in it.
RECOVERED_MARK = "recovered"
# Events of a conversation; the others are settings, titles and the like.
MESSAGE_KINDS = ("prompt", "reply", "tool_call", "tool_result")


def list_compactions(store: Store, row: SessionRow, state: State) -> list[dict[str, Any]]:
    """Return an entry per compaction, oldest first.

    A compaction that was announced but never happened is left out.
    """
    records = {record["ordinal"]: record for record in store.compactions(row["id"])}
    sent = [ordinal for ordinal, record in records.items() if record["brief_id"]]
    last = max([len(state["compactions"]), *sent])
    return [_entry(row, state, records.get(number), number) for number in range(1, last + 1)]


def find_missing_briefs(store: Store, row: SessionRow, state: State) -> dict[int, Compaction]:
    """Return the compactions in the log that got no brief, by their ordinals.

    Left out are compactions from before the first hook of this session, when Holdfast was not
    installed, and those that a fork copied from another session.
    """
    records = {record["ordinal"]: record for record in store.compactions(row["id"])}
    is_recovered = bool(store.get_mark(row["id"], RECOVERED_MARK))
    missing = {}
    for ordinal, compaction in enumerate(state["compactions"], 1):
        record = records.get(ordinal)
        if (record and record["brief_id"]) or compaction["deliveries"]:
            continue
        # A record without a brief was made by PreCompact. Without a record, the line counts from
        # which on Holdfast has followed the log; in a recovered session that was not a hook.
        ran_before = not is_recovered and compaction["line"] > row["first_line"]
        if record or (ran_before and not _is_copied(row, compaction)):
            missing[ordinal] = compaction
    return missing


def _is_copied(row: SessionRow, compaction: Compaction) -> bool:
    """Whether the log has no message before this compaction.

    A fork, or a session that an old client resumed, starts with a copy of the last compaction.
    """
    try:
        before = read_events(row["transcript"], compaction["line"] - 1)
        return not any(event["kind"] in MESSAGE_KINDS for event in before)
    except UnreadableTranscript:
        return False


def list_deliveries(store: Store, row: SessionRow, state: State) -> list[dict[str, Any]]:
    """Return how the brief of each compaction was delivered, oldest first, for `status`.

    The receipt is "none" if there was no brief, and None for a compaction from before Holdfast was
    installed. A compaction that was announced but is not in the log is left out.
    """
    records = {record["ordinal"]: record for record in store.compactions(row["id"])}
    missing = find_missing_briefs(store, row, state)
    logged = dict(enumerate(state["compactions"], 1))
    sent = [ordinal for ordinal, record in records.items() if record["brief_id"]]
    return [
        _delivery(ordinal, records.get(ordinal), logged.get(ordinal), ordinal in missing)
        for ordinal in sorted({*sent, *logged})
    ]


def _delivery(
    ordinal: int, record: CompactionRow | None, logged: Compaction | None, is_missing: bool
) -> dict[str, Any]:
    recorded: Any = record or {}
    return {
        "ordinal": ordinal,
        "at": find_time(record, logged),
        "trigger": recorded.get("trigger_name") or (logged["trigger"] if logged else "") or None,
        "line": logged["line"] if logged else None,
        "snapshot": recorded.get("snapshot"),
        "summary_known": recorded.get("summary") is not None,
        "brief_id": recorded.get("brief_id"),
        "delivered_by": recorded.get("delivered_by"),
        "receipt": NO_BRIEF if is_missing else recorded.get("receipt"),
        "receipt_line": recorded.get("receipt_line"),
    }


def find_time(record: Any, logged: Any) -> float | None:
    """Return when a compaction happened: as the log says, or else the hook; None if unknown."""
    at = parse_timestamp((logged or {}).get("at") or "", 0.0)
    return at or (record or {}).get("opened_at")


def _entry(row: SessionRow, state: State, record: Any, number: int) -> dict[str, Any]:
    logged: Any = dict(enumerate(state["compactions"], 1)).get(number, {})
    record = record or {}
    duration = round(logged["duration"] / 1000, 1) if logged.get("duration") else None
    if not duration and record.get("brief_at") and record.get("delivered_by") == "SessionStart":
        duration = round(record["brief_at"] - record["opened_at"], 1)
    return {
        "ordinal": number,
        "at": find_time(record, logged),
        "trigger": record.get("trigger_name") or logged.get("trigger") or None,
        "tokens_before": logged.get("before") or None,
        "tokens_after": logged.get("after") or None,
        "tool_calls": logged.get("calls"),
        "seconds": duration,
        "transcript": row["transcript"],
        "line": logged.get("line"),
        "snapshot": record.get("snapshot"),
        "brief_id": record.get("brief_id"),
        "delivered_by": record.get("delivered_by"),
        "receipt": record.get("receipt") if record.get("brief_id") else None,
    }


def add_snapshot_figures(store: Store, entry: dict[str, Any]) -> dict[str, Any]:
    """Add what the log does not say from the snapshot. Slow, because it must be decompressed."""
    if entry["line"] and entry["tokens_before"]:
        return entry
    snapshot = load_snapshot(store, entry)
    usage = snapshot["state"]["usage"] if snapshot else None
    return {
        **entry,
        "tool_calls": usage["calls_since_compaction"] if usage else entry["tool_calls"],
        "tokens_before": entry["tokens_before"] or (usage["context"] if usage else None) or None,
    }


def summarize_compactions(older: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Sum up many compactions in one entry, or None if there are none."""
    if not older:
        return None
    return {
        "count": len(older),
        "triggers": dict(Counter(entry["trigger"] or "unknown" for entry in older)),
        "receipts": dict(Counter(entry["receipt"] or "no brief" for entry in older)),
    }


def load_snapshot(store: Store, entry: dict[str, Any]) -> SnapshotRow | None:
    return store.snapshot(entry["snapshot"]) if entry["snapshot"] else None


def get_entry(store: Store, row: SessionRow, state: State, number: int) -> dict[str, Any]:
    """Return the entry of one compaction. Raises NotFound if there is none of this number."""
    entries = list_compactions(store, row, state)
    if not 1 <= number <= len(entries):
        hint = "`holdfast compactions` lists them"
        raise NotFound(f"Session {row['id']} has no compaction {number}", hint=hint)
    return add_snapshot_figures(store, entries[number - 1])
