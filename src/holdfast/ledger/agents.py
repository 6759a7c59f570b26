"""Agents, and how full their context windows are: zone, consumption rate, predicted exhaustion."""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING

from holdfast.ledger.schema import AGENTS, make_id

if TYPE_CHECKING:
    from holdfast.ledger.repository import Ledger, Row

DEFAULT_WINDOW_TOKENS = 200_000
# The consumption rate is averaged over about this time, because calls come in bursts.
RATE_MINUTES = 3.0
# More than any window, and small enough for an integer column of any database.
MAX_TOKENS = 1 << 53
# How full a context window is: the name of each zone, and the percentage at which it begins.
ZONES = (("critical", 95), ("red", 85), ("orange", 70), ("yellow", 50), ("green", 0))
COMPACT_PERCENT = dict(ZONES)["orange"]


def record_agent(
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
    session_project: str = "",
) -> Row:
    """Create or update an agent and return its row; what is not given stays as it is.

    `compacted_at` is the time of its last compaction, if known. `session_project` is the project of
    its session, used if no other project is known.
    """
    with ledger.transaction(f"agent {agent_id}"):
        known = ledger.get(AGENTS, _make_agent_id(session, agent_id))
        old = known or {
            "id": _make_agent_id(session, agent_id), "agent_id": agent_id, "project": project,
            "session": session, "agent_type": agent_type, "parent": parent, "status": "running",
            "capacity": capacity or DEFAULT_WINDOW_TOKENS, "used": 0, "rate": 0.0, "compactions": 0,
            "compacted_at": None, "created_at": now, "updated_at": now,
        }  # fmt: skip
        fields: Row = {
            "status": status or old["status"], "agent_type": agent_type or old["agent_type"],
            "project": project or old["project"] or session_project,
            "parent": parent or old["parent"],
            "capacity": capacity or old["capacity"],
        }  # fmt: skip
        decayed = _decay_rate(old["rate"], now - old["updated_at"])
        used = min(used, MAX_TOKENS) if used is not None else None
        if used is not None and used != old["used"]:
            # A rate needs two measurements, so a new agent has none yet.
            minutes, added = (now - old["updated_at"]) / 60, used - old["used"]
            rate = _average_rate(old["rate"], added, minutes) if known and added > 0 else decayed
            fields |= {"used": used, "rate": rate}
        if compactions is not None and compactions > old["compactions"]:
            fields |= {"compactions": compactions, "compacted_at": compacted_at or now}
        if known is None:
            return ledger.write(AGENTS, {**old, **fields})
        if any(old[name] != value for name, value in fields.items()):
            # The decay is computed from `updated_at`, which this update sets. So the rate must be
            # stored with the decay up to now, or that decay would be lost.
            fields.setdefault("rate", decayed)
        return ledger.update(AGENTS, known, now, **fields)


def add_usage(ledger: Ledger, agent_id: str, session: str, tokens: int, now: float) -> Row:
    """Add tokens to what an agent has used of its window; without a session, in its latest one."""
    with ledger.transaction(f"agent {agent_id}"):
        known = find_latest(ledger, agent_id, session or None) or {"used": 0, "session": session}
        used = known["used"] + tokens
        return record_agent(ledger, now, agent_id=agent_id, session=known["session"], used=used)


def record_compaction(ledger: Ledger, row: Row, now: float) -> Row:
    """Set the usage of an agent to zero and count one more compaction."""
    return ledger.update(
        AGENTS, row, now, used=0, rate=0.0, compactions=row["compactions"] + 1, compacted_at=now
    )


def find_latest(ledger: Ledger, agent_id: str, session: str | None = None) -> Row | None:
    """Return the agent with this id in a session, or in its latest one."""
    of_session = {} if session is None else {"session": session}
    return ledger.find_one(AGENTS, agent_id=agent_id, **of_session)


def describe_capacity(row: Row, now: float) -> Row:
    """Return the figures computed from an agent's row. The rate decays while nothing is used."""
    rate = _decay_rate(row["rate"], now - row["updated_at"])
    percent = 100 * row["used"] / max(1, row["capacity"])
    left = max(0, row["capacity"] - row["used"])
    return {
        "consumption_rate": rate,
        "usage_percent": round(percent, 1),
        "remaining": left,
        "zone": next(name for name, start in ZONES if percent >= start),
        "predicted_exhaustion_minutes": round(left / rate, 1) if rate >= 1 else None,
        "should_compact": percent >= COMPACT_PERCENT,
    }


def _decay_rate(rate: float, seconds: float) -> float:
    """Return what a rate has decayed to after this time without consumption."""
    return round(rate * exp(-max(0.0, seconds) / 60 / RATE_MINUTES), 3)


def _average_rate(old: float, added: int, minutes: float) -> float:
    """Return the moving average of tokens per minute after `added` tokens in this time."""
    if not old:
        return round(added / max(minutes, 1.0), 3)
    # Not 0, which would divide by zero. After a very short time, `added` tokens raise the rate by
    # about added / RATE_MINUTES.
    passed = max(minutes, 1e-6)
    weight = 1 - exp(-passed / RATE_MINUTES)
    return round(weight * added / passed + (1 - weight) * old, 3)


def _make_agent_id(session: str, agent_id: str) -> str:
    return make_id("agent", session, agent_id)
