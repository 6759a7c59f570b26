"""The page for browsers whose user is not known: it exchanges a code or a token for a cookie."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.server.web.rendering import CONTENT_SECURITY_POLICY, TEMPLATES

if TYPE_CHECKING:
    from holdfast.server.http_rules import Send


async def send_page(send: Send) -> None:
    """Send the page with the status 401. It is one file without data, so it needs no template."""
    body = (TEMPLATES / "sign_in.html").read_bytes()
    headers = [
        (b"content-type", b"text/html; charset=utf-8"),
        (b"content-security-policy", CONTENT_SECURITY_POLICY.encode()),
        (b"cache-control", b"no-store"),
        (b"www-authenticate", b"Bearer"),
    ]
    await send({"type": "http.response.start", "status": 401, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})
