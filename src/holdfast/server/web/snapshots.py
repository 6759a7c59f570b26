"""The saved states of a session, and the difference between any two of them."""

from __future__ import annotations

from typing import Annotated

from litestar import get
from litestar.params import QueryParameter
from litestar.response import Template

from holdfast.reports.diff import diff_states
from holdfast.server.databases import Connections
from holdfast.server.dependencies import CallerDatabases
from holdfast.server.web import rendering
from holdfast.server.web.session_access import SessionId, require_session, title_of
from holdfast.services.sessions import refresh_session
from holdfast.state.types import State

MAX_SNAPSHOTS = 200
# Stands for the state as it is now, in place of a snapshot's id.
NOW = "now"
Chosen = Annotated[str, QueryParameter(max_length=80, description="id of a snapshot, or now")]


@get("/sessions/{ident:str}/snapshots", sync_to_thread=True)
def show_snapshots(
    databases: CallerDatabases, ident: SessionId, a: Chosen = "", b: Chosen = NOW
) -> Template:
    """List the snapshots of a session; compare the two that were chosen."""
    with databases.connect() as db:
        row = require_session(db, ident)
        saved = db.store.snapshots(ident, MAX_SNAPSHOTS)
        first = a or (saved[0]["id"] if saved else "")
        changes = diff_states(_load(db, ident, first), _load(db, ident, b)) if first else []
    return rendering.render(
        "snapshots.html", section="sessions", title="snapshots", session=ident,
        crumbs=[(title_of(row, 60), f"/sessions/{ident}")],
        saved=saved, a=first, b=b, changes=changes,
    )  # fmt: skip


def _load(db: Connections, ident: str, name: str) -> State:
    """Return a saved state of this session, or its state now; raises NotFound."""
    if name == NOW:
        return refresh_session(db.store, require_session(db, ident)).state
    return db.store.snapshot(name)["state"]
