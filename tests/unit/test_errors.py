"""Error messages are sentences: what failed, on which object, and what to do about it."""

from __future__ import annotations

import inspect

import pytest

from holdfast import errors
from holdfast.errors import HoldfastError
from tests.cases import report_case

ERROR_CLASSES = [
    kind
    for _, kind in inspect.getmembers(errors, inspect.isclass)
    if issubclass(kind, HoldfastError)
]


def test_the_message_is_the_docstring_followed_by_the_detail() -> None:
    assert str(errors.BadTemplate("x.md")) == "A brief template cannot be read: x.md"


def test_a_detail_that_is_a_sentence_replaces_the_docstring() -> None:
    assert str(errors.NotFound("No snapshot 1f")) == "No snapshot 1f"


def test_without_a_detail_the_message_is_one_sentence() -> None:
    for kind in ERROR_CLASSES:
        message = str(kind())
        assert message, kind
        assert message[0].isupper(), kind
        assert not message.endswith((".", ":")), kind
        assert "\n" not in message, kind


def test_every_error_is_a_holdfast_error() -> None:
    for kind in ERROR_CLASSES:
        with report_case(kind), pytest.raises(HoldfastError, match="with this"):
            raise kind("with this")


def test_no_two_errors_have_the_same_message() -> None:
    assert len({str(kind()) for kind in ERROR_CLASSES}) == len(ERROR_CLASSES) > 5


def test_the_hint_of_an_instance_replaces_the_hint_of_its_class() -> None:
    default = errors.StoreUnavailable("x").hint
    assert "holdfast doctor" in default
    assert errors.StoreUnavailable("x", hint="wait a moment").hint == "wait a moment"
    assert errors.StoreUnavailable("x").hint == default, "the class is unchanged"


def test_a_damaged_store_error_is_an_unavailable_store_error() -> None:
    with pytest.raises(errors.StoreUnavailable):
        raise errors.StoreDamaged("malformed")
    assert "new one" in errors.StoreDamaged().hint
