"""The page of the HTTP API: every request, what can be sent with it, and what is answered."""

from __future__ import annotations

from typing import Any, cast

from docs.reference.markdown import table, titled
from holdfast.server import app, errors, openapi

Told = dict[str, Any]
FIELDS = ("field", "type", "meaning")


def description() -> Told:
    """What a server tells of itself. Nothing is asked of it, so it needs no store."""
    no_feed = cast(Any, None)
    return openapi.build_schema(app.create_routes(no_feed))


def page() -> str:
    told = description()
    shapes: Told = told["components"]["schemas"]
    lines = [
        titled("HTTP API"),
        "What `holdfast serve` answers on `http://127.0.0.1:3847`; "
        "[how to use it](../how-to/serve.md).\nThe same for programs: `/openapi/openapi.json`; "
        f"to try it: `/docs`.\n\n{told['info']['description']}\n\nFields with a * are needed.\n",
    ]
    by_tag: dict[str, list[str]] = {}
    for path, operations in told["paths"].items():
        for method, operation in operations.items():
            section = by_tag.setdefault(operation["tags"][0], [])
            section += _operation(f"{method.upper()} {path}", operation, shapes)
    for tag, section in by_tag.items():
        lines += [f"## {tag.capitalize()}\n", *section]
    lines += ["## What is answered\n"]
    for name in sorted(_answered(told)):
        if _is_list(shapes[name]["properties"]):
            continue
        lines += [f"### {name}\n", *table(FIELDS, _fields(shapes[name], marked=False)), ""]
    lines += ["## What can go wrong\n", *table(("status", "title"), _problems()), ""]
    return "\n".join(lines)


def _operation(name: str, operation: Told, shapes: Told) -> list[str]:
    rows = [
        _row(one["name"], one["schema"], one["description"], is_needed=one.get("required", False))
        for one in operation["parameters"]
    ]
    if "requestBody" in operation:
        body = operation["requestBody"]["content"]["application/json"]["schema"]
        rows += _fields(shapes[_names(body)[0]], marked=True)
    asked = [*table(FIELDS, rows), ""] if rows else []
    return [f"### {name}\n", f"{operation['description']}{_told(operation, shapes)}\n", *asked]


def _told(operation: Told, shapes: Told) -> str:
    answer = _answer(operation)
    if answer is None:
        return ""
    fields = next((shapes[name]["properties"] for name in _names(answer)), {})
    if not _is_list(fields):
        return f" Answers {_kind(answer)}."
    lists = [f"`{name}` ({_kind(told)})" for name, told in fields.items() if name != "next"]
    return f" Answers {', '.join(lists)} and `next`."


def _is_list(fields: Told) -> bool:
    """What is answered in pages is told where it is answered."""
    return "next" in fields


def _answer(operation: Told) -> Told | None:
    good = (one for status, one in operation["responses"].items() if int(status) < 300)
    content = next(good, {}).get("content", {})
    return cast("Told | None", content.get("application/json", {}).get("schema"))


def _fields(shape: Told, *, marked: bool) -> list[tuple[str, ...]]:
    needed = shape.get("required", ()) if marked else ()
    return [
        _row(name, told, told["description"], is_needed=name in needed)
        for name, told in shape["properties"].items()
    ]


def _row(name: str, schema: Told, meaning: str, *, is_needed: bool) -> tuple[str, ...]:
    default = schema.get("default")
    kind = _kind(schema) if default in (None, "", [], {}) else f"{_kind(schema)}: {_shown(default)}"
    return f"`{name}`{' *' if is_needed else ''}", kind, meaning


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _kind(schema: Told) -> str:
    if names := _names(schema):
        return " or ".join(f"[{name}](#{name.lower()})" for name in names)
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"] if value is not None)
    if either := schema.get("anyOf") or schema.get("oneOf"):
        return " or ".join(_kind(one) for one in either)
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    return str(schema.get("format") or schema.get("type") or "anything")


def _names(schema: Told) -> list[str]:
    """Of shapes that stand elsewhere on the page."""
    either = [schema, *schema.get("oneOf", ())]
    return [one["$ref"].rpartition("/")[2] for one in either if "$ref" in one]


def _answered(told: Told) -> set[str]:
    """Return the names of all schemas that responses contain, directly or nested."""
    shapes: Told = told["components"]["schemas"]
    reached: set[str] = set()
    new = {"Problem"} | {
        name
        for operations in told["paths"].values()
        for operation in operations.values()
        for name in _names(_answer(operation) or {})
    }
    while new:
        reached |= new
        new = {inner for name in new for inner in _inner(shapes[name])} - reached
    return reached


def _inner(schema: Any) -> list[str]:
    if isinstance(schema, list):
        return [name for one in schema for name in _inner(one)]
    if not isinstance(schema, dict):
        return []
    return [*_names(schema), *(name for one in schema.values() for name in _inner(one))]


def _problems() -> list[tuple[str, str]]:
    return [(str(status), title) for status, title in sorted(errors.TITLES.items())]
