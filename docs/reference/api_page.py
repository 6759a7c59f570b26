"""Generates the page of the HTTP API from its OpenAPI schema: requests, parameters, responses."""

from __future__ import annotations

from typing import Any, cast

from docs.reference.markdown import render_table, render_title
from holdfast.server import app, errors, openapi

Schema = dict[str, Any]
COLUMNS = ("field", "type", "meaning")


def load_schema() -> Schema:
    """Return the OpenAPI schema of the server, without starting it or opening a database."""
    no_feed = cast(Any, None)
    return openapi.build_schema(app.create_litestar_app(no_feed))


def build_page() -> str:
    """Return the page as Markdown."""
    schema = load_schema()
    types: Schema = schema["components"]["schemas"]
    lines = [
        render_title("HTTP API"),
        "The API of `holdfast serve` on `http://127.0.0.1:3847`; "
        "[how to use it](../how-to/serve.md).\nAs an OpenAPI schema: `/openapi/openapi.json`; "
        "to try it: `/docs`.\n",
        f"{schema['info']['description']}\n",
        "Fields with a * are required.\n",
    ]
    sections: dict[str, list[str]] = {}
    for path, operations in schema["paths"].items():
        for method, operation in operations.items():
            section = sections.setdefault(operation["tags"][0], [])
            section += _render_operation(f"{method.upper()} {path}", operation, types)
    for tag, section in sections.items():
        lines += [f"## {tag.capitalize()}\n", *section]
    lines += ["## Response types\n"]
    for name in sorted(_find_response_types(schema)):
        if not _is_list(types[name]["properties"]):
            rows = _list_fields(types[name], mark_required=False)
            lines += [f"### {name}\n", *render_table(COLUMNS, rows), ""]
    lines += ["## Errors\n", *render_table(("status", "title"), _list_errors()), ""]
    return "\n".join(lines)


def _render_operation(name: str, operation: Schema, types: Schema) -> list[str]:
    rows = [
        _build_row(
            parameter["name"],
            parameter["schema"],
            parameter["description"],
            is_required=parameter.get("required", False),
        )
        for parameter in operation["parameters"]
    ]
    if "requestBody" in operation:
        body = operation["requestBody"]["content"]["application/json"]["schema"]
        rows += _list_fields(types[_find_type_names(body)[0]], mark_required=True)
    fields = [*render_table(COLUMNS, rows), ""] if rows else []
    description = operation["description"] + _describe_response(operation, types)
    return [f"### {name}\n", f"{description}\n", *fields]


def _describe_response(operation: Schema, types: Schema) -> str:
    """Return a sentence about the response, or "" if it has no JSON body."""
    response = _get_response_schema(operation)
    if response is None:
        return ""
    fields = next((types[name]["properties"] for name in _find_type_names(response)), {})
    if not _is_list(fields):
        return f" Returns {_render_type(response)}."
    lists = [
        f"`{name}` ({_render_type(field)})" for name, field in fields.items() if name != "next"
    ]
    return f" Returns {', '.join(lists)} and `next`."


def _is_list(fields: Schema) -> bool:
    """Return whether a response with these fields is a list. Lists are described at their request
    and not under the response types.
    """
    return "next" in fields


def _get_response_schema(operation: Schema) -> Schema | None:
    """Return the schema of the JSON body of a successful response, or None."""
    responses = operation["responses"].items()
    successful = (response for status, response in responses if int(status) < 300)
    content = next(successful, {}).get("content", {})
    return cast("Schema | None", content.get("application/json", {}).get("schema"))


def _list_fields(schema: Schema, *, mark_required: bool) -> list[tuple[str, ...]]:
    required = schema.get("required", ()) if mark_required else ()
    return [
        _build_row(name, field, field["description"], is_required=name in required)
        for name, field in schema["properties"].items()
    ]


def _build_row(name: str, schema: Schema, meaning: str, *, is_required: bool) -> tuple[str, ...]:
    type_name, default = _render_type(schema), schema.get("default")
    if default not in (None, "", [], {}):
        type_name = f"{type_name}: {_render_default(default)}"
    return f"`{name}`{' *' if is_required else ''}", type_name, meaning


def _render_default(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _render_type(schema: Schema) -> str:
    """Return the type of a value in words; types that are described on the page become links."""
    if names := _find_type_names(schema):
        return " or ".join(f"[{name}](#{name.lower()})" for name in names)
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"] if value is not None)
    if options := schema.get("anyOf") or schema.get("oneOf"):
        return " or ".join(_render_type(option) for option in options)
    if schema.get("type") == "array":
        return f"list of {_render_type(schema.get('items', {}))}"
    return str(schema.get("format") or schema.get("type") or "anything")


def _find_type_names(schema: Schema) -> list[str]:
    """Return the names of the types that a schema refers to, itself or as one of its options."""
    options = [schema, *schema.get("oneOf", ())]
    return [option["$ref"].rpartition("/")[2] for option in options if "$ref" in option]


def _find_response_types(schema: Schema) -> set[str]:
    """Return the names of all types that responses contain, directly or nested."""
    types: Schema = schema["components"]["schemas"]
    found: set[str] = set()
    new = {"Problem"} | {
        name
        for operations in schema["paths"].values()
        for operation in operations.values()
        for name in _find_type_names(_get_response_schema(operation) or {})
    }
    while new:
        found |= new
        new = {nested for name in new for nested in _find_nested_types(types[name])} - found
    return found


def _find_nested_types(schema: Any) -> list[str]:
    if isinstance(schema, list):
        return [name for item in schema for name in _find_nested_types(item)]
    if not isinstance(schema, dict):
        return []
    nested = (name for item in schema.values() for name in _find_nested_types(item))
    return [*_find_type_names(schema), *nested]


def _list_errors() -> list[tuple[str, str]]:
    return [(str(status), title) for status, title in sorted(errors.TITLES.items())]
