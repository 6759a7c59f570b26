"""What this machine knows about a team database: whether it is the same one, and what it has.

An address does not identify a database: there may be a new one behind it, a restored backup, or
another one. So both sides store the same sync token, which is renewed whenever something is sent.
If the tokens differ, the database was replaced, and everything is sent again.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.ledger.repository import Ledger


def has_our_rows(ledger: Ledger, team: Ledger, target: str) -> bool:
    """Whether the database has what this machine sent to that address, by its sync token.

    A database without a token gets one.
    """
    ours, theirs = _load_token(ledger, f"team at {target}"), _load_token(team, _machine(ledger))
    if not theirs:
        renew_sync_token(ledger, team, target)
    # Versions without sync tokens left none on either side: those are equal too.
    return ours == theirs


def renew_sync_token(ledger: Ledger, team: Ledger, target: str) -> None:
    """Store a new token on both sides, the team's first: if interrupted, the tokens differ."""
    token = {"word": secrets.token_hex(8)}
    team.save_progress(_machine(ledger), token)
    ledger.save_progress(f"team at {target}", token)


def _machine(ledger: Ledger) -> str:
    """The name under which the team database keeps this machine's token."""
    return f"sent by {ledger.get_database_id()}"


def _load_token(ledger: Ledger, name: str) -> str:
    return str(ledger.load_progress(name).get("word", ""))


def load_sent_sessions(ledger: Ledger, name: str) -> dict[str, str]:
    """Return the version of each session, by id, at the time it was sent."""
    stored = ledger.load_progress(name)
    # Earlier versions stored a mapping by id.
    return dict(stored["sessions"]) if isinstance(stored.get("sessions"), list) else stored


def save_sent_sessions(ledger: Ledger, name: str, sessions: dict[str, str]) -> None:
    """Store the versions, as pairs: in a mapping, redaction would mask the version of a session
    whose id looks like the name of a secret.
    """
    ledger.save_progress(name, {"sessions": [[*pair] for pair in sessions.items()]})
