"""Which compaction a session is in, and whether its brief arrived."""

from __future__ import annotations

from holdfast.services.compaction.receipts import find_deliveries, judge_delivery, records_delivery

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from holdfast.hosts.base import Host
    from holdfast.services.compaction.ingest import IngestedSession
    from holdfast.store.protocols import CompactionRow, Store


# Stands for a compaction whose number is not known, because lines of the transcript are unread.
UNKNOWN_ORDINAL = 0
# Set while the conversation has a brief that was built before the whole transcript was read.
INCOMPLETE_BRIEF_MARK = "incomplete_brief"
RESUME_EVENT = "SessionStart resume"
# A host that buffers its log has written it long before this time is over.
UNWRITTEN_SECONDS = 10.0
# The compactions of sub-agents that were announced: their own logs do not have them yet.
SUBAGENT_MARK = "subagent_compactions"
# A compaction that was announced longer ago than this was cancelled.
MAX_COMPACTION_SECONDS = 600.0


def find_current_ordinal(store: Store, session: IngestedSession, host: Host) -> int:
    """Return the number of the compaction in progress, or UNKNOWN_ORDINAL.

    Some hosts log the boundary before their hooks run, some after. If the last boundary in the
    transcript has no reply and no brief yet, it is this compaction; otherwise it is the next one.
    """
    if not session.is_complete:
        return UNKNOWN_ORDINAL
    compactions = session.state["compactions"]
    if not host.TRANSCRIPT_MARKS_COMPACTION:
        # Only the store counts the compactions; the last one is open until its brief is sent.
        rows = store.compactions(session.id)
        return rows[-1]["ordinal"] + bool(rows[-1]["brief_id"]) if rows else 1
    if not compactions or compactions[-1]["reply_line"]:
        return len(compactions) + 1
    row = store.compaction(session.id, len(compactions))
    return len(compactions) + 1 if row and row["brief_id"] else len(compactions)


def is_open(session: IngestedSession, row: CompactionRow) -> bool:
    """Whether a compaction is still in progress: the model has not replied since."""
    compactions = session.state["compactions"][row["ordinal"] - 1 : row["ordinal"]]
    return not compactions or not compactions[0]["reply_line"]


def _is_in_transit(session: IngestedSession, row: CompactionRow) -> bool:
    """Whether the brief was sent at a resume: the host logs it only with the first prompt."""
    has_replied = session.state["usage"]["line"] > (row["brief_line"] or 0)
    return row["delivered_by"] == RESUME_EVENT and not has_replied


def is_boundary_unwritten(store: Store, session: IngestedSession, host: Host, now: float) -> bool:
    """Whether a brief was sent moments ago for a compaction that the log does not show yet."""
    if not host.TRANSCRIPT_MARKS_COMPACTION or not session.is_complete:
        return False
    logged = sum(bool(entry["summary_line"]) for entry in session.state["compactions"])
    rows = store.compactions(session.id)
    unlogged = [row for row in rows[-1:] if row["ordinal"] > logged]
    return any(now - (row["brief_at"] or 0.0) < UNWRITTEN_SECONDS for row in unlogged)


def find_undelivered(store: Store, session: IngestedSession, host: Host) -> int:
    """Return the ordinal of the last compaction if its brief has not arrived, else 0.

    Only for a compaction that Holdfast observed: a session that was compacted long before it was
    installed is not interrupted.
    """
    if not session.is_complete:
        return 0
    if not host.TRANSCRIPT_MARKS_COMPACTION:
        # A compaction was announced, and no brief was built for it yet.
        rows = store.compactions(session.id)
        return rows[-1]["ordinal"] if rows and not rows[-1]["brief_id"] else 0
    compactions = session.state["compactions"]
    if not compactions or not compactions[-1]["summary_line"]:
        return 0
    last = compactions[-1]
    ordinal = len(compactions)
    row = store.compaction(session.id, ordinal)
    arrived = find_deliveries(last, session.state, host.NAME)
    if row is None:
        was_observed = last["line"] > session.first_line or not last["reply_line"]
        return ordinal if was_observed and not arrived else 0
    if row["delivered_by"] == "UserPromptSubmit" or _is_in_transit(session, row):
        return 0
    if arrived:
        receipt, _ = judge_delivery(row, last, session.state, host.NAME)
        return ordinal if receipt == "cut" else 0
    # A client that does not log injected text proves nothing: assume that the brief arrived.
    is_provable = records_delivery(session.state, host.NAME) or last["deliveries"]
    return 0 if row["brief_id"] and not is_provable else ordinal


def find_incomplete(store: Store, session: IngestedSession, host: Host) -> int:
    """Return the ordinal of the compaction whose brief lacked unread lines that are read now, or 0.

    The brief is sent again as a whole: the host's log has the first one, but not its id.
    """
    if not session.is_complete or not store.get_mark(session.id, INCOMPLETE_BRIEF_MARK):
        return 0
    if host.TRANSCRIPT_MARKS_COMPACTION and session.state["compactions"]:
        return len(session.state["compactions"])
    return find_current_ordinal(store, session, host)


def open_subagent_compaction(store: Store, session: str, agent: str, now: float) -> None:
    """Record that this sub-agent is about to be compacted; needs an open transaction."""
    agents = _load_subagent_compactions(store, session, now)
    _save_subagent_compactions(store, session, {**agents, agent: {"at": now, "summary": ""}})


def list_subagent_compactions(store: Store, session: str, now: float) -> list[str]:
    """Return the ids of the sub-agents that are being compacted and have no summary yet."""
    agents = _load_subagent_compactions(store, session, now)
    return [ident for ident, entry in agents.items() if not entry.get("summary")]


def note_subagent_summary(store: Store, session: str, agent: str, summary: str, now: float) -> None:
    """Keep the host's summary of a sub-agent until its brief is built."""
    agents = _load_subagent_compactions(store, session, now)
    entry = {**agents.get(agent, {"at": now}), "summary": summary}
    _save_subagent_compactions(store, session, {**agents, agent: entry})


def close_subagent_compaction(store: Store, session: str, agent: str, now: float) -> str:
    """Remove the record of a sub-agent's compaction; return its summary, or "" if not known."""
    agents = _load_subagent_compactions(store, session, now)
    entry = agents.pop(agent, None)
    if entry is None:
        return ""
    _save_subagent_compactions(store, session, agents)
    return str(entry.get("summary") or "")


def _load_subagent_compactions(store: Store, session: str, now: float) -> dict[str, Any]:
    agents = store.get_mark(session, SUBAGENT_MARK).get("agents")
    return {
        ident: entry
        for ident, entry in (agents if isinstance(agents, dict) else {}).items()
        if now - entry["at"] < MAX_COMPACTION_SECONDS
    }


def _save_subagent_compactions(store: Store, session: str, agents: dict[str, Any]) -> None:
    store.set_mark(session, SUBAGENT_MARK, {"agents": agents})
