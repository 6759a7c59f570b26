"""Keep what each sub-agent handed on when it stopped, and put it where its parent looks."""

from __future__ import annotations

from holdfast.redact import redact
from holdfast.state.rules.agents import named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.actions.catch_up import Session
    from holdfast.hosts.call import HookCall
    from holdfast.state.model import State
    from holdfast.store.base import HandoffRow, Store

# More than this is not one agent's last words.
LONGEST = 1 << 20
MOST_SHOWN = 60


def capture(store: Store, session: Session, call: HookCall, now: float) -> str:
    """Make the handoff of a sub-agent that stopped; returns its id, or nothing if it said nothing.

    The fork that compacts is not a sub-agent.
    """
    words = call.last_message[:LONGEST]
    if call.is_compaction_fork or not call.agent or not words.strip():
        return ""
    from holdfast.brief.tokens import estimate
    from holdfast.handoff.compact import compact
    from holdfast.handoff.reading import read

    clean = redact(words)
    found, problems = read(clean)
    summary = compact(found["context_summary"])
    agent = named(session.state, call.agent)
    edited = [path for path, what in (agent["files"] if agent else {}).items() if what != "read"]
    content = {
        "context_summary": summary,
        "files_changed": list(dict.fromkeys([*found["files_changed"], *edited])),
        "issues": found["issues"],
        "problems": problems,
    }
    return store.add_handoff(
        session.id,
        agent=call.agent,
        agent_type=call.agent_type,
        task=agent["task"] if agent else "",
        line=agent["line"] if agent else session.state["lines"],
        status=found["status"],
        decision=found["decision"],
        content=content,
        raw=clean,
        tokens_before=estimate(clean),
        tokens_after=estimate(summary),
        now=now,
    )


def described(row: HandoffRow, state: State) -> HandoffRow:
    """With what the parent's log says of the agent, which may come after it stopped."""
    agent = named(state, row["agent"])
    if agent is None:
        return row
    return {**row, "task": row["task"] or agent["task"], "line": agent["line"]}


def with_handoffs(store: Store, session: str, state: State) -> State:
    """The state with the handoff of each sub-agent that has one."""
    known = {row["agent"]: row for row in store.handoffs(session, MOST_SHOWN)}
    if not known:
        return state
    agents = []
    for agent in state["agents"]:
        row = known.get(agent["id"])
        if row is not None:
            words = row["content"].get("context_summary", "")
            decision = f"{row['decision']}: " if row["decision"] else ""
            agent = {**agent, "handoff": row["id"], "result": f"{decision}{words}"}
        agents.append(agent)
    return {**state, "agents": agents}
