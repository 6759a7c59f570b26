"""An excerpt consists of unchanged lines of the text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from holdfast.search.excerpt import make_excerpt

TEXT = "\n".join(f"line {number} of the file" for number in range(100))


def test_an_excerpt_is_whole_lines_around_the_position() -> None:
    excerpt = make_excerpt(TEXT, TEXT.index("line 50"), 100)
    assert excerpt.splitlines() == [
        "…",
        "line 48 of the file",
        "line 49 of the file",
        "line 50 of the file",
        "line 51 of the file",
        "line 52 of the file",
        "…",
    ]


def test_a_short_text_is_shown_whole() -> None:
    assert make_excerpt("a\n\tb\n", 0) == "a\n\tb"


def test_the_ends_of_a_text_have_no_dots() -> None:
    assert make_excerpt(TEXT, 0, 100).startswith("line 0 of")
    assert make_excerpt(TEXT, len(TEXT), 100).endswith("line 99 of the file")


def test_a_line_that_is_too_long_is_cut_around_the_position() -> None:
    excerpt = make_excerpt("x" * 5000 + "HERE" + "y" * 5000, 5000, 100)
    assert excerpt == "…" + "x" * 50 + "HERE" + "y" * 46 + "…"


@given(st.text(max_size=400), st.integers(0, 400), st.integers(1, 120))
def test_an_excerpt_is_always_a_part_of_the_text(text: str, position: int, max_chars: int) -> None:
    excerpt = make_excerpt(text, position, max_chars)
    inner = excerpt.removeprefix("…").removesuffix("…").strip("\n")
    assert inner in text
    assert len(excerpt) <= max_chars + 4
