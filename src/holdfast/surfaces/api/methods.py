"""Methods of HTTP that nobody writes a route for: HEAD, and saying which ones there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from litestar.routes import HTTPRoute

if TYPE_CHECKING:
    from collections.abc import Iterable

    from holdfast.surfaces.api.asgi import App, Message, Receive, Scope, Send

# A stream has no end, so a HEAD of it would have none.
ENDLESS = "/api/events"


class Heads:
    """An ASGI application that answers HEAD as another answers GET, without the body."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope.get("method") != "HEAD" or scope["path"] == ENDLESS:
            await self._app(scope, receive, send)
            return

        async def told(message: Message) -> None:
            await send({**message, "body": b""} if "body" in message else message)

        await self._app({**scope, "method": "GET"}, receive, told)


def allowed(routes: Iterable[object], path: str) -> list[str]:
    """What a path can be asked with, for whoever tried something else."""
    parts = [part for part in path.split("/") if part]
    found = [route for route in routes if isinstance(route, HTTPRoute) and _fits(route, parts)]
    if not found:
        return []
    # Of two that fit, the one that names the path itself is asked.
    route = max(found, key=lambda one: sum(isinstance(part, str) for part in one.path_components))
    head = {"HEAD"} if "GET" in route.methods and path != ENDLESS else set[str]()
    return sorted({*map(str, route.methods), *head})


def _fits(route: HTTPRoute, parts: list[str]) -> bool:
    wanted = route.path_components
    return len(wanted) == len(parts) and all(
        not isinstance(one, str) or one == part for one, part in zip(wanted, parts, strict=True)
    )
