"""Who may use a server from elsewhere: tokens, of which only a hash is kept."""

from __future__ import annotations

import hashlib
import secrets
from typing import TYPE_CHECKING

from holdfast.ledger import ids
from holdfast.ledger.tables import TOKENS

if TYPE_CHECKING:
    from holdfast.ledger.ledger import Ledger, Row

SCOPES = ("read", "write", "admin")
PREFIX = "hft_"
# What the ids of tokens begin with that the server itself gives to its pages.
PAGE = "page-"


def new(
    ledger: Ledger,
    now: float,
    *,
    name: str,
    scope: str,
    project: str = "",
    seconds: float | None = None,
) -> tuple[Row, str]:
    """The token's row and the token itself, which nobody can look up later."""
    token = PREFIX + secrets.token_urlsafe(32)
    row: Row = {
        "id": ids.ident("token", hashed(token))[:8], "name": name, "hash": hashed(token),
        "scope": scope, "project": project, "created_at": now,
        "expires_at": None if seconds is None else now + seconds, "revoked_at": None,
        "updated_at": now,
    }  # fmt: skip
    return ledger.write(TOKENS, row), token


def listed(ledger: Ledger) -> list[Row]:
    """Those that people made."""
    return [row for row in ledger.rows(TOKENS, newest_first=False) if not is_page(row)]


def revoke(ledger: Ledger, ident: str, now: float) -> Row:
    return ledger.change(TOKENS, ledger.need(TOKENS, ident), now, revoked_at=now)


def allowed(ledger: Ledger, token: str, now: float) -> Row | None:
    """The row of a token that is good at this moment."""
    row = ledger.first(TOKENS, hash=hashed(token))
    return row if row is not None and not is_page(row) and is_good(row, now) else None


def is_page(row: Row) -> bool:
    return str(row["id"]).startswith(PAGE)


def is_good(row: Row, now: float) -> bool:
    expired = row["expires_at"] is not None and row["expires_at"] <= now
    return row["revoked_at"] is None and not expired


def covers(row: Row, scope: str) -> bool:
    """Whoever may write may read; an admin may both."""
    return SCOPES.index(row["scope"]) >= SCOPES.index(scope)


def hashed(token: str) -> str:
    # A random token of 256 bits needs no salt and no slow hash: it cannot be guessed.
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
