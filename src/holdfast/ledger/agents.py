"""Agents and how full their context is: zone, rate, and when it will be used up."""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING

from holdfast.ledger import ids
from holdfast.ledger.tables import AGENTS

if TYPE_CHECKING:
    from holdfast.ledger.ledger import Ledger, Row

WINDOW = 200_000
# What is told is the rate of about so many minutes: calls come in bursts.
MINUTES = 3.0
# More than any window, and not too much for any database.
MOST = 1 << 53
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
    status: str | None = None,
    used: int | None = None,
    capacity: int | None = None,
    compactions: int | None = None,
    compacted_at: float | None = None,
    led_in: str = "",
) -> Row:
    """Write down that an agent is there, and how much of its window it uses. What is not said stays
    as it is; `compacted_at` is when the last of its compactions was, if that is known, and `led_in`
    the project of its session, where nobody has said another.
    """
    with ledger.together(f"agent {agent_id}"):
        known = ledger.get(AGENTS, _id(session, agent_id))
        old = known or {
            "id": _id(session, agent_id), "agent_id": agent_id, "project": project,
            "session": session, "agent_type": agent_type, "parent": parent, "status": "running",
            "capacity": capacity or WINDOW, "used": 0, "rate": 0.0, "compactions": 0,
            "compacted_at": None, "created_at": now, "updated_at": now,
        }  # fmt: skip
        fields: Row = {
            "status": status or old["status"], "agent_type": agent_type or old["agent_type"],
            "project": project or old["project"] or led_in, "parent": parent or old["parent"],
            "capacity": capacity or old["capacity"],
        }  # fmt: skip
        faded = _faded(old["rate"], now - old["updated_at"])
        used = min(used, MOST) if used is not None else None
        if used is not None and used != old["used"]:
            # What it had used before anybody looked says nothing of how fast.
            minutes, more = (now - old["updated_at"]) / 60, used - old["used"]
            rate = _rate(old["rate"], more, minutes) if known and more > 0 else faded
            fields |= {"used": used, "rate": rate}
        if compactions is not None and compactions > old["compactions"]:
            fields |= {"compactions": compactions, "compacted_at": compacted_at or now}
        if known is None:
            return ledger.write(AGENTS, {**old, **fields})
        if any(old[name] != value for name, value in fields.items()):
            # Else its rate would count from now on as if it had been at work all the time.
            fields.setdefault("rate", faded)
        return ledger.change(AGENTS, known, now, **fields)


def consumed(ledger: Ledger, agent_id: str, session: str, tokens: int, now: float) -> Row:
    """A call took so many tokens of the agent's window; of that in its latest session, if none is
    named.
    """
    with ledger.together(f"agent {agent_id}"):
        known = latest(ledger, agent_id, session or None) or {"used": 0, "session": session}
        used = known["used"] + tokens
        return seen(ledger, now, agent_id=agent_id, session=known["session"], used=used)


def compacted(ledger: Ledger, row: Row, now: float) -> Row:
    return ledger.change(
        AGENTS, row, now, used=0, rate=0.0, compactions=row["compactions"] + 1, compacted_at=now
    )


def latest(ledger: Ledger, agent_id: str, session: str | None = None) -> Row | None:
    """The agent of that name, in that session or where it was last seen."""
    named = {} if session is None else {"session": session}
    return ledger.first(AGENTS, agent_id=agent_id, **named)


def capacity(row: Row, now: float) -> Row:
    """What the row means by now: whoever does nothing uses nothing up."""
    rate = _faded(row["rate"], now - row["updated_at"])
    percent = 100 * row["used"] / max(1, row["capacity"])
    left = max(0, row["capacity"] - row["used"])
    return {
        "consumption_rate": rate,
        "usage_percent": round(percent, 1),
        "remaining": left,
        "zone": next(name for name, share in ZONES if percent >= share),
        "predicted_exhaustion_minutes": round(left / rate, 1) if rate >= 1 else None,
        "should_compact": percent >= ZONES[2][1],
    }


def _faded(rate: float, seconds: float) -> float:
    """What a rate is after so long without any consumption."""
    return round(rate * exp(-max(0.0, seconds) / 60 / MINUTES), 3)


def _rate(old: float, more: int, minutes: float) -> float:
    """Tokens per minute on a moving average."""
    if not old:
        return round(more / max(minutes, 1.0), 3)
    # However short the time since the last, its tokens count once, as a part of these minutes.
    passed = max(minutes, 1e-6)
    weight = 1 - exp(-passed / MINUTES)
    return round(weight * more / passed + (1 - weight) * old, 3)


def _id(session: str, agent_id: str) -> str:
    return ids.ident("agent", session, agent_id)
