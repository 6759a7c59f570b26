"""What is missing from a conversation that is resumed, or started with `/clear`.

When a host resumes a session, the model sees the transcript since the last compaction, and what
hooks injected if the client logs that. So only three things are missing: a brief that never
arrived, saved state that is no longer in the log, and notes that people wrote in the meantime.
"""

from __future__ import annotations

import time

from holdfast.redaction import redact
from holdfast.services.compaction.receipts import records_delivery
from holdfast.services.compaction.status import find_undelivered
from holdfast.state.quoting import quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.hosts.base import Host
    from holdfast.services.compaction.ingest import IngestedSession
    from holdfast.state.types import State
    from holdfast.store.protocols import Store

RESUME_MARK = "resume"
# After `/clear` the new conversation starts at once.
MAX_CLEAR_GAP_SECONDS = 30.0
JUST_TYPED_SECONDS = 10.0
NEWS_TITLE = "While this session was closed (“quotes” are verbatim):"


def find_missing_brief(store: Store, session: IngestedSession, host: Host) -> int:
    """Return the ordinal of the compaction whose brief the conversation lacks, or 0."""
    if ordinal := find_undelivered(store, session, host):
        return ordinal
    compactions = session.state["compactions"]
    if (
        not compactions
        or compactions[-1]["deliveries"]
        or records_delivery(session.state, host.NAME)
    ):
        return 0
    # This client does not log what hooks inject: a resumed session has lost it.
    row = store.compaction(session.id, len(compactions))
    return len(compactions) if row and row["brief_id"] else 0


def is_newly_truncated(store: Store, session: IngestedSession) -> bool:
    """Whether the log holds less than a snapshot does; true only once for each snapshot."""
    snapshot = store.richest_snapshot(session.id)
    if snapshot is None or snapshot["line"] <= session.state["lines"]:
        return False
    if store.get_mark(session.id, RESUME_MARK).get("snapshot") == snapshot["id"]:
        return False
    store.set_mark(session.id, RESUME_MARK, {"snapshot": snapshot["id"]})
    return True


def render_news(state: State, notes: list[str], now: float) -> str:
    """Return what came after the agent's last reply: notes by people, and queued prompts."""
    lines = [f"- noted: {quote(text, 300)} (notes.md)" for text in notes]
    # The host is about to send what was typed within the last seconds.
    recently = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now - JUST_TYPED_SECONDS))
    for prompt in state["queue"]:
        if prompt["text"] and prompt["at"][:19] < recently:
            text = quote(redact(prompt["text"]), 600)
            lines.append(f"- typed, and never given to the agent: {text} (L{prompt['line']})")
    return "\n".join([NEWS_TITLE, *lines]) if lines else ""


def record_clear(store: Store, session: str, client: str) -> None:
    """Record that the user cleared this conversation; `client` names the process, if known."""
    store.set_mark(session, RESUME_MARK, {"cleared": True, "client": client})


def find_cleared_state(
    store: Store, session: str, project: str, client: str, now: float
) -> State | None:
    """Return the state of the conversation that was cleared to start this one, or None."""
    latest: tuple[float, State] | None = None
    for row in store.sessions(project, 10):
        ended, mark = row["ended_at"], store.get_mark(row["id"], RESUME_MARK)
        if row["id"] == session or not ended or now - ended > MAX_CLEAR_GAP_SECONDS:
            continue
        is_same_client = mark.get("cleared") and mark.get("client") == client
        if is_same_client and (latest is None or ended > latest[0]):
            latest = ended, row["state"]
    return latest[1] if latest else None
