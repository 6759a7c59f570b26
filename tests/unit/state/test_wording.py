"""How text is kept, cut into sentences, and matched by words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.state.wording import Cues, Heard, clip, keep, one_line, plain, sentences


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("Go on", ["Go on"]),
        ("Go on. Then stop!  Why? ", ["Go on.", "Then stop!", "Why?"]),
        ("Use v1.2.3 of a.py. Then stop.", ["Use v1.2.3 of a.py.", "Then stop."]),
        ("Wait... what?", ["Wait... what?"]),
        ("e.g. this. that too. Then stop.", ["e.g. this. that too.", "Then stop."]),
        ("Stop! Go on", ["Stop!", "Go on"]),
        ("Why? Go on", ["Why?", "Go on"]),
        ("好。go on", ["好。", "go on"]),
        ("Two lines\nare two sentences.", ["Two lines", "are two sentences."]),
        ("- one\n* two\n• three\n> four\n## five", ["one", "two", "three", "four", "five"]),
        ("先读文件。然后继续！好吗？", ["先读文件。", "然后继续！", "好吗？"]),
        ("Before.\n```py\nx = 1. \n```\nAfter.", ["Before.", "After."]),
        ("Before.\n  ```\nx\n  ```", ["Before."]),
        ("Before.\n```\nnever closed", ["Before."]),
        ("\r\n\t \n---\n", []),
    ],
)
def test_prose_is_cut_into_sentences_and_code_is_not(text: str, found: list[str]) -> None:
    assert sentences(text) == found


@given(st.text())
def test_a_sentence_is_what_was_said_word_for_word(text: str) -> None:
    at = 0
    for sentence in sentences(text):
        assert sentence == sentence.strip() != ""
        at = text.index(sentence, at) + len(sentence)


@pytest.mark.parametrize(
    ("text", "most", "clipped"),
    [("abc", 3, "abc"), ("abcd", 3, "ab…"), ("a  bcd", 4, "a…"), ("", 1, "")],
)
def test_text_is_cut_only_where_it_is_too_long(text: str, most: int, clipped: str) -> None:
    assert clip(text, most) == clipped


@given(st.text(), st.integers(1, 50))
def test_text_is_never_longer_than_it_may_be(text: str, most: int) -> None:
    assert len(clip(text, most)) <= most
    assert len(one_line(text, most)) <= most
    assert len(one_line(text, most).splitlines()) <= 1


def test_a_secret_is_taken_out_before_the_text_is_cut() -> None:
    token = "ghp_" + "a1B2" * 9
    assert "a1B2" not in keep(f"use {token}", 14)


@pytest.mark.parametrize(
    ("text", "cue", "found"),
    [
        ("Never push.", "never", True),
        ("never", "never", True),
        ("Push? NEVER!", "never", True),
        ("**never**/always", "always", True),
        ("nevermore", "never", False),
        ("Don’t do it", "don't", True),
        ("do\n not", "do not", True),
        ("do it, not that", "do not", False),
    ],
)
def test_a_cue_is_found_as_whole_words(text: str, cue: str, found: bool) -> None:
    assert Cues("nothing", cue).among(Heard(text)) == found


@pytest.mark.parametrize(
    ("value", "text"),
    [("a", "a"), (7, "7"), (0, "0"), (1.5, "1.5"), (None, ""), (["a"], ""), ({"a": 1}, "")],
)
def test_foreign_values_are_text_or_nothing(value: object, text: str) -> None:
    assert plain(value) == text


def test_a_mark_that_stands_for_a_secret_is_kept_whole_or_not_at_all() -> None:
    text = "password: [redacted:assignment] and more"
    assert clip(text, 16) == "password:…"
    assert clip(text, 35) == "password: [redacted:assignment] an…"


@pytest.mark.parametrize(
    ("text", "most", "told"),
    [
        ("one two three", 13, "one two three"),
        ("one two three", 12, "one two…"),
        ("one two three", 8, "one two…"),
        ("one  two\nthree four", 14, "one two three…"),
        ("x" * 40, 10, "x" * 9 + "…"),
        ("see " + "x" * 40, 30, "see " + "x" * 25 + "…"),
    ],
)
def test_a_line_is_cut_between_words_unless_one_is_very_long(
    text: str, most: int, told: str
) -> None:
    assert one_line(text, most) == told
