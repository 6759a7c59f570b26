"""Token estimates and UTF-16 units."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.tokens.estimate import (
    EARLIER_RATES,
    MAX_CACHED_WORDS,
    NEWEST_RATES,
    PROSE_CHARS,
    RATES,
    count_characters,
    estimate_tokens,
    token_cost,
    tokenizer_generation,
    utf16_units,
)


def test_prose_is_counted_at_three_characters_a_token() -> None:
    prose = "the worker puts a failed job back into the queue without any delay at all " * 20
    assert estimate_tokens(prose) == pytest.approx(len(prose) / 3.0, rel=0.02)


def test_paths_and_identifiers_have_more_tokens_than_prose() -> None:
    paths = "src/courier/backoff.py tests/test_worker.py retry_cap_seconds Worker.run_once " * 20
    assert estimate_tokens(paths) == pytest.approx(len(paths) / 2.4, rel=0.02)


@pytest.mark.parametrize("text", ["다음에 해야할 작업", "日本語のテキスト", "🙂🙂🙂", "—×…“”"])
def test_each_character_outside_ascii_counts_as_a_token(text: str) -> None:
    assert estimate_tokens(text) >= len(text.replace(" ", ""))


@pytest.mark.parametrize(
    ("model", "rates"),
    [
        ("claude-opus-4-6", EARLIER_RATES), ("gpt-5.2-codex", EARLIER_RATES),
        ("claude-opus-4-7", NEWEST_RATES),
        ("", NEWEST_RATES), ("something-else", NEWEST_RATES),
    ],
)  # fmt: skip
def test_an_unknown_model_is_counted_with_the_newest_rates(
    model: str, rates: tuple[float, float]
) -> None:
    assert RATES[tokenizer_generation(model)] == rates


def test_names_prose_and_non_ascii_are_counted_separately() -> None:
    cases = [
        ("Put it back, now.", (0, 18, 0)),
        ("see a/b.py x1", (10, 4, 0)),
        ("“naïve” façade", (0, 11, 4)),
        ("über a\u00a0b", (0, 8, 1)),
        ("  \n ", (0, 0, 0)),
        ("x" * 32, (0, 33, 0)),
        ("x" * 33, (34, 0, 0)),
        ("x" * 500, (501, 0, 0)),
        ("\ud83d half", (1, 5, 1)),
    ]
    for text, expected in cases:
        assert count_characters(text) == count_characters(text) == expected, text


def test_the_word_cache_is_bounded() -> None:
    for number in range(3 * MAX_CACHED_WORDS):
        assert count_characters(f"n{number} word") == (len(str(number)) + 2, 5, 0)
    assert len(PROSE_CHARS) <= MAX_CACHED_WORDS


def test_an_empty_text_has_no_tokens() -> None:
    assert estimate_tokens("") == 0


@given(st.lists(st.text(), max_size=20))
def test_joined_lines_cost_no_more_than_the_lines_alone(lines: list[str]) -> None:
    """A brief is filled line by line, so the sum must be an upper bound."""
    clean = [line.replace("\n", " ").replace("\r", " ") for line in lines]
    separately = sum(token_cost(line) + 0.4 for line in clean)
    assert token_cost("\n".join(clean)) <= separately + 1e-6


@pytest.mark.parametrize(("text", "count"), [("abc", 3), ("Привет", 6), ("🙂", 2), ("", 0)])
def test_utf16_units_are_counted(text: str, count: int) -> None:
    assert utf16_units(text) == count == len(text.encode("utf-16-le")) // 2
