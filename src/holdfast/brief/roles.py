"""A role changes what weighs more, never how a brief is made."""

from __future__ import annotations

from holdfast.errors import BadUsage

WEIGHTS: dict[str, dict[str, float]] = {
    "orchestrator": {"names": 0.7, "plan": 1.2, "agents": 1.5, "decided": 1.1},
    "developer": {},
    "specialist": {"names": 1.1, "failing": 1.1, "agents": 0.6},
    "validator": {"names": 0.85, "failing": 1.3, "rules": 1.1, "git": 1.2, "agents": 0.6},
}


def weights(role: str | None) -> dict[str, float]:
    """Weights by section; a role that nobody named is a developer."""
    if role is None:
        return {}
    try:
        return WEIGHTS[role]
    except KeyError:
        known = ", ".join(WEIGHTS)
        raise BadUsage(f"there is no role {role!r}", hint=f"one of: {known}") from None
