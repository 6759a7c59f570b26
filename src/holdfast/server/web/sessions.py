"""Sessions: the list of all, and one with everything that is known of it."""

from __future__ import annotations

import os
from typing import Any

from litestar import get
from litestar.response import Template

from holdfast.server import pagination
from holdfast.server.dependencies import CallerDatabases
from holdfast.server.requests import Cursor
from holdfast.server.web import rendering
from holdfast.state.thresholds import percent_used

PAGE_SIZE = 50


@get("/sessions", sync_to_thread=True)
def list_sessions(databases: CallerDatabases, page: Cursor = None) -> Template:
    """List all sessions, the latest first."""
    with databases.connect() as db:
        rows = db.store.sessions(None, PAGE_SIZE + 1, pagination.parse_cursor(page))
    kept, cursor = pagination.split_page([{**row} for row in rows], PAGE_SIZE, "seen_at")
    return rendering.render(
        "sessions.html", section="sessions", title="Sessions",
        rows=[_describe(row) for row in kept],
        next_path=f"/sessions?page={cursor}" if cursor else "",
    )  # fmt: skip


def _describe(row: dict[str, Any]) -> dict[str, Any]:
    state = row["state"]
    requests = state["requests"]
    return {
        "id": row["id"],
        "project": os.path.basename(row["project"]),
        "host": row["host"],
        "title": requests[0]["text"] if requests else "",
        "seen_at": row["seen_at"],
        "percent": percent_used(state["usage"]),
        "compactions": len(state["compactions"]),
    }
