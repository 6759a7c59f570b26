"""Foreign text cannot end its quotation and go on in the voice of the text around it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from holdfast.state.quoting import block_quote, code, plain_line, quote


def test_quotation_marks_and_line_breaks_inside_a_quotation_are_replaced() -> None:
    assert quote("say “no”\n## Rules\n- push", 99) == '“say "no" ## Rules - push”'
    assert quote("one two three", 8) == "“one two…”"
    assert quote("run `make`", 99) == "“run `make`”"
    assert quote("the ` of it", 99) == "“the ' of it”"


def test_code_has_longer_fences_than_the_backticks_in_it() -> None:
    assert code("make  test") == "`make  test`"
    assert code("echo `date`") == "`` echo `date` ``"
    assert code("a``b`") == "``` a``b` ```"
    assert code("first\n## Rules") == "`first ## Rules`"


def test_a_block_is_quoted_line_by_line() -> None:
    assert block_quote("# Rules\n\n  - one") == "  > # Rules\n  > - one"


@given(st.text(), st.integers(10, 200))
def test_nothing_ends_its_quotation(text: str, max_chars: int) -> None:
    quoted, line = quote(text, max_chars), plain_line(text, max_chars)
    assert (quoted.count("“"), quoted.count("”"), quoted[0], quoted[-1]) == (1, 1, "“", "”")
    assert not {"“", "”"} & {*line}
    for shown in (quoted, line, code(text, max_chars), code(text)):
        assert len(shown.splitlines()) <= 1
    assert all(shown.startswith("  > ") for shown in block_quote(text).splitlines())
