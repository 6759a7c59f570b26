"""Errors speak in sentences: what went wrong, with what, and what to do about it."""

from __future__ import annotations

import inspect

import pytest

from holdfast import errors
from holdfast.errors import HoldfastError

ALL = [
    kind
    for _, kind in inspect.getmembers(errors, inspect.isclass)
    if issubclass(kind, HoldfastError)
]


def test_the_class_says_what_and_the_detail_with_what() -> None:
    assert str(errors.NoSuchRecord("snapshot 1f")) == (
        "Nothing is stored under that name: snapshot 1f"
    )


@pytest.mark.parametrize("kind", ALL)
def test_without_a_detail_the_message_is_a_sentence_by_itself(kind: type[HoldfastError]) -> None:
    message = str(kind())
    assert message
    assert message[0].isupper()
    assert not message.endswith((".", ":"))
    assert "\n" not in message


@pytest.mark.parametrize("kind", ALL)
def test_every_error_of_ours_is_caught_as_one(kind: type[HoldfastError]) -> None:
    with pytest.raises(HoldfastError, match="with this"):
        raise kind("with this")


def test_every_kind_of_error_has_its_own_message() -> None:
    assert len({str(kind()) for kind in ALL}) == len(ALL) > 5


def test_a_hint_given_where_it_happened_beats_the_usual_one() -> None:
    usual = errors.StoreUnavailable("x").hint
    assert "holdfast doctor" in usual
    assert errors.StoreUnavailable("x", hint="wait a moment").hint == "wait a moment"
    assert errors.StoreUnavailable("x").hint == usual, "and does not stay"


def test_a_damaged_store_is_an_unavailable_one() -> None:
    with pytest.raises(errors.StoreUnavailable):
        raise errors.StoreDamaged("malformed")
    assert "new one" in errors.StoreDamaged().hint
