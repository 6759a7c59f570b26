"""The browser's page and its token: in a cookie that no script reads and no other site sends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.ledger import page_tokens

if TYPE_CHECKING:
    from holdfast.ledger.ledger import Row
    from holdfast.surfaces.api.asgi import Message, Scope, Send
    from holdfast.surfaces.api.desk import Desk

PAGE = "/docs"
# Where a page signs in with a token that a person has, and out again.
SESSION = "/docs/session"
# They hold nothing but the page itself, which has to be there to ask for a token.
FILES = (PAGE, "/docs/page.js", "/docs/page.css")


def is_of_a_page(headers: dict[str, str]) -> bool:
    """Whether a script in a browser asks; programs do not say where they come from."""
    return "origin" in headers or headers.get("sec-fetch-site") == "same-origin"


class PageSession:
    """Looks tokens of pages up, gives them out and renews them; each call is for a thread."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def known(self, token: str, now: float) -> tuple[Row | None, bool]:
        """The row of a page's token, and whether it was renewed just now."""
        with self._desk.books() as books:
            row = page_tokens.allowed(books.ledger, token, now)
            return row, row is not None and page_tokens.renewed(books.ledger, row, now)

    def issue(self, now: float, owner: Row | None = None) -> str:
        with self._desk.books() as books:
            return page_tokens.issue(books.ledger, now, owner)

    def end(self, row: Row) -> None:
        with self._desk.books() as books:
            page_tokens.end(books.ledger, row)


def token_in(scope: Scope, headers: dict[str, str]) -> str:
    """The token that a browser sent along."""
    for part in headers.get("cookie", "").split(";"):
        name, _, value = part.strip().partition("=")
        if name == _name(scope):
            return value
    return ""


def cookie(scope: Scope, token: str) -> bytes:
    """To be kept until the browser is told otherwise, or the token has expired; empty ends it."""
    seconds = int(page_tokens.SECONDS) if token else 0
    secure = "; Secure" if scope.get("scheme") == "https" else ""
    words = f"{_name(scope)}={token}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}"
    return words.encode("latin-1")


def _name(scope: Scope) -> str:
    # Browsers keep one set of cookies for all ports of a host.
    server = scope.get("server")
    return f"holdfast_page_{server[1] if server else 0}"


def with_cookie(send: Send, value: bytes) -> Send:
    """An answer that sets it; nobody on the way may keep that."""

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            more = [(b"set-cookie", value), (b"cache-control", b"no-store")]
            message = {**message, "headers": [*message.get("headers", ()), *more]}
        await send(message)

    return sent
