"""Access tokens for a server, of which only a hash is stored.

Users create tokens for other users and other machines. The server issues short-lived page tokens to
the web page in a browser and renews them while the page is in use. A link code opens the page once.
Page tokens and link codes are in the same table, so that all servers of one database accept them,
but they are never listed or published.
"""

from __future__ import annotations

import hashlib
import secrets
from typing import TYPE_CHECKING

from holdfast.ledger.schema import TOKENS, make_id

if TYPE_CHECKING:
    from holdfast.ledger.repository import Ledger, Row

SCOPES = ("read", "write", "admin")
TOKEN_PREFIX = "hft_"
PAGE_ID_PREFIX, LINK_ID_PREFIX = "page-", "link-"
# How long a page token is valid.
PAGE_TOKEN_SECONDS = 900.0
# How long a link to the page can be used.
LINK_SECONDS = 120.0
# After this time a page has to sign in again, whether it is in use or not.
MAX_PAGE_SESSION_SECONDS = 12 * 3600.0
_DELETE_EXPIRED = (
    "DELETE FROM tokens WHERE (id LIKE :pages OR id LIKE :links) AND expires_at <= :now"
)
_DELETE_LINK = "DELETE FROM tokens WHERE hash = :hash AND id LIKE :links AND expires_at > :now"
_RENEW_PAGE = "UPDATE tokens SET expires_at = :until, updated_at = :now WHERE id = :id"


def create_token(
    ledger: Ledger,
    now: float,
    *,
    name: str,
    scope: str,
    project: str = "",
    seconds: float | None = None,
) -> tuple[Row, str]:
    """Return the row of a new token and the token itself, which cannot be looked up later."""
    token = TOKEN_PREFIX + secrets.token_urlsafe(32)
    row: Row = {
        "id": make_id("token", hash_token(token))[:8], "name": name, "hash": hash_token(token),
        "scope": scope, "project": project, "created_at": now,
        "expires_at": None if seconds is None else now + seconds, "revoked_at": None,
        "updated_at": now,
    }  # fmt: skip
    return ledger.write(TOKENS, row), token


def list_tokens(ledger: Ledger) -> list[Row]:
    """Return the tokens that users created, oldest first."""
    return [row for row in ledger.find(TOKENS, newest_first=False) if _is_user_token(row)]


def revoke_token(ledger: Ledger, ident: str, now: float) -> Row:
    """Revoke a token and return its row. Raises NotFound if there is none with this id."""
    return ledger.update(TOKENS, ledger.require(TOKENS, ident), now, revoked_at=now)


def find_valid_token(ledger: Ledger, token: str, now: float) -> Row | None:
    """Return the row of a user's token if it is neither expired nor revoked."""
    row = ledger.find_one(TOKENS, hash=hash_token(token))
    return row if row is not None and _is_user_token(row) and is_valid(row, now) else None


def is_page_token(row: Row) -> bool:
    return str(row["id"]).startswith(PAGE_ID_PREFIX)


def _is_user_token(row: Row) -> bool:
    return not str(row["id"]).startswith((PAGE_ID_PREFIX, LINK_ID_PREFIX))


def is_valid(row: Row, now: float) -> bool:
    is_expired = row["expires_at"] is not None and row["expires_at"] <= now
    return row["revoked_at"] is None and not is_expired


def has_scope(row: Row, scope: str) -> bool:
    """Return whether a token allows `scope`: write includes read, admin includes both."""
    return SCOPES.index(row["scope"]) >= SCOPES.index(scope)


def hash_token(token: str) -> str:
    # A random token of 256 bits needs no salt and no slow hash: it cannot be guessed.
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


# Page tokens and link codes


def issue_link_code(ledger: Ledger, now: float) -> str:
    """Return a code that opens the page once, within LINK_SECONDS."""
    return _add_own_token(ledger, now, LINK_ID_PREFIX, LINK_SECONDS)


def redeem_link_code(ledger: Ledger, code: str, now: float) -> bool:
    """Return whether the code is valid; from now on it is not."""
    values = {"hash": hash_token(code), "links": f"{LINK_ID_PREFIX}%", "now": now}
    return ledger.database.run(_DELETE_LINK, values)[1] == 1


def issue_page_token(ledger: Ledger, now: float, owner: Row | None = None) -> str:
    """Return a new page token with the scope and project of its owner's token, but never `admin`.

    Without an owner it may read and write.
    """
    return _add_own_token(ledger, now, PAGE_ID_PREFIX, PAGE_TOKEN_SECONDS, owner)


def _add_own_token(
    ledger: Ledger, now: float, prefix: str, seconds: float, owner: Row | None = None
) -> str:
    """Add a token that is not listed, delete the expired ones, and return the token."""
    prefixes = {"pages": f"{PAGE_ID_PREFIX}%", "links": f"{LINK_ID_PREFIX}%"}
    ledger.database.run(_DELETE_EXPIRED, {**prefixes, "now": now})
    token = secrets.token_urlsafe(32)
    scope = "read" if owner is not None and owner["scope"] == "read" else "write"
    row: Row = {
        "id": prefix + hash_token(token)[:16], "name": owner["id"] if owner else "",
        "hash": hash_token(token), "scope": scope, "project": owner["project"] if owner else "",
        "created_at": now, "expires_at": now + seconds, "revoked_at": None, "updated_at": now,
    }  # fmt: skip
    ledger.write_unpublished(TOKENS, row)
    return token


def find_valid_page_token(ledger: Ledger, token: str, now: float) -> Row | None:
    """Return the row of a page token if it is valid, and its owner's token is too."""
    row = ledger.find_one(TOKENS, hash=hash_token(token))
    if row is None or not is_page_token(row) or not is_valid(row, now):
        return None
    owner = ledger.get(TOKENS, row["name"]) if row["name"] else None
    if row["name"] and (owner is None or not is_valid(owner, now)):
        return None
    return row


def renew_page_token(ledger: Ledger, row: Row, now: float) -> None:
    """Extend a page token, to MAX_PAGE_SESSION_SECONDS in all at most."""
    until = min(now + PAGE_TOKEN_SECONDS, row["created_at"] + MAX_PAGE_SESSION_SECONDS)
    # Not an upsert: a token that was signed out in the meantime must not come back.
    ledger.database.run(_RENEW_PAGE, {"id": row["id"], "until": until, "now": now})


def delete_page_token(ledger: Ledger, row: Row) -> None:
    ledger.database.run("DELETE FROM tokens WHERE id = :id", {"id": row["id"]})
