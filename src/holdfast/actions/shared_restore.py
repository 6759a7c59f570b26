"""Put back what is known of a session by any way: its own log, callers' snapshots, the ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.actions.handoffs import with_handoffs
from holdfast.brief import roles
from holdfast.brief.render import build
from holdfast.brief.tokens import estimate, units
from holdfast.hosts import claude_code
from holdfast.ledger import contexts, messages, waves
from holdfast.ledger.tables import SUBTASKS, TASKS
from holdfast.ledger.work import DONE
from holdfast.state.richness import richness
from holdfast.views.shared_brief import render, role_of

if TYPE_CHECKING:
    from holdfast.ledger.ledger import Ledger, Row
    from holdfast.state.model import State
    from holdfast.store.base import Store

# Where a session has both a log and callers' snapshots, so much of the room is for the log.
OWN_SHARE = 0.7
MOST = 20


def restored(
    store: Store,
    ledger: Ledger,
    session: str,
    *,
    agent_id: str,
    agent_type: str,
    tokens: int,
    now: float,
) -> str:
    """What an agent of this session should know again, within so many tokens; empty if nothing."""
    agent = agent_type or agent_id
    state = _state(store, session)
    saved = contexts.saved(ledger, session)
    known = _known(ledger, session, agent_id, now)
    others = bool(saved) or any(known.values())
    own = ""
    if state is not None:
        budget = int(tokens * OWN_SHARE) if others else tokens
        own = build(
            with_handoffs(store, session, state),
            tokens=budget,
            characters=claude_code.CHARACTERS,
            template=roles.template(roles.of_agent(agent)),
            session=session,
        ).text
    left, room = tokens - estimate(own), claude_code.CHARACTERS - units(own) - 1
    told = render(saved, known, role=role_of(agent), tokens=left, characters=room, titled=not own)
    return "\n".join(part for part in (own, told) if part)


def _state(store: Store, session: str) -> State | None:
    """The session's state, or a richer one that was saved before its log was lost."""
    row = store.session(session)
    saved = store.richest_snapshot(session)
    states = [one["state"] for one in (row, saved) if one is not None]
    best = max(states, key=lambda state: state["lines"], default=None)
    return best if best is not None and richness(best) else None


def _known(ledger: Ledger, session: str, agent: str, now: float) -> dict[str, list[str]]:
    open_tasks = [row for row in ledger.rows(TASKS, session=session) if row["status"] not in DONE]
    open_subtasks = [
        row for row in ledger.rows(SUBTASKS, session=session) if row["status"] not in DONE
    ]
    waiting = messages.inbox(ledger, agent, now, MOST) if agent else []
    return {
        "waves": [_wave(row) for row in waves.waves(ledger, session)],
        "subtasks": [
            *(f"- {row['name']} ({row['status']})" for row in open_tasks[:MOST]),
            *map(_subtask, open_subtasks[:MOST]),
        ],
        "messages": [
            f"- {row['from_agent_id']}: {row['topic'] or row['message_type']}" for row in waiting
        ],
    }


def _wave(row: Row) -> str:
    done = f"{row['completed_tasks']} of {row['total_tasks']} tasks"
    return f"- Wave {row['wave_number']}: {row['status']} ({done})"


def _subtask(row: Row) -> str:
    who = row["agent_type"] or row["agent_id"] or "agent"
    waits = f", waits for {len(row['blocked_by'])}" if row["status"] == "blocked" else ""
    return f"- {who}: {row['description'][:200]} ({row['status']}{waits})"
