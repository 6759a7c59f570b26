"""Whoever reads the description of the API finds every request and every field explained."""

from __future__ import annotations

import msgspec
import pytest
from docs.reference.api_page import description

from holdfast.surfaces.api import glossary, shapes

TOLD = description()
SHAPES = TOLD["components"]["schemas"]
OPERATIONS = {
    f"{method.upper()} {path}": (path, operation)
    for path, operations in TOLD["paths"].items()
    for method, operation in operations.items()
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_request_says_in_a_sentence_what_it_does(name: str) -> None:
    _, operation = OPERATIONS[name]
    assert " " in operation["summary"]
    assert operation["description"].startswith(operation["summary"])
    assert "\n" not in operation["description"]
    for one in operation["parameters"]:
        assert one["description"], one["name"]


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_says_of_every_field_what_it_means(name: str) -> None:
    for field, told in SHAPES[name]["properties"].items():
        assert told["description"], field


def test_nothing_is_explained_that_is_not_there() -> None:
    places = {(name, field) for name, one in SHAPES.items() for field in one["properties"]}
    places |= {
        (path, one["name"])
        for path, operation in OPERATIONS.values()
        for one in operation["parameters"]
    }
    exact = {f"{place}.{field}" for place, field in places}
    alone = {field for place, field in places if f"{place}.{field}" not in glossary.MEANINGS}
    assert set(glossary.MEANINGS) <= exact | alone


@pytest.mark.parametrize(
    "name", sorted(name for name in SHAPES if name in vars(shapes) and "required" in SHAPES[name])
)
def test_an_example_is_one_that_can_be_sent(name: str) -> None:
    needed = SHAPES[name]["required"]
    given = {field: SHAPES[name]["properties"][field]["examples"][0] for field in needed}
    assert msgspec.convert(given, vars(shapes)[name])
