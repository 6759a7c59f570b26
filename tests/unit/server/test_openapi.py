"""The OpenAPI schema describes every operation and field, and its examples are valid."""

from __future__ import annotations

import json
import re

import msgspec
from docs.reference.api_page import load_schema

from holdfast.server import requests
from holdfast.server.routes.recall import RecallQuery

SCHEMA = load_schema()
TYPES = SCHEMA["components"]["schemas"]
OPERATIONS = {
    f"{method.upper()} {path}": operation
    for path, operations in SCHEMA["paths"].items()
    for method, operation in operations.items()
}
REQUEST_TYPES = {**vars(requests), "RecallQuery": RecallQuery}


def test_every_operation_and_parameter_has_a_description() -> None:
    for name, operation in OPERATIONS.items():
        assert " " in operation["summary"], name
        assert operation["description"].startswith(operation["summary"]), name
        assert "\n" not in operation["description"], name
        for parameter in operation["parameters"]:
            assert parameter["description"], (name, parameter["name"])


def test_every_field_of_a_type_has_a_description() -> None:
    for name in TYPES:
        for field, schema in TYPES[name]["properties"].items():
            assert schema["description"], (name, field)


def test_every_reference_can_be_resolved() -> None:
    names = set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(SCHEMA)))
    assert names == set(TYPES)


def test_the_examples_are_valid_requests() -> None:
    cases = sorted(name for name in TYPES if name in REQUEST_TYPES and "required" in TYPES[name])
    for name in cases:
        fields = {
            field: TYPES[name]["properties"][field]["examples"][0]
            for field in TYPES[name]["required"]
        }
        assert msgspec.convert(fields, REQUEST_TYPES[name]), name
