"""The OpenAPI schema as it is served at /openapi/openapi.json.

Litestar builds it from the handlers. This module adds what Litestar leaves out: the field
descriptions and limits of nested types, a summary from each docstring, and the errors.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from litestar import Litestar, Request, Response, Router
from litestar.handlers import HTTPRouteHandler
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.openapi.spec import Components, SecurityScheme
from litestar.routes import HTTPRoute

from holdfast.server import errors
from holdfast.server.responses import Problem

Schema = dict[str, Any]

JSON = "application/json"
BODY_TYPE = "body_type"
"""Key of a handler's `opt`: the documented type of a body that is accepted as any object."""
# The statuses of errors of any request, and of requests with a body.
COMMON_ERRORS = (400, 401, 403, 421, 429, 503)
BODY_ERRORS = (404, 409, 413, 415)
# The user who runs the server needs no token on the same machine.
SECURITY: list[dict[str, list[str]]] = [{"bearer": []}, {}]
COMPONENTS = Components(
    security_schemes={
        "bearer": SecurityScheme(
            type="http", scheme="bearer",
            description="`holdfast token new NAME` creates one. On the server's own machine, the "
            "user who runs the server needs none where the system tells which user calls.",
        )
    }
)  # fmt: skip


class SchemaPlugin(JsonRenderPlugin):
    """Serves the completed schema instead of Litestar's own."""

    def render(self, request: Request[Any, Any, Any], openapi_schema: Schema) -> bytes:
        return super().render(request, build_schema(request.app))


def create_schema_router() -> Router:
    """Return the router of the schema. For an unknown path it answers with problem JSON instead of
    Litestar's HTML page.
    """
    return Router(
        "/openapi", route_handlers=[], include_in_schema=False, after_request=_replace_html_404
    )


def _replace_html_404(response: Response[Any]) -> Response[Any]:
    if response.status_code != 404 or response.media_type == errors.MEDIA_TYPE:
        return response
    return errors.respond(404, "the schema is at /openapi/openapi.json, the page at /docs")


def build_schema(app: Litestar) -> Schema:
    """Return the complete OpenAPI schema of the application."""
    schema = app.openapi_schema.to_schema()
    types: list[Any] = [Problem]
    for path, method, handler in _list_handlers(app):
        operation = schema["paths"][path][method]
        _complete_operation(operation, handler)
        types.append(_get_body_type(handler))
        if not handler.parsed_return_field.is_subclass_of(Response):
            types.append(handler.parsed_return_field.annotation)
    # Litestar drops descriptions in TypedDicts, and limits of fields that may be null.
    _, exact = msgspec.json.schema_components(
        dict.fromkeys(filter(None, types)), ref_template="#/components/schemas/{name}"
    )
    schema["components"]["schemas"] |= exact
    schema["components"]["responses"] = {
        str(status): _build_error_response(status)
        for status in sorted({*COMMON_ERRORS, *BODY_ERRORS})
    }
    return schema


def _list_handlers(app: Litestar) -> Iterator[tuple[str, str, HTTPRouteHandler]]:
    """Yield the path, the method and the handler of every documented route."""
    for route in app.routes:
        if isinstance(route, HTTPRoute):
            for method, (handler, _) in route.route_handler_map.items():
                if handler.resolve_include_in_schema():
                    yield route.path_format, method.lower(), handler


def _get_body_type(handler: HTTPRouteHandler) -> Any:
    """Return the type of the body that a handler accepts, or None."""
    body = handler.parsed_data_field
    return handler.opt.get(BODY_TYPE) or (body.annotation if body else None)


def _complete_operation(operation: Schema, handler: HTTPRouteHandler) -> None:
    description = " ".join(operation["description"].split())
    operation["description"] = description
    operation["summary"] = description.partition(". ")[0].removesuffix(".")
    parameters = operation.setdefault("parameters", [])
    documented = (int(status) for status in operation["responses"] if int(status) >= 400)
    statuses = {*COMMON_ERRORS, *documented}
    if any(parameter["in"] == "path" or parameter.get("required") for parameter in parameters):
        statuses.add(404)
    if body := operation.get("requestBody"):
        statuses |= {*BODY_ERRORS}
        _complete_body(body, handler)
    operation["responses"] |= {
        str(status): {"$ref": f"#/components/responses/{status}"} for status in sorted(statuses)
    }


def _complete_body(body: Schema, handler: HTTPRouteHandler) -> None:
    content = body["content"][JSON]
    if documented := handler.opt.get(BODY_TYPE):
        content["schema"] = {"$ref": f"#/components/schemas/{documented.__name__}"}
    # Litestar marks every body as required, even one that may be null.
    body["required"] = {"type": "null"} not in content["schema"].get("oneOf", ())


def _build_error_response(status: int) -> Schema:
    response: Schema = {
        "description": errors.TITLES[status],
        "content": {errors.MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    if status in errors.RETRY_STATUSES:
        seconds = {"schema": {"type": "integer"}, "description": "seconds to wait before a retry"}
        response["headers"] = {"Retry-After": seconds}
    return response
