"""States as text and bytes: nothing is lost but secrets, and whatever comes back can be used."""

from __future__ import annotations

import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.state.fold import VERSION, new_state
from holdfast.store import encoding

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
PLAIN = st.text(st.characters(codec=None), max_size=30)


@given(st.lists(PLAIN, max_size=5), st.dictionaries(PLAIN, st.integers(), max_size=5))
def test_what_is_packed_comes_back_letter_by_letter(texts: list[str], more: Any) -> None:
    state: Any = {**new_state(), "requests": texts, "place": more}
    text = encoding.dump(state)
    assert encoding.unpack(encoding.pack(text)) == text
    assert encoding.load(text) == state


@pytest.mark.parametrize("hidden", [TOKEN, f"export GITHUB_TOKEN={TOKEN}", f"a\n{TOKEN}\nb"])
def test_secrets_are_taken_out_wherever_they_stand(hidden: str) -> None:
    state: Any = {**new_state(), "place": {hidden: "x", "cwd": hidden}, "bad_lines": [[[hidden]]]}
    assert TOKEN not in encoding.dump(state)
    assert TOKEN in str(state), "the caller's own state is not touched"


def test_text_on_disk_is_ascii_whatever_it_says() -> None:
    state = new_state()
    state["branch"] = "日本語 \ud83d"
    assert encoding.dump(state).isascii()


@pytest.mark.parametrize("text", ["", "{", "no", "[]", "null", "7", '"text"', '{"version":1,'])
def test_a_state_that_cannot_be_read_is_empty_and_of_no_version(text: str) -> None:
    state = encoding.load(text)
    assert state == {**new_state(), "version": 0}
    assert state["version"] != VERSION, "so the log is folded again"


@given(PLAIN, PLAIN)
def test_what_is_packed_tightly_comes_back_letter_by_letter(one: str, other: str) -> None:
    state: Any = {**new_state(), "place": {"a": one}}
    text, told = encoding.dump(state), encoding.dump({**state, "place": {"a": other}})
    assert encoding.unpack(encoding.pack_tight(text)) == text
    beside = encoding.pack_beside(text, "b4se", told)
    assert encoding.base_of(beside) == "b4se"
    assert encoding.unpack(beside, told) == text


def test_how_it_was_packed_can_be_seen() -> None:
    text = encoding.dump(new_state())
    assert not encoding.is_tight(encoding.pack(text))
    assert encoding.is_tight(encoding.pack_tight(text))
    assert encoding.is_tight(encoding.pack_beside(text, "b4se", text))
    assert encoding.base_of(encoding.pack_tight(text)) == ""


def test_another_text_than_it_was_packed_beside_is_refused() -> None:
    text = encoding.dump(new_state())
    with pytest.raises(zlib.error):
        encoding.unpack(encoding.pack_beside(text, "b4se", text), text + " ")
