"""Templates escape all text, and text from logs cannot hide or reorder what is shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import UndefinedError

from holdfast.server.web.marked_text import Mark, Piece, mark_text
from holdfast.server.web.rendering import (
    clean,
    format_age,
    format_plural,
    format_tokens,
    make_environment,
    to_safe_json,
    to_shares,
)


def render(template: str, **values: object) -> str:
    return make_environment().from_string(template).render(**values)


def test_text_is_escaped_and_cleaned_without_any_filter() -> None:
    text = "<b>x</b>\x1b[31m\u202eevil\x00\u200b & 'quoted'"
    assert render("{{ text }}", text=text) == "&lt;b&gt;x&lt;/b&gt;evil &amp; &#39;quoted&#39;"
    assert render('<a title="{{ text }}">', text='" onclick="x') == (
        '<a title="&#34; onclick=&#34;x">'
    )


def test_what_a_macro_rendered_is_not_escaped_again() -> None:
    template = "{% macro part(text) %}<i>{{ text }}</i>{% endmacro %}{{ part('<') }}"
    assert render(template) == "<i>&lt;</i>"


def test_an_unknown_variable_is_an_error() -> None:
    with pytest.raises(UndefinedError):
        render("{{ missing }}")


def test_a_long_text_is_cut() -> None:
    assert clean("x" * 30_000) == "x" * 20_000 + "…"
    assert clean("a\tb\nc", 2) == "a\t…"


@given(st.text())
def test_cleaning_removes_every_control_and_direction_character(text: str) -> None:
    assert not {"\x1b", "\x00", "\x9b", "\u202e", "\u2066", "\u200f"} & {*clean(text)}


def test_json_in_a_script_element_cannot_end_it() -> None:
    assert "<" not in to_safe_json('{"a":"</script><script>"}')


def test_numbers_are_told_shortly() -> None:
    assert [format_tokens(number) for number in (None, 950, 1000, 149_331, 1_000_000)] == [
        "–", "950", "1k", "149k", "1M",
    ]  # fmt: skip
    assert [format_plural(number, "turn") for number in (0, 1, 2000)] == [
        "0 turns", "1 turn", "2,000 turns",
    ]  # fmt: skip
    ages = [format_age(1000 - ago, 1000) for ago in (1, 30, 90, 7200, 200_000)]
    assert ages == ["just now", "30 s ago", "1 min ago", "2 h ago", "2 d ago"]
    assert format_age(None) == "–"


def test_shares_of_a_bar_follow_each_other_and_never_exceed_it() -> None:
    shares = to_shares([("a", 30), ("none", 0), ("b", 20)], 100)
    assert [(one["name"], one["start"], one["width"]) for one in shares] == [
        ("a", 0, 30), ("b", 30, 20),
    ]  # fmt: skip
    assert sum(one["width"] for one in to_shares([("a", 300), ("b", 100)], 100)) == 100


def test_marks_colour_parts_of_a_text_once() -> None:
    marks = [
        Mark("two three", "kept"),
        Mark("three", "differs"),
        Mark("absent", "kept"),
        Mark("", ""),
    ]
    assert mark_text("one two three four", marks) == [
        Piece("one "), Piece("two three", "kept"), Piece(" four"),
    ]  # fmt: skip
    assert mark_text("", marks) == []


@given(st.text(), st.lists(st.text(max_size=5), max_size=6))
def test_marking_keeps_the_text(text: str, parts: list[str]) -> None:
    pieces = mark_text(text, [Mark(part, "kept") for part in parts])
    assert "".join(piece.text for piece in pieces) == text
