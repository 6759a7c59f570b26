"""Find sessions for pages: by id, or by the start of one id."""

from __future__ import annotations

from typing import Annotated

from litestar.params import PathParameter

from holdfast.errors import NotFound
from holdfast.server.databases import Connections
from holdfast.store.protocols import SessionRow

SessionId = Annotated[str, PathParameter(max_length=200, description="id of a session")]
Number = Annotated[int, PathParameter(ge=1, description="a number that starts at 1")]


def require_session(db: Connections, ident: str) -> SessionRow:
    """Return a session; raises NotFound with a hint."""
    row = db.store.session(ident)
    if row is None:
        raise NotFound(
            f"No session {ident} is recorded",
            hint="`holdfast recover FOLDER` imports sessions from before Holdfast was installed",
        )
    return row


def title_of(row: SessionRow, max_chars: int = 90) -> str:
    """Return what the session is about: the beginning of its first request."""
    requests = row["state"]["requests"]
    text = " ".join(requests[0]["text"].split()) if requests else ""
    return (text if len(text) <= max_chars else f"{text[:max_chars]}…") or row["id"]
