"""The application: routes, errors, the OpenAPI schema, and the middleware around them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, cast

from litestar import Litestar
from litestar.config.compression import CompressionConfig
from litestar.di import Provide
from litestar.middleware.rate_limit import RateLimitConfig
from litestar.openapi.config import OpenAPIConfig

import holdfast
from holdfast.server import auth, errors, openapi
from holdfast.server.access_log import AccessLogMiddleware
from holdfast.server.auth import LOOPBACK, AuthMiddleware, Identify
from holdfast.server.databases import Databases
from holdfast.server.event_feed import MAX_SUBSCRIBERS, EventFeed
from holdfast.server.http_rules import App, HeadRequests, StrictRequest, check_request
from holdfast.server.redacted_responses import RedactedResponse
from holdfast.server.routes import (
    agents,
    compaction,
    events,
    messages,
    recall,
    sessions,
    subtasks,
    system,
    tasks,
    waves,
)
from holdfast.server.web import rendering
from holdfast.server.web import router as web
from holdfast.settings import Settings
from holdfast.settings import load as load_settings

API_MODULES = (
    tasks, subtasks, waves, agents, messages, compaction, sessions, events, system, recall,
)  # fmt: skip
MAX_BODY_BYTES = 8 << 20
REQUESTS_PER_SECOND = 200
"""How many requests a token may make per second."""

Lifespan = Callable[[Litestar], AbstractAsyncContextManager[None]]


def create_litestar_app(
    feed: EventFeed,
    settings: Settings | None = None,
    rate: int = REQUESTS_PER_SECOND,
    lifespan: Sequence[Lifespan] = (),
) -> Litestar:
    """Return the Litestar application, without authentication and access log.

    `settings` are for the page; without them, the defaults count.

    `rate` is the number of requests per second and token.
    """

    page_settings = settings or load_settings({})

    @asynccontextmanager
    async def run_feed(_: Litestar) -> AsyncIterator[None]:
        task = asyncio.create_task(feed.run())
        try:
            yield
        finally:
            feed.close()
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    return Litestar(
        route_handlers=[
            *(module.create_router() for module in API_MODULES),
            *web.create_routers(),
        ],
        dependencies={
            "databases": Provide(auth.get_databases, sync_to_thread=False),
            "caller_project": Provide(auth.get_project, sync_to_thread=False),
            "is_token_valid": Provide(auth.get_token_check, sync_to_thread=False),
            "is_anonymous": Provide(auth.is_anonymous, sync_to_thread=False),
            "page_settings": Provide(lambda: page_settings, sync_to_thread=False),
            "feed": Provide(lambda: feed, sync_to_thread=False),
        },
        middleware=[
            RateLimitConfig(
                rate_limit=("second", rate), identifier_for_request=auth.get_token_id,
                check_throttle_handler=auth.has_token, set_rate_limit_headers=False,
            ).middleware
        ],
        exception_handlers=errors.HANDLERS,
        template_config=rendering.make_template_config(),
        lifespan=[*lifespan, run_feed],
        openapi_config=OpenAPIConfig(
            title="Holdfast",
            version=holdfast.__version__,
            description="Work that agents share: projects, requests, tasks, actions, messages, "
            "snapshots. Times are ISO 8601; filters match exactly; lists have `next`, the cursor "
            "of the next page, to send as `page`.",
            path="/openapi",
            openapi_router=openapi.create_schema_router(),
            render_plugins=[openapi.SchemaPlugin(path="/openapi.json")],
            security=openapi.SECURITY,
            components=openapi.COMPONENTS,
            use_handler_docstrings=True,
        ),
        compression_config=CompressionConfig(
            backend="gzip", minimum_size=1000, exclude="/api/events"
        ),
        request_class=StrictRequest,
        response_class=RedactedResponse,
        request_max_body_size=MAX_BODY_BYTES,
        before_request=check_request,
        logging_config=None,
        debug=False,
    )  # fmt: skip


def create_app(
    databases: Databases,
    *,
    hosts: tuple[str, ...] = LOOPBACK,
    identify: Identify,
    local_token_path: str = "",
    settings: Settings | None = None,
    log: Callable[[dict[str, Any]], None] | None = None,
    max_subscribers: int = MAX_SUBSCRIBERS,
    rate: int = REQUESTS_PER_SECOND,
    lifespan: Sequence[Lifespan] = (),
) -> tuple[App, EventFeed]:
    """Return the whole application as it is served, and its event feed.

    `hosts` are the accepted values of the Host header. `identify` says which requests come from the
    user who runs the server; others need a token. `local_token_path` is the file of that user's own
    token; "" for none. `settings` are for the page. `log` is called with one object per request.
    The context managers of `lifespan` are entered before the first request and left after the last.
    """
    feed = EventFeed(databases, max_subscribers)
    routes = HeadRequests(cast(App, create_litestar_app(feed, settings, rate, lifespan)))
    app = AuthMiddleware(
        routes, databases, hosts=hosts, identify=identify, local_token_path=local_token_path
    )
    return AccessLogMiddleware(app, log) if log else app, feed
