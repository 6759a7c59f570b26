"""How sessions stood when they were sent, by their ids; under a name of the ledger's memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.ledger.ledger import Ledger


def known(ledger: Ledger, memory: str) -> dict[str, str]:
    kept = ledger.reading(memory)
    # Earlier versions kept them by their names.
    return dict(kept["sessions"]) if isinstance(kept.get("sessions"), list) else kept


def keep(ledger: Ledger, memory: str, sessions: dict[str, str]) -> None:
    """As pairs: a session may be called like a secret."""
    ledger.keep_reading(memory, {"sessions": [[*pair] for pair in sessions.items()]})
