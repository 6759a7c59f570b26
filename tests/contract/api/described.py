"""What is answered, held against the description of the API: all of it is there, and no more."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import msgspec
from jsonschema import Draft202012Validator

from holdfast.surfaces.api.answer_shapes import ANSWERS


@cache
def _components() -> tuple[dict[str, Any], dict[str, Any]]:
    found, named = msgspec.json.schema_components(ANSWERS.values(), ref_template="#/$defs/{name}")
    # Callers may be told more some day; until then every field that is told is described.
    strict = {name: {**one, "additionalProperties": False} for name, one in named.items()}
    return dict(zip(ANSWERS, found, strict=True)), strict


@cache
def _validator(name: str) -> Draft202012Validator:
    found, named = _components()
    return Draft202012Validator({**found[name], "$defs": named})


@cache
def _patterns() -> list[tuple[str, re.Pattern[str]]]:
    # Of two that fit, the one that names the path itself is meant.
    names = sorted(ANSWERS, key=lambda name: name.count("{"))
    return [(name, re.compile(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(name)))) for name in names]


def check(method: str, path: str, answer: Any) -> None:
    asked = f"{method} {path.partition('?')[0]}"
    name = next((name for name, one in _patterns() if one.fullmatch(asked)), None)
    if name is not None:
        problem = next(_validator(name).iter_errors(answer), None)
        assert problem is None, f"{name}: {problem.message if problem else ''} (answer_shapes.py)"
