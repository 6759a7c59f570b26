"""What a conversation lacks that is resumed, or begun anew with `/clear`.

A host that resumes a session shows the model its transcript from the last compaction on, with
what hooks injected if the client writes that down. So only this is missing: a brief that never
arrived, what was saved and is no longer in the log, and what people noted in between.
"""

from __future__ import annotations

import time

from holdfast.actions.compaction import undelivered
from holdfast.actions.receipt import records_delivery
from holdfast.redact import redact
from holdfast.state.wording import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.actions.catch_up import Session
    from holdfast.hosts.base import Host
    from holdfast.state.model import State
    from holdfast.store.base import Store

MARK = "resume"
# A new conversation begins at once when the old one was cleared.
CLEAR_SECONDS = 30.0
JUST_NOW = 10.0
NEWS = "While this session was closed (“quotes” are verbatim):"


def missing_brief(store: Store, session: Session, host: Host) -> int:
    """The compaction whose brief the resumed conversation lacks, or 0."""
    if ordinal := undelivered(store, session, host):
        return ordinal
    told = session.state["compactions"]
    if not told or told[-1]["deliveries"] or records_delivery(session.state, host.NAME):
        return 0
    # This client does not keep what hooks inject: it is gone whenever a session is resumed.
    row = store.compaction(session.id, len(told))
    return len(told) if row and row["brief_id"] else 0


def is_cut(store: Store, session: Session) -> bool:
    """Whether the log holds less than was saved of it; told once for each such save."""
    saved = store.richest_snapshot(session.id)
    if saved is None or saved["line"] <= session.state["lines"]:
        return False
    if store.mark(session.id, MARK).get("snapshot") == saved["id"]:
        return False
    store.set_mark(session.id, MARK, {"snapshot": saved["id"]})
    return True


def news(state: State, noted: list[str], now: float) -> str:
    """What came in after the agent's last word: `noted` by people, or typed and left waiting."""
    lines = [f"- noted: “{one_line(text, 300)}” (notes.md)" for text in noted]
    # What was typed just now is being given to the agent.
    recently = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now - JUST_NOW))
    for waiting in state["queue"]:
        if waiting["text"] and waiting["at"][:19] < recently:
            text = one_line(redact(waiting["text"]), 600)
            lines.append(f"- typed, and never given to the agent: “{text}” (L{waiting['line']})")
    return "\n".join([NEWS, *lines]) if lines else ""


def note_clear(store: Store, session: str, client: str) -> None:
    """The person has cleared this conversation; `client` tells which process it was, if known."""
    store.set_mark(session, MARK, {"cleared": True, "client": client})


def cleared_before(
    store: Store, session: str, project: str, client: str, now: float
) -> State | None:
    """The state of the conversation that was cleared to begin this one."""
    found: tuple[float, State] | None = None
    for row in store.sessions(project, 10):
        ended, mark = row["ended_at"], store.mark(row["id"], MARK)
        if row["id"] == session or not ended or now - ended > CLEAR_SECONDS:
            continue
        ours = mark.get("cleared") and mark.get("client") == client
        if ours and (found is None or ended > found[0]):
            found = ended, row["state"]
    return found[1] if found else None
