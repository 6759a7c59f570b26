"""Whether the server is well, what it holds, and the page to try it."""

from __future__ import annotations

import os

from litestar import MediaType, Response, Router, get

import holdfast
from holdfast.ledger.tables import SHARED
from holdfast.surfaces.api.desk import Desk
from holdfast.surfaces.api.needs import TheDesk
from holdfast.surfaces.api.rows import Answer

PAGE = os.path.join(os.path.dirname(os.path.dirname(__file__)), "page")
# Nothing from elsewhere is loaded, and nobody may put the page into theirs.
POLICY = "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"


@get("/health", sync_to_thread=True)
def health(desk: TheDesk) -> Answer:
    """Whether the store answers: 200 if it does, 503 if not."""
    return healthy(desk)


def healthy(desk: Desk) -> Answer:
    """Raises if the store does not answer."""
    with desk.books() as books:
        books.ledger.database.run("SELECT 1 AS one")
        dialect = books.ledger.database.dialect
    return {"status": "healthy", "version": holdfast.__version__, "database": dialect}


@get("/stats", sync_to_thread=True)
def stats(desk: TheDesk) -> Answer:
    """How many rows there are of each kind."""
    with desk.books() as books:
        return {name: books.ledger.count(table) for name, table in SHARED.items()}


def _file(name: str, kind: str) -> Response[bytes]:
    with open(os.path.join(PAGE, name), "rb") as file:
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
    return Router("/", tags=["server"], route_handlers=[health, stats, page, script, style])
