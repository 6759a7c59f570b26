"""Health, row counts, and the web page at /docs."""

from __future__ import annotations

import os

from litestar import MediaType, Response, Router, get

import holdfast
from holdfast.errors import StoreUnavailable
from holdfast.ledger.schema import SHARED_TABLES
from holdfast.server.dependencies import CallerDatabases, IsAnonymous
from holdfast.server.responses import Health

PAGE_FOLDER = os.path.join(os.path.dirname(os.path.dirname(__file__)), "page")
# The page loads nothing from other hosts and cannot be framed by another page.
CONTENT_SECURITY_POLICY = (
    "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)


@get("/health", sync_to_thread=True, security=[{}])
def get_health(databases: CallerDatabases, is_anonymous: IsAnonymous) -> Health:
    """Check whether the database can be reached: 200 if so, 503 if not."""
    try:
        with databases.connect() as db:
            db.ledger.database.run("SELECT 1 AS one")
            dialect = db.ledger.database.dialect
    except StoreUnavailable:
        if is_anonymous:
            # The message would name the database.
            raise StoreUnavailable("the database cannot be reached") from None
        raise
    if is_anonymous:
        return {"status": "healthy"}
    return {"status": "healthy", "version": holdfast.__version__, "database": dialect}


@get("/stats", sync_to_thread=True)
def get_stats(databases: CallerDatabases) -> dict[str, int]:
    """Count the rows of each table."""
    with databases.connect() as db:
        return {name: db.ledger.count(table) for name, table in SHARED_TABLES.items()}


def _read_page_file(name: str, media_type: str) -> Response[bytes]:
    with open(os.path.join(PAGE_FOLDER, name), "rb") as file:
        headers = {
            "Content-Security-Policy": CONTENT_SECURITY_POLICY,
            "X-Content-Type-Options": "nosniff",
        }
        return Response(file.read(), media_type=media_type, headers=headers)


@get("/docs", include_in_schema=False, sync_to_thread=True)
def get_page() -> Response[bytes]:
    return _read_page_file("index.html", MediaType.HTML)


@get("/docs/page.js", include_in_schema=False, sync_to_thread=True)
def get_script() -> Response[bytes]:
    return _read_page_file("page.js", "text/javascript")


@get("/docs/page.css", include_in_schema=False, sync_to_thread=True)
def get_style() -> Response[bytes]:
    return _read_page_file("page.css", "text/css")


def create_router() -> Router:
    return Router(
        "/", tags=["server"],
        route_handlers=[get_health, get_stats, get_page, get_script, get_style],
    )  # fmt: skip
