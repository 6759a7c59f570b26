"""Whether the server is well, what it holds, what is happening, and the page to try it."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from typing import Annotated, Any

import msgspec
from litestar import MediaType, Response, Router, get
from litestar.params import FromQuery, HeaderParameter
from litestar.response import ServerSentEvent
from litestar.response.sse import ServerSentEventMessage

import holdfast
from holdfast.ledger.tables import SHARED
from holdfast.surfaces.api import answers, live
from holdfast.surfaces.api.held import wanted
from holdfast.surfaces.api.needs import HeldTo, TheDesk, TheLive
from holdfast.surfaces.api.rows import Answer
from holdfast.surfaces.api.shapes import Filter

HERE = os.path.dirname(__file__)
# Nothing from elsewhere is loaded, and nobody may put the page into theirs.
POLICY = "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"


@get("/health", sync_to_thread=True)
def health(desk: TheDesk) -> Answer:
    """200 if the store answers, 503 if not."""
    with desk.books() as books:
        books.ledger.database.run("SELECT 1 AS one")
        dialect = books.ledger.database.dialect
    return {"status": "healthy", "version": holdfast.__version__, "database": dialect}


@get("/stats", sync_to_thread=True)
def stats(desk: TheDesk) -> Answer:
    with desk.books() as books:
        return {name: books.ledger.count(table) for name, table in SHARED.items()}


@get("/api/events")
async def events(
    live_changes: TheLive,
    held_to: HeldTo,
    last_event_id: Annotated[str, HeaderParameter(name="Last-Event-ID")] = "",
    after: FromQuery[str] = "",
    project_id: Filter = None,
    session_id: Filter = None,
) -> ServerSentEvent:
    """Changes as they happen; `Last-Event-ID` (or `after`) goes on where a listener stopped."""
    since = live.read(last_event_id or after)
    project = wanted(project_id, held_to)

    async def told() -> AsyncIterator[ServerSentEventMessage]:
        yield ServerSentEventMessage(comment="listening", data=None, retry=2000)
        async for change in live_changes.changes(since):
            if change is None:
                yield ServerSentEventMessage(comment="still here", data=None)
            elif _wanted(change, project, session_id):
                yield _message(change)

    return ServerSentEvent(told())


def _wanted(change: dict[str, Any], project: str | None, session: str | None) -> bool:
    return project in (None, change["project"]) and session in (None, change["session"])


def _message(change: dict[str, Any]) -> ServerSentEventMessage:
    told = {
        "id": change["id"],
        "kind": change["kind"],
        "record_id": change["record"],
        "project_id": change["project"] or None,
        "session_id": change["session"] or None,
        "deleted": bool(change["gone"]),
        "at": answers.stamp(change["at"]),
    }
    data = msgspec.json.encode(told).decode()
    return ServerSentEventMessage(data=data, event=change["kind"], id=live.written(change))


def _file(name: str, kind: str) -> Response[bytes]:
    with open(os.path.join(HERE, "page", name), "rb") as file:
        headers = {"Content-Security-Policy": POLICY, "X-Content-Type-Options": "nosniff"}
        return Response(file.read(), media_type=kind, headers=headers)


@get("/docs", include_in_schema=False, sync_to_thread=True)
def page() -> Response[bytes]:
    return _file("index.html", MediaType.HTML)


@get("/docs/page.js", include_in_schema=False, sync_to_thread=True)
def script() -> Response[bytes]:
    return _file("page.js", "text/javascript")


@get("/docs/page.css", include_in_schema=False, sync_to_thread=True)
def style() -> Response[bytes]:
    return _file("page.css", "text/css")


def router() -> Router:
    return Router("/", tags=["server"], route_handlers=[health, stats, events, page, script, style])
