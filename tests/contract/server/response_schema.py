"""Checks responses against the OpenAPI schema: no field is missing, and none is undocumented."""

from __future__ import annotations

import re
from functools import cache
from typing import Any, cast

from jsonschema import Draft202012Validator

from holdfast.server.app import create_litestar_app
from holdfast.server.openapi import build_schema


@cache
def strict_schema() -> dict[str, Any]:
    """The served schema, but without additional properties.

    The served schema allows them so that fields can be added later; in a test, a field that the
    schema does not describe is a mistake.
    """
    schema = build_schema(create_litestar_app(cast(Any, None)))
    for component in schema["components"]["schemas"].values():
        component["additionalProperties"] = False
    return schema


@cache
def _validators() -> list[tuple[re.Pattern[str], Draft202012Validator]]:
    """For each operation, a pattern for `METHOD path` and the validator of its JSON responses."""
    validators = []
    for path, operations in strict_schema()["paths"].items():
        for method, operation in operations.items():
            success = next(
                response for code, response in operation["responses"].items() if code[0] == "2"
            )
            content = success.get("content", {}).get("application/json")
            if content:
                name = re.escape(f"{method.upper()} {path}")
                pattern = re.compile(re.sub(r"\\{\w+\\}", "[^/]+", name))
                components = {"components": strict_schema()["components"]}
                validator = Draft202012Validator({**content["schema"], **components})
                validators.append((pattern, validator))
    # If two paths match, the router takes the one with fewer parameters.
    return sorted(validators, key=lambda item: item[0].pattern.count("[^/]+"))


def check_response(method: str, path: str, body: Any) -> None:
    """Fail if a JSON response does not match the schema of its operation."""
    request = f"{method} {path.partition('?')[0]}"
    for pattern, validator in _validators():
        if pattern.fullmatch(request):
            problem = next(validator.iter_errors(body), None)
            assert problem is None, f"{request}: {problem.message if problem else ''}"
            return
