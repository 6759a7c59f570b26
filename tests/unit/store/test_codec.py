"""States as text and bytes: nothing is lost but secrets, and whatever comes back can be used."""

from __future__ import annotations

import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.state.fold import VERSION, new_state
from holdfast.store import codec

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
PLAIN = st.text(st.characters(codec=None), max_size=30)


@given(st.lists(PLAIN, max_size=5), st.dictionaries(PLAIN, st.integers(), max_size=5))
def test_what_is_packed_comes_back_letter_by_letter(texts: list[str], more: Any) -> None:
    state: Any = {**new_state(), "requests": texts, "place": more}
    text = codec.encode_state(state)
    assert codec.decompress(codec.compress(text)) == text
    assert codec.decode_state(text) == state


@pytest.mark.parametrize("hidden", [TOKEN, f"export GITHUB_TOKEN={TOKEN}", f"a\n{TOKEN}\nb"])
def test_secrets_are_taken_out_wherever_they_stand(hidden: str) -> None:
    state: Any = {**new_state(), "place": {hidden: "x", "cwd": hidden}, "bad_lines": [[[hidden]]]}
    assert TOKEN not in codec.encode_state(state)
    assert TOKEN in str(state), "the caller's own state is not touched"


def test_text_on_disk_is_ascii_whatever_it_says() -> None:
    state = new_state()
    state["branch"] = "日本語 \ud83d"
    assert codec.encode_state(state).isascii()


def test_a_state_that_cannot_be_read_is_empty_and_of_no_version() -> None:
    for text in ["", "{", "no", "[]", "null", "7", '"text"', '{"version":1,']:
        state = codec.decode_state(text)
        assert state == {**new_state(), "version": 0}, text
        assert state["version"] != VERSION, text  # so the log is folded again


@given(PLAIN, PLAIN)
def test_what_is_packed_tightly_comes_back_letter_by_letter(one: str, other: str) -> None:
    state: Any = {**new_state(), "place": {"a": one}}
    text, told = codec.encode_state(state), codec.encode_state({**state, "place": {"a": other}})
    assert codec.decompress(codec.compress_tightly(text)) == text
    beside = codec.compress_delta(text, "b4se", told)
    assert codec.base_id(beside) == "b4se"
    assert codec.decompress(beside, told) == text


def test_how_it_was_packed_can_be_seen() -> None:
    text = codec.encode_state(new_state())
    assert not codec.is_tightly_compressed(codec.compress(text))
    assert codec.is_tightly_compressed(codec.compress_tightly(text))
    assert codec.is_tightly_compressed(codec.compress_delta(text, "b4se", text))
    assert codec.base_id(codec.compress_tightly(text)) == ""


def test_another_text_than_it_was_packed_beside_is_refused() -> None:
    text = codec.encode_state(new_state())
    with pytest.raises(zlib.error):
        codec.decompress(codec.compress_delta(text, "b4se", text), text + " ")
