"""Fitting sections into a budget."""

from __future__ import annotations

from itertools import chain, zip_longest

from hypothesis import given
from hypothesis import strategies as st

from holdfast.brief.fit_sections import (
    MIN_LINE_CHARS,
    ROUNDING_TOKENS,
    TRUNCATION_NOTICE,
    Section,
    fit_sections,
    shorten_line,
)
from holdfast.tokens.estimate import estimate_tokens, token_cost, utf16_units

TITLE = "# Restored Context"
LINES = st.lists(st.text("ab é(", min_size=1, max_size=300), max_size=30)


@given(st.lists(LINES, min_size=1, max_size=4), st.integers(1, 3000), st.integers(1, 9500))
def test_the_limit_is_never_exceeded_and_truncation_is_stated(
    parts: list[list[str]], tokens: int, characters: int
) -> None:
    sections = [Section(f"## {n}", lines, is_prose=n == 0) for n, lines in enumerate(parts)]
    text = fit_sections(TITLE, sections, tokens=tokens, characters=characters)
    assert estimate_tokens(text) <= tokens
    assert utf16_units(text) <= characters
    shown = text.split("\n")
    if text and not text.endswith(TRUNCATION_NOTICE):
        assert all(line in shown for lines in parts for line in lines)


@given(
    st.lists(
        st.lists(st.text("aé/7", min_size=1, max_size=MIN_LINE_CHARS), max_size=30), max_size=3
    ),
    st.integers(1, 300),
)
def test_later_lines_that_still_fit_are_shown(parts: list[list[str]], tokens: int) -> None:
    """The expected selection, by trying line after line: first lines, then second ones."""
    left = tokens - ROUNDING_TOKENS - token_cost(f"{TITLE}\n\n{TRUNCATION_NOTICE}\n")
    kept: list[list[str]] = [[] for _ in parts]
    for row in zip_longest(*parts):
        for number, line in enumerate(row):
            lines = [line] if kept[number] else ["", f"## {number}", line]
            if line is not None and (size := token_cost("\n".join([*lines, ""]))) <= left:
                kept[number] += lines
                left -= size
    sections = [Section(f"## {number}", lines) for number, lines in enumerate(parts)]
    text = fit_sections(TITLE, sections, tokens=tokens, characters=9500, is_partial=True)
    assert text == ("\n".join([TITLE, *chain(*kept), "", TRUNCATION_NOTICE]) if any(kept) else "")


def test_lines_are_shortened_before_any_is_left_out() -> None:
    lines = [f"- {number}: {'some of many words ' * 20}" for number in range(10)]
    text = fit_sections("", [Section("## Key", lines)], tokens=800, characters=9000)
    assert [line[:4] for line in text.split("\n") if line.startswith("- ")] == [
        line[:4] for line in lines
    ]
    assert text.count("…") == 10
    assert text.endswith(TRUNCATION_NOTICE)
    assert estimate_tokens(text) > 700, "there was room for more"


def test_every_section_keeps_its_first_lines_when_some_are_left_out() -> None:
    many = [Section(f"## {n}", [f"- {n}-{m} and more" for m in range(500)]) for n in "abc"]
    text = fit_sections(TITLE, many, tokens=300, characters=9000)
    kept = [[m for m in range(500) if f"- {n}-{m} and" in text] for n in "abc"]
    assert all(numbers == list(range(len(numbers))) for numbers in kept)
    assert min(map(len, kept)) >= 5


def test_a_suffix_in_brackets_stays_when_a_line_is_shortened() -> None:
    assert (
        shorten_line("- backend: write the routes (running)", 30)
        == "- backend: write th… (running)"
    )
    assert shorten_line("- a (b) c", 30) == "- a (b) c"
