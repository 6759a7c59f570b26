"""Redacting, clipping, splitting and matching text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.state.text import (
    Cues,
    TokenizedText,
    clip,
    one_line,
    redact_and_clip,
    split_sentences,
    to_text,
)


def test_prose_is_split_into_sentences_and_code_is_left_out() -> None:
    cases = [
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
    ]
    for text, sentences in cases:
        assert split_sentences(text) == sentences, text


@given(st.text())
def test_sentences_are_verbatim(text: str) -> None:
    position = 0
    for sentence in split_sentences(text):
        assert sentence == sentence.strip() != ""
        position = text.index(sentence, position) + len(sentence)


@pytest.mark.parametrize(
    ("text", "max_chars", "clipped"),
    [("abc", 3, "abc"), ("abcd", 3, "ab…"), ("a  bcd", 4, "a…"), ("", 1, "")],
)
def test_only_text_that_is_too_long_is_clipped(text: str, max_chars: int, clipped: str) -> None:
    assert clip(text, max_chars) == clipped


@given(st.text(), st.integers(1, 50))
def test_clipped_text_is_never_longer_than_the_limit(text: str, max_chars: int) -> None:
    assert len(clip(text, max_chars)) <= max_chars
    assert len(one_line(text, max_chars)) <= max_chars
    assert len(one_line(text, max_chars).splitlines()) <= 1


def test_a_secret_is_redacted_before_the_text_is_cut() -> None:
    token = "ghp_" + "a1B2" * 9
    assert "a1B2" not in redact_and_clip(f"use {token}", 14)


def test_a_cue_matches_whole_words_only() -> None:
    cases = [
        ("Never push.", "never", True),
        ("never", "never", True),
        ("Push? NEVER!", "never", True),
        ("**never**/always", "always", True),
        ("nevermore", "never", False),
        ("Don’t do it", "don't", True),
        ("do\n not", "do not", True),
        ("do it, not that", "do not", False),
    ]
    for text, cue, matches in cases:
        assert Cues("nothing", cue).match(TokenizedText(text)) == matches, (text, cue)


@pytest.mark.parametrize(
    ("value", "text"),
    [("a", "a"), (7, "7"), (0, "0"), (1.5, "1.5"), (None, ""), (["a"], ""), ({"a": 1}, "")],
)
def test_numbers_become_text_and_other_values_become_empty(value: object, text: str) -> None:
    assert to_text(value) == text


def test_a_redaction_marker_is_never_cut_in_half() -> None:
    text = "password: [redacted:assignment] and more"
    assert clip(text, 16) == "password:…"
    assert clip(text, 35) == "password: [redacted:assignment] an…"


@pytest.mark.parametrize(
    ("text", "max_chars", "expected"),
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
    text: str, max_chars: int, expected: str
) -> None:
    assert one_line(text, max_chars) == expected
