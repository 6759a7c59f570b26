"""The description of the API as it is served: what is answered, what goes wrong, who may ask."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from litestar import Request, Response, Router
from litestar.openapi.plugins import JsonRenderPlugin

from holdfast.surfaces.api import glossary, problems, shapes
from holdfast.surfaces.api.answer_shapes import ANSWERS
from holdfast.surfaces.api.guard import OPEN

Told = dict[str, Any]

METHODS = ("get", "post", "put", "patch", "delete")
ALWAYS = (400, 401, 403, 421, 429, 503)
OF_A_RECORD = (404,)
OF_A_BODY = (404, 409, 413, 415)
# Generated anew by what reads them: limits of what may be null are missing otherwise.
SHAPES = [
    one
    for one in vars(shapes).values()
    if isinstance(one, type(msgspec.Struct)) and one is not msgspec.Struct
]
NAMED = "#/components/schemas/{name}"
# Bodies that are read as any object, because all of it is kept.
WHOLE = {"/api/compact/save": "Saved"}
JSON = "application/json"
BEARER: Told = {
    "type": "http",
    "scheme": "bearer",
    "description": "`holdfast token new NAME` makes one. On 127.0.0.1 nobody needs it.",
}
TEXT = {"type": "string"}
PROBLEM: Told = {
    "type": "object",
    "description": "What went wrong (RFC 9457), and often what to do about it.",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": TEXT,
        "title": TEXT,
        "status": {"type": "integer"},
        "detail": TEXT,
        "hint": TEXT,
        "errors": {
            "type": "array",
            "items": {"type": "object", "properties": {"field": TEXT, "message": TEXT}},
        },
    },
}


def router() -> Router:
    """Where the description is; what is not there gets a problem, and not the framework's page."""
    return Router(
        "/openapi", route_handlers=[], include_in_schema=False, after_request=_as_a_problem
    )


def _as_a_problem(answer: Response[Any]) -> Response[Any]:
    if answer.status_code != 404 or answer.media_type == problems.MEDIA_TYPE:
        return answer
    return problems.respond(404, "the description is at /openapi/openapi.json, the page at /docs")


class Described(JsonRenderPlugin):
    """The generated description, in which every operation names its answers and its problems."""

    def render(self, request: Request[Any, Any, Any], openapi_schema: Told) -> bytes:
        return super().render(request, in_full(openapi_schema))


def in_full(schema: Told) -> Told:
    answers, exact = msgspec.json.schema_components(
        [*ANSWERS.values(), *SHAPES], ref_template=NAMED
    )
    told_by = dict(zip(ANSWERS, answers, strict=False))
    paths = {path: _path(path, told, told_by) for path, told in schema["paths"].items()}
    components = schema.get("components", {})
    used = sorted({*ALWAYS, *OF_A_RECORD, *OF_A_BODY, 426})
    shown = {**components.get("schemas", {}), **exact, "Problem": PROBLEM}
    return {
        **schema,
        "paths": paths,
        # With a token or, on this machine, without.
        "security": [{"bearer": []}, {}],
        "components": {
            **components,
            "securitySchemes": {"bearer": BEARER},
            "schemas": {name: _explained(name, one) for name, one in shown.items()},
            "responses": {str(status): _response(status) for status in used},
        },
    }


def _path(path: str, told: Told, told_by: Told) -> Told:
    return {
        name: {
            **part,
            **_in_words(part),
            "parameters": [_parameter(path, one) for one in part.get("parameters", ())],
            **_body(path, part),
            **({"security": []} if path in OPEN else {}),
            "responses": _responses(part, told_by.get(f"{name.upper()} {path}")),
        }
        if name in METHODS
        else part
        for name, part in told.items()
    }


def _in_words(operation: Told) -> Told:
    """The first sentence for lists, and not a name that the framework makes up."""
    words = " ".join(operation.get("description", "").split())
    first, end, _ = words.partition(". ")
    return {"summary": first if end else words.removesuffix("."), "description": words}


def _parameter(path: str, told: Told) -> Told:
    meant = told.get("description") or glossary.meaning(path, told["name"])
    return {**told, "description": meant}


def _explained(name: str, schema: Told) -> Told:
    """A shape, each field of which says what it means."""
    needed = schema.get("required", ())
    fields = {}
    for field, told in schema.get("properties", {}).items():
        fields[field] = {"description": glossary.meaning(name, field), **told}
        if field in needed and (given := glossary.example(name, field)) is not None:
            fields[field] = {"examples": [given], **fields[field]}
    return {**schema, "properties": fields} if fields else schema


def _body(path: str, operation: Told) -> Told:
    if path in WHOLE:
        named = {"$ref": NAMED.format(name=WHOLE[path])}
        return {"requestBody": {"required": True, "content": {JSON: {"schema": named}}}}
    body = operation.get("requestBody")
    if body is None:
        return {}
    # The framework calls every body required, also one that may be nothing.
    may_be = body["content"][JSON]["schema"].get("oneOf", ())
    return {"requestBody": {**body, "required": {"type": "null"} not in may_be}}


def _responses(operation: Told, answer: Told | None) -> Told:
    good = {
        code: _answered(told, answer)
        for code, told in operation["responses"].items()
        if int(code) < 400
    }
    own = (int(code) for code in operation["responses"] if int(code) >= 400)
    statuses = sorted({*own, *_statuses(operation)})
    return {**good, **{str(status): _named(status) for status in statuses}}


def _answered(told: Told, answer: Told | None) -> Told:
    content = told.get("content", {})
    if answer is None or JSON not in content:
        return told
    return {**told, "content": {**content, JSON: {**content[JSON], "schema": answer}}}


def _statuses(operation: Told) -> Iterator[int]:
    yield from ALWAYS
    if any(one["in"] == "path" or one.get("required") for one in operation.get("parameters", ())):
        yield from OF_A_RECORD
    if "requestBody" in operation:
        yield from OF_A_BODY


def _named(status: int) -> Told:
    return {"$ref": f"#/components/responses/{status}"}


def _response(status: int) -> Told:
    told: Told = {
        "description": problems.TITLES[status],
        "content": {problems.MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    if status in problems.COMING_BACK:
        seconds = {"schema": {"type": "integer"}, "description": "seconds until then"}
        told["headers"] = {"Retry-After": seconds}
    return told
