"""What is looked at before any handler: a question that only looks like one that is known would be
answered with too much.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from litestar import Request, Response
from litestar.handlers import BaseRouteHandler
from litestar.params import QueryParameter

from holdfast.errors import BadUsage
from holdfast.surfaces.api.methods import allowed
from holdfast.surfaces.api.nesting import check_nesting

# Pages and checks may be asked for in any way.
ANY = ("/health", "/docs", "/openapi")


async def looked_at(request: Request[Any, Any, Any]) -> Response[Any] | None:
    """The answer, if there is nothing more to it."""
    if request.method == "OPTIONS":
        allow = ", ".join(allowed(request.app.routes, request.url.path))
        return Response(None, status_code=204, headers={"Allow": allow})
    if not request.url.path.startswith(ANY):
        _check_query(request)
    await check_nesting(request)
    return None


def _check_query(request: Request[Any, Any, Any]) -> None:
    known = _known(request.route_handler)
    unknown = [name for name in request.query_params if name not in known]
    if unknown:
        raise BadUsage(
            f"nothing here is called {', '.join(f'`{name}`' for name in unknown)}",
            hint=f"what can be asked for: {', '.join(known)}" if known else "",
        )


@lru_cache(maxsize=256)
def _known(handler: BaseRouteHandler) -> tuple[str, ...]:
    """The names that a handler takes from a query."""
    fields = handler.parsed_fn_signature.parameters.items()
    given = [(name, field.kwarg_definition) for name, field in fields]
    return tuple(one.name or name for name, one in given if isinstance(one, QueryParameter))
