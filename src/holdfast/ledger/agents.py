"""Agents and how full their context is: zone, rate, and when it will be used up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.ledger import ids
from holdfast.ledger.tables import AGENTS

if TYPE_CHECKING:
    from holdfast.ledger.ledger import Ledger, Row

WINDOW = 200_000
# How much of the last measurement goes into the rate of tokens per minute.
WEIGHT = 0.3
ZONES = (("critical", 95), ("red", 85), ("orange", 70), ("yellow", 50), ("green", 0))


def seen(
    ledger: Ledger,
    now: float,
    *,
    agent_id: str,
    session: str = "",
    project: str = "",
    agent_type: str = "",
    parent: str = "",
    status: str = "running",
    used: int | None = None,
    capacity: int | None = None,
    compactions: int | None = None,
) -> Row:
    """Write down that an agent is there, and how much of its window it uses."""
    with ledger.together(f"agent {agent_id}"):
        known = ledger.get(AGENTS, _id(session, agent_id))
        old = known or {
            "id": _id(session, agent_id), "agent_id": agent_id, "project": project,
            "session": session, "agent_type": agent_type, "parent": parent, "status": status,
            "capacity": capacity or WINDOW, "used": 0, "rate": 0.0, "compactions": 0,
            "compacted_at": None, "created_at": now, "updated_at": now,
        }  # fmt: skip
        fields: Row = {"status": status, "agent_type": agent_type or old["agent_type"]}
        fields["capacity"] = capacity or old["capacity"]
        if used is not None and used != old["used"]:
            minutes = (now - old["updated_at"]) / 60 if known else 0.0
            fields |= {"used": used, "rate": _rate(old["rate"], used - old["used"], minutes)}
        if compactions is not None and compactions > old["compactions"]:
            fields |= {"compactions": compactions, "compacted_at": now}
        return ledger.change(AGENTS, old, now, **fields) if known else ledger.write(
            AGENTS, {**old, **fields}
        )  # fmt: skip


def consumed(ledger: Ledger, agent_id: str, session: str, tokens: int, now: float) -> Row:
    """A call took so many tokens of the agent's window."""
    with ledger.together(f"agent {agent_id}"):
        known = ledger.get(AGENTS, _id(session, agent_id))
        used = (known["used"] if known else 0) + tokens
        return seen(ledger, now, agent_id=agent_id, session=session, used=used)


def compacted(ledger: Ledger, row: Row, now: float) -> Row:
    return ledger.change(
        AGENTS, row, now, used=0, rate=0.0, compactions=row["compactions"] + 1, compacted_at=now
    )


def latest(ledger: Ledger, agent_id: str, session: str | None = None) -> Row | None:
    """The agent of that name, in that session or where it was last seen."""
    named = {} if session is None else {"session": session}
    return ledger.first(AGENTS, agent_id=agent_id, **named)


def capacity(row: Row) -> Row:
    """What the row means."""
    percent = 100 * row["used"] / max(1, row["capacity"])
    left = max(0, row["capacity"] - row["used"])
    return {
        "usage_percent": round(percent, 1),
        "remaining": left,
        "zone": next(name for name, share in ZONES if percent >= share),
        "predicted_exhaustion_minutes": round(left / row["rate"], 1) if row["rate"] > 0 else None,
        "should_compact": percent >= ZONES[2][1],
    }


def _rate(old: float, more: int, minutes: float) -> float:
    """Tokens per minute on a moving average; a compaction is no consumption."""
    if minutes <= 0 or more < 0:
        return old
    now = more / minutes
    return round(now if not old else WEIGHT * now + (1 - WEIGHT) * old, 3)


def _id(session: str, agent_id: str) -> str:
    return ids.ident("agent", session, agent_id)
