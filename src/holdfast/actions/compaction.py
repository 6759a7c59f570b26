"""Which compaction is going on, whose it is, and whether its brief arrived."""

from __future__ import annotations

from holdfast.actions.receipt import client_version, deliveries, receipt_of, records_delivery

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.actions.catch_up import Session
    from holdfast.hosts.base import Host
    from holdfast.hosts.call import HookCall
    from holdfast.store.base import CompactionRow, Store


AT_RESUME = "SessionStart resume"
# A host has written down what it holds back long before so many seconds are over.
FRESH = 10.0


def is_of_sub_agent(store: Store, call: HookCall, host: Host, session: Session) -> bool:
    """Whether a compaction that names no agent is a sub-agent's all the same.

    Newer clients name the agent. Older ones do not; but the main chain compacts by itself only
    when it is about to ask the model again, that is after a prompt or a tool's result, while a
    sub-agent compacts when the main chain has said its last. Should this ever be wrong, the
    next prompt delivers the brief.
    """
    version = client_version(session.state)
    if version is None or version >= host.NAMES_SUB_AGENTS_SINCE:
        return False
    rows = store.compactions(session.id)
    manual = "manual" in (call.trigger, rows[-1]["trigger_name"] if rows else None)
    return not manual and session.state["last_speaker"] == "agent"


def current_ordinal(store: Store, session: Session, host: Host) -> int:
    """The number of the compaction that is going on.

    Some hosts write the boundary before their hooks run, some after: it is the last one in the
    transcript if nothing has come of that one yet, otherwise the next.
    """
    told = session.state["compactions"]
    if not host.WRITES_BOUNDARY:
        # Only our own records count them: the last is still open until its brief was sent.
        rows = store.compactions(session.id)
        return rows[-1]["ordinal"] + bool(rows[-1]["brief_id"]) if rows else 1
    if not told or told[-1]["reply_line"]:
        return len(told) + 1
    row = store.compaction(session.id, len(told))
    return len(told) + 1 if row and row["brief_id"] else len(told)


def is_open(session: Session, row: CompactionRow) -> bool:
    """Whether a compaction still goes on: nothing has been said since."""
    told = session.state["compactions"][row["ordinal"] - 1 : row["ordinal"]]
    return not told or not told[0]["reply_line"]


def _is_on_its_way(session: Session, row: CompactionRow) -> bool:
    """Sent to a session that is being resumed: the host writes it down with the first prompt."""
    answered = session.state["usage"]["line"] > (row["brief_line"] or 0)
    return row["delivered_by"] == AT_RESUME and not answered


def is_unwritten(store: Store, session: Session, host: Host, now: float) -> bool:
    """Whether a compaction was made a moment ago that the log does not show yet."""
    if not host.WRITES_BOUNDARY:
        return False
    written = sum(bool(one["summary_line"]) for one in session.state["compactions"])
    rows = store.compactions(session.id)
    late = [row for row in rows[-1:] if row["ordinal"] > written]
    return any(now - (row["brief_at"] or 0.0) < FRESH for row in late)


def undelivered(store: Store, session: Session, host: Host) -> int:
    """The ordinal of a compaction whose brief has not arrived, or 0.

    Only for a compaction that happened while Holdfast was watching: a session that was
    compacted long before is not interrupted.
    """
    if not host.WRITES_BOUNDARY:
        # A compaction that was announced, and for which nobody has asked for a brief yet.
        rows = store.compactions(session.id)
        return rows[-1]["ordinal"] if rows and not rows[-1]["brief_id"] else 0
    told = session.state["compactions"]
    if not told or not told[-1]["summary_line"]:
        return 0
    ordinal = len(told)
    row = store.compaction(session.id, ordinal)
    arrived = deliveries(told[-1], session.state, host.NAME)
    if row is None:
        watched = told[-1]["line"] > session.first_line or not told[-1]["reply_line"]
        return ordinal if watched and not arrived else 0
    if row["delivered_by"] == "UserPromptSubmit" or _is_on_its_way(session, row):
        return 0
    if arrived:
        receipt, _ = receipt_of(row, told[-1], session.state, host.NAME)
        return ordinal if receipt == "cut" else 0
    # A client that writes nothing down cannot be doubted.
    proven = records_delivery(session.state, host.NAME) or told[-1]["deliveries"]
    return 0 if row["brief_id"] and not proven else ordinal
