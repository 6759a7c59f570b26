"""The token of the web page at /docs, in a cookie that scripts cannot read and that browsers do
not send from other sites.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.ledger import tokens

if TYPE_CHECKING:
    from holdfast.ledger.repository import Row
    from holdfast.server.databases import Databases
    from holdfast.server.http_rules import Message, Scope, Send

PAGE_PATH = "/docs"
# The page signs in and renews its token (POST), and signs out (DELETE) here.
SESSION_PATH = "/docs/session"
# These need no token: the page must load before it can ask for one, and they contain no data.
PAGE_FILES = (PAGE_PATH, "/docs/page.js", "/docs/page.css")


class WebSessions:
    """Issues, looks up, renews and ends tokens of web pages. Its methods wait for the database,
    so they are called in threads.
    """

    def __init__(self, databases: Databases) -> None:
        self._databases = databases

    def find(self, token: str, now: float) -> Row | None:
        """Return the row of a page token, or None if it is not valid."""
        with self._databases.connect() as db:
            return tokens.find_valid_page_token(db.ledger, token, now)

    def issue(self, now: float, owner: Row | None = None) -> str:
        """Return a new page token; `owner` is the user's token that it was requested with."""
        with self._databases.connect() as db:
            return tokens.issue_page_token(db.ledger, now, owner)

    def redeem(self, code: str, now: float) -> str:
        """Return a new page token for the code of a link; "" if the code is not valid."""
        with self._databases.connect() as db:
            if not tokens.redeem_link_code(db.ledger, code, now):
                return ""
            return tokens.issue_page_token(db.ledger, now)

    def renew(self, row: Row, now: float) -> None:
        """Extend a page token."""
        with self._databases.connect() as db:
            tokens.renew_page_token(db.ledger, row, now)

    def end(self, row: Row) -> None:
        """Delete a page token."""
        with self._databases.connect() as db:
            tokens.delete_page_token(db.ledger, row)


def to_link(url: str, code: str) -> str:
    """Return the address that opens the page once. Browsers do not send the part after `#`; the
    page's script posts it.
    """
    return f"{url}{PAGE_PATH}#code={code}"


def read_token(scope: Scope, headers: dict[str, str]) -> str:
    """Return the token in the request's cookie, or ""."""
    for part in headers.get("cookie", "").split(";"):
        name, _, value = part.strip().partition("=")
        if name == _get_cookie_name(scope):
            return value
    return ""


def to_cookie(scope: Scope, token: str) -> bytes:
    """Return the value of a Set-Cookie header; without a token, one that deletes the cookie."""
    seconds = int(tokens.PAGE_TOKEN_SECONDS) if token else 0
    secure = "; Secure" if scope.get("scheme") == "https" else ""
    cookie = (
        f"{_get_cookie_name(scope)}={token}; Path=/; Max-Age={seconds}; HttpOnly; "
        f"SameSite=Strict{secure}"
    )
    return cookie.encode("latin-1")


def _get_cookie_name(scope: Scope) -> str:
    # Browsers share cookies between all ports of a host.
    server = scope.get("server")
    return f"holdfast_page_{server[1] if server else 0}"


def add_cookie(send: Send, cookie: bytes) -> Send:
    """Return a `send` function that adds the cookie to the response and forbids caching it."""

    async def send_with_cookie(message: Message) -> None:
        if message["type"] == "http.response.start":
            more = [(b"set-cookie", cookie), (b"cache-control", b"no-store")]
            message = {**message, "headers": [*message.get("headers", ()), *more]}
        await send(message)

    return send_with_cookie
