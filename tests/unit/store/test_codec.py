"""Encoding and compression of states: nothing is lost; bad input gives an empty state."""

from __future__ import annotations

import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.state.fold import VERSION, new_state
from holdfast.store import codec

TEXTS = st.text(st.characters(codec=None), max_size=30)


@given(st.lists(TEXTS, max_size=5), st.dictionaries(TEXTS, st.integers(), max_size=5))
def test_a_state_survives_encoding_and_compression(texts: list[str], place: Any) -> None:
    state: Any = {**new_state(), "requests": texts, "place": place}
    text = codec.encode_state(state)
    assert codec.decompress(codec.compress(text)) == text
    assert codec.decode_state(text) == state


def test_an_encoded_state_is_ascii() -> None:
    state = new_state()
    state["branch"] = "日本語 \ud83d"
    assert codec.encode_state(state).isascii()


def test_an_unreadable_state_is_empty_and_has_version_0() -> None:
    for text in ["", "{", "no", "[]", "null", "7", '"text"', '{"version":1,']:
        state = codec.decode_state(text)
        assert state == {**new_state(), "version": 0}, text
        assert state["version"] != VERSION, text  # so that the transcript is folded again


@given(TEXTS, TEXTS)
def test_a_state_survives_tight_and_delta_compression(value: str, base_value: str) -> None:
    state: Any = {**new_state(), "place": {"a": value}}
    text = codec.encode_state(state)
    base = codec.encode_state({**state, "place": {"a": base_value}})
    assert codec.decompress(codec.compress_tightly(text)) == text
    delta = codec.compress_delta(text, "b4se", base)
    assert codec.get_base_id(delta) == "b4se"
    assert codec.decompress(delta, base) == text


def test_the_kind_of_compression_is_recognised() -> None:
    text = codec.encode_state(new_state())
    assert not codec.is_tightly_compressed(codec.compress(text))
    assert codec.is_tightly_compressed(codec.compress_tightly(text))
    assert codec.is_tightly_compressed(codec.compress_delta(text, "b4se", text))
    assert codec.get_base_id(codec.compress_tightly(text)) == ""


def test_a_delta_with_another_base_is_refused() -> None:
    text = codec.encode_state(new_state())
    with pytest.raises(zlib.error):
        codec.decompress(codec.compress_delta(text, "b4se", text), text + " ")
