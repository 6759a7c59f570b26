"""Addresses: one slash between two parts, however many were sent; one within a part stays there."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote

if TYPE_CHECKING:
    from holdfast.surfaces.api.asgi import Scope

# For a slash that was sent as %2F: names of agents have some. Nobody's own sign: Unicode leaves it
# to whoever wants it.
WITHIN = "\ue02f"


def plain(scope: Scope) -> str:
    """The path of a request as routes are to see it."""
    path: str = scope["path"]
    raw: bytes = scope.get("raw_path", b"")
    # Hardly any has anything to be put right.
    if b"%" not in raw and "//" not in path and (path[-1:] != "/" or path == "/"):
        return path
    parts = path.split("/")
    if b"%2f" in raw.lower():
        sent = raw.partition(b"?")[0].split(b"/")
        parts = [unquote(part.decode("latin-1")).replace("/", WITHIN) for part in sent]
    return "/" + "/".join(filter(None, parts))


def whole(part: str) -> str:
    """A part of a path as it was meant."""
    return part.replace(WITHIN, "/")
