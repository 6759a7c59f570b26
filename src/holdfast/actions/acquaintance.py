"""Whether a team's database is the one that this machine has told everything it remembers.

An address says little: behind it there may be a new database, yesterday's backup, or another one.
So both keep the same word, which changes with whatever is sent.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.ledger.ledger import Ledger


def is_known(ledger: Ledger, team: Ledger, target: str) -> bool:
    """Whether it has what this machine sent to that address. From now on it is known."""
    ours, theirs = _word(ledger, f"team at {target}"), _word(team, _name(ledger))
    if not theirs:
        agree(ledger, team, target)
    # Earlier versions left no word at either side.
    return ours == theirs


def agree(ledger: Ledger, team: Ledger, target: str) -> None:
    """On a new word, there first: who is interrupted finds that they differ."""
    word = {"word": secrets.token_hex(8)}
    team.keep_reading(_name(ledger), word)
    ledger.keep_reading(f"team at {target}", word)


def _name(ledger: Ledger) -> str:
    """What this machine is called there."""
    return f"sent by {ledger.name()}"


def _word(ledger: Ledger, name: str) -> str:
    return str(ledger.reading(name).get("word", ""))
