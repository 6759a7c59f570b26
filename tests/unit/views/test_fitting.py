"""What fits is told, what is told fits, and what is missing is admitted."""

from __future__ import annotations

from itertools import chain, zip_longest

from hypothesis import given
from hypothesis import strategies as st

from holdfast.brief.tokens import cost, estimate, units
from holdfast.views.fitting import CUT, LEAST, ROUNDING, Section, fitted, shortened

TITLE = "# Restored Context"
LINES = st.lists(st.text("ab é(", min_size=1, max_size=300), max_size=30)


@given(st.lists(LINES, min_size=1, max_size=4), st.integers(1, 3000), st.integers(1, 9500))
def test_the_limit_is_hard_and_what_is_missing_is_admitted(
    parts: list[list[str]], tokens: int, characters: int
) -> None:
    sections = [Section(f"## {n}", lines, is_prose=n == 0) for n, lines in enumerate(parts)]
    text = fitted(TITLE, sections, tokens=tokens, characters=characters)
    assert estimate(text) <= tokens
    assert units(text) <= characters
    told = text.split("\n")
    if text and not text.endswith(CUT):
        assert all(line in told for lines in parts for line in lines)


@given(
    st.lists(st.lists(st.text("aé/7", min_size=1, max_size=LEAST), max_size=30), max_size=3),
    st.integers(1, 300),
)
def test_whatever_still_fits_is_told(parts: list[list[str]], tokens: int) -> None:
    """As if one line after the other had been tried, of every section the first, and so on."""
    left = tokens - ROUNDING - cost(f"{TITLE}\n\n{CUT}\n")
    kept: list[list[str]] = [[] for _ in parts]
    for row in zip_longest(*parts):
        for number, line in enumerate(row):
            told = [line] if kept[number] else ["", f"## {number}", line]
            if line is not None and (size := cost("\n".join([*told, ""]))) <= left:
                kept[number] += told
                left -= size
    sections = [Section(f"## {number}", lines) for number, lines in enumerate(parts)]
    text = fitted(TITLE, sections, tokens=tokens, characters=9500, is_part=True)
    assert text == ("\n".join([TITLE, *chain(*kept), "", CUT]) if any(kept) else "")


def test_lines_are_shortened_before_any_of_them_goes() -> None:
    lines = [f"- {number}: {'some of many words ' * 20}" for number in range(10)]
    text = fitted("", [Section("## Key", lines)], tokens=800, characters=9000)
    assert [line[:4] for line in text.split("\n") if line.startswith("- ")] == [
        line[:4] for line in lines
    ]
    assert text.count("…") == 10
    assert text.endswith(CUT)
    assert estimate(text) > 700, "there was room for more"


def test_every_section_keeps_its_first_lines_when_some_must_go() -> None:
    many = [Section(f"## {n}", [f"- {n}-{m} and more" for m in range(500)]) for n in "abc"]
    text = fitted(TITLE, many, tokens=300, characters=9000)
    kept = [[m for m in range(500) if f"- {n}-{m} and" in text] for n in "abc"]
    assert all(numbers == list(range(len(numbers))) for numbers in kept)
    assert min(map(len, kept)) >= 5


def test_how_it_stands_stays_when_a_line_is_shortened() -> None:
    assert (
        shortened("- backend: write the routes (running)", 30) == "- backend: write th… (running)"
    )
    assert shortened("- a (b) c", 30) == "- a (b) c"
