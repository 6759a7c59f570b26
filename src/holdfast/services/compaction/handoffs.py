"""Store the handoff of each sub-agent that stops, and add it to the parent's state."""

from __future__ import annotations

from holdfast.redaction import redact
from holdfast.state.rules.subagents import find_agent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.hosts.hook_event import HookEvent
    from holdfast.services.compaction.ingest import IngestedSession
    from holdfast.state.types import State
    from holdfast.store.protocols import HandoffRow, Store

# A longer last message is cut.
MAX_MESSAGE_CHARS = 1 << 20
MAX_HANDOFFS_SHOWN = 60


def record_handoff(store: Store, session: IngestedSession, event: HookEvent, now: float) -> str:
    """Store the handoff of a sub-agent that stopped; return its id, or "" if it said nothing.

    The fork that writes a compaction summary is not a sub-agent.
    """
    message = event.last_message[:MAX_MESSAGE_CHARS]
    if event.is_compaction_fork or not event.agent_id or not message.strip():
        return ""
    from holdfast.handoff.parser import parse_response
    from holdfast.handoff.shorten import shorten
    from holdfast.tokens.estimate import estimate_tokens

    clean = redact(message)
    parsed, problems = parse_response(clean)
    summary = shorten(parsed["context_summary"])
    agent = find_agent(session.state, event.agent_id)
    files = agent["files"] if agent else {}
    edited = [path for path, access in files.items() if access != "read"]
    content = {
        "context_summary": summary,
        "files_changed": list(dict.fromkeys([*parsed["files_changed"], *edited])),
        "issues": parsed["issues"],
        "problems": problems,
    }
    return store.add_handoff(
        session.id,
        agent=event.agent_id,
        agent_type=event.agent_type,
        task=agent["task"] if agent else "",
        line=agent["line"] if agent else session.state["lines"],
        status=parsed["status"],
        decision=parsed["decision"],
        content=content,
        raw=clean,
        tokens_before=estimate_tokens(clean),
        tokens_after=estimate_tokens(summary),
        now=now,
    )


def with_agent_details(row: HandoffRow, state: State) -> HandoffRow:
    """Add the task and line from the parent's log, which may be written after the agent stopped."""
    agent = find_agent(state, row["agent"])
    if agent is None:
        return row
    return {**row, "task": row["task"] or agent["task"], "line": agent["line"]}


def with_handoffs(store: Store, session: str, state: State) -> State:
    """Return the state with the handoff of each sub-agent that has one."""
    handoffs = {row["agent"]: row for row in store.handoffs(session, MAX_HANDOFFS_SHOWN)}
    if not handoffs:
        return state
    agents = []
    for agent in state["agents"]:
        row = handoffs.get(agent["id"])
        if row is not None:
            summary = row["content"].get("context_summary", "")
            decision = f"{row['decision']}: " if row["decision"] else ""
            agent = {**agent, "handoff": row["id"], "result": f"{decision}{summary}"}
        agents.append(agent)
    return {**state, "agents": agents}
