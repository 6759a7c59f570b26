"""Checks answers against the OpenAPI schema: every field is there, and every field is described."""

from __future__ import annotations

import re
from functools import cache
from typing import Any, cast

from jsonschema import Draft202012Validator

from holdfast.server.app import create_routes
from holdfast.server.openapi import build_schema


@cache
def schema() -> dict[str, Any]:
    """The schema that is served, in which types have no fields other than the described ones.

    Clients may get more fields some day; until then an undescribed field is a mistake.
    """
    described = build_schema(create_routes(cast(Any, None)))
    for component in described["components"]["schemas"].values():
        component["additionalProperties"] = False
    return described


@cache
def _validators() -> list[tuple[re.Pattern[str], Draft202012Validator]]:
    """For each operation a pattern of `METHOD path` and what checks its JSON answers."""
    found = []
    for path, operations in schema()["paths"].items():
        for method, operation in operations.items():
            good = next(one for code, one in operation["responses"].items() if code[0] == "2")
            content = good.get("content", {}).get("application/json")
            if content:
                name = re.escape(f"{method.upper()} {path}")
                pattern = re.compile(re.sub(r"\\{\w+\\}", "[^/]+", name))
                components = {"components": schema()["components"]}
                found.append((pattern, Draft202012Validator({**content["schema"], **components})))
    # Of two matching paths, the one with fewer parameters is meant, as in the router.
    return sorted(found, key=lambda item: item[0].pattern.count("[^/]+"))


def check(method: str, path: str, answer: Any) -> None:
    """Fail if the answer to a request is not as described."""
    request = f"{method} {path.partition('?')[0]}"
    for pattern, validator in _validators():
        if pattern.fullmatch(request):
            problem = next(validator.iter_errors(answer), None)
            assert problem is None, f"{request}: {problem.message if problem else ''}"
            return
