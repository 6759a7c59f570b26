"""Tokens that a browser's page is given by the server: short-lived, and renewed while in use.

They are kept beside the others, so that every server of one database knows them, but nobody is told
of them, and no list shows them.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from holdfast.ledger import tokens
from holdfast.ledger.tables import TOKENS

if TYPE_CHECKING:
    from holdfast.ledger.ledger import Ledger, Row

SECONDS = 900.0
# In use or not, after so long somebody says again who they are.
LONGEST = 12 * 3600.0
# Renewed when so much of its time is left: not with every request.
RENEWED_AT = 600.0
_EXPIRED = "DELETE FROM tokens WHERE id LIKE :pages AND expires_at <= :now"


def issue(ledger: Ledger, now: float, owner: Row | None = None) -> str:
    """A token for a page, which may what its owner's token may; without one, read and write."""
    ledger.database.run(_EXPIRED, {"pages": f"{tokens.PAGE}%", "now": now})
    token = secrets.token_urlsafe(32)
    scope = "read" if owner is not None and owner["scope"] == "read" else "write"
    row: Row = {
        "id": tokens.PAGE + tokens.hashed(token)[:16], "name": owner["id"] if owner else "",
        "hash": tokens.hashed(token), "scope": scope, "project": owner["project"] if owner else "",
        "created_at": now, "expires_at": now + SECONDS, "revoked_at": None, "updated_at": now,
    }  # fmt: skip
    ledger.take_over(TOKENS, row)
    return token


def allowed(ledger: Ledger, token: str, now: float) -> Row | None:
    """The row of a page's token that is good, and so is the one that it was given for."""
    row = ledger.first(TOKENS, hash=tokens.hashed(token))
    if row is None or not tokens.is_page(row) or not tokens.is_good(row, now):
        return None
    owner = ledger.get(TOKENS, row["name"]) if row["name"] else None
    if row["name"] and (owner is None or not tokens.is_good(owner, now)):
        return None
    return row


def renewed(ledger: Ledger, row: Row, now: float) -> bool:
    """Whether it was time to let it be good for longer."""
    until = min(now + SECONDS, row["created_at"] + LONGEST)
    if row["expires_at"] - now > RENEWED_AT or until <= row["expires_at"]:
        return False
    ledger.take_over(TOKENS, {**row, "expires_at": until, "updated_at": now})
    return True


def end(ledger: Ledger, row: Row) -> None:
    ledger.database.run("DELETE FROM tokens WHERE id = :id", {"id": row["id"]})
