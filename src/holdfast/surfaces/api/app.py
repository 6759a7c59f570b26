"""The application: routes, errors as problem JSON, OpenAPI from the code, and the guard."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, NamedTuple, cast

from litestar import Litestar
from litestar.config.compression import CompressionConfig
from litestar.di import Provide
from litestar.openapi.config import OpenAPIConfig
from litestar.types import Scope

import holdfast
from holdfast.surfaces.api import described, held, problems
from holdfast.surfaces.api.access import Access
from holdfast.surfaces.api.asgi import App
from holdfast.surfaces.api.asked import looked_at
from holdfast.surfaces.api.desk import Desk
from holdfast.surfaces.api.doorstep import Doorstep
from holdfast.surfaces.api.guard import LOOPBACK, Guard, still_allowed
from holdfast.surfaces.api.live import MOST, Live
from holdfast.surfaces.api.methods import Heads
from holdfast.surfaces.api.pace import Pace
from holdfast.surfaces.api.quick import Quick
from holdfast.surfaces.api.routes import (
    agents,
    events,
    messages,
    recall,
    sessions,
    state,
    subtasks,
    system,
    waves,
    work,
)
from holdfast.surfaces.api.strict import StrictRequest

LARGEST_BODY = 8 << 20


def application(desk: Desk, live: Live) -> Litestar:
    """The routes over one desk, without the guard."""

    @asynccontextmanager
    async def listening(_: Litestar) -> AsyncIterator[None]:
        reading = asyncio.create_task(live.run())
        try:
            yield
        finally:
            live.close()
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)

    def desk_for(scope: Scope) -> Desk:
        project = held.project_of(scope)
        return held.HeldDesk(desk, project) if project else desk

    return Litestar(
        route_handlers=[
            one.router()
            for one in (
                work, subtasks, waves, agents, messages, state, sessions, events, system, recall,
            )
        ],
        dependencies={
            "desk": Provide(desk_for, sync_to_thread=False),
            "held_to": Provide(held.project_of, sync_to_thread=False),
            "still_allowed": Provide(still_allowed, sync_to_thread=False),
            "live_changes": Provide(lambda: live, sync_to_thread=False),
        },
        exception_handlers=problems.HANDLERS,
        lifespan=[listening],
        openapi_config=OpenAPIConfig(
            title="Holdfast",
            version=holdfast.__version__,
            description="What agents share: projects, requests, tasks, actions, messages, "
            "snapshots. Times are ISO 8601; filters match exactly; lists have `next`, to be given "
            "back as `page`.",
            path="/openapi",
            openapi_router=described.router(),
            render_plugins=[described.Described(path="/openapi.json")],
            use_handler_docstrings=True,
        ),
        compression_config=CompressionConfig(
            backend="gzip", minimum_size=1000, exclude="/api/events"
        ),
        request_class=StrictRequest,
        request_max_body_size=LARGEST_BODY,
        before_request=looked_at,
        logging_config=None,
        debug=False,
    )  # fmt: skip


class Served(NamedTuple):
    """The whole thing as it is served."""

    app: App
    live: Live
    doorstep: Doorstep


def guarded(
    desk: Desk,
    *,
    hosts: tuple[str, ...] = LOOPBACK,
    token_needed: bool = False,
    logged: Callable[[dict[str, Any]], None] | None = None,
    most_listeners: int = MOST,
    pace: Pace | None = None,
) -> Served:
    live = Live(desk, most_listeners)
    quick = Quick(cast(App, application(desk, live)), desk)
    guard = Guard(Heads(quick), desk, hosts=hosts, token_needed=token_needed, pace=pace)
    return Served(Access(guard, logged) if logged else guard, live, Doorstep(guard, quick))
