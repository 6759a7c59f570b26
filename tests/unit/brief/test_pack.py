"""Choosing the items that fit a budget."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from holdfast.brief.items import Item
from holdfast.brief.pack import BriefBudget, pack_items
from holdfast.tokens.estimate import token_cost, utf16_units


def heading(section: str) -> str:
    return f"\n## {section}"


def item(value: float, *forms: str, is_required: bool = False, section: str = "a") -> Item:
    return Item(section, "plan", value, 1, forms, is_required=is_required)


def shown(items: list[Item], tokens: float, characters: int = 10_000) -> list[str]:
    return [form for _, form in pack_items(items, BriefBudget(tokens, characters), heading)]


def test_everything_is_shown_in_full_when_there_is_room() -> None:
    items = [item(1, "one full", "one"), item(2, "two full", "two")]
    assert shown(items, 100) == ["one full", "two full"]


def test_the_more_valuable_item_wins_and_the_order_stays() -> None:
    items = [item(1, "- the first of them"), item(9, "- the second one"), item(5, "- a third one")]
    room = token_cost(heading("a") + "\n- the second one\n- a third one") + 1.5
    assert shown(items, room) == ["- the second one", "- a third one"]


def test_a_required_item_is_shown_short_rather_than_dropped_for_something_more_valuable() -> None:
    long = "- " + "word " * 30
    items = [
        item(99, long),
        item(1, "- required and said at length and more", "- required", is_required=True),
    ]
    assert "- required" in shown(items, token_cost(heading("a") + "\n- required") + 3)


def test_a_required_item_is_shown_in_full_when_there_is_room_for_it() -> None:
    items = [item(1, "- required and said at length", "- required", is_required=True)]
    assert shown(items, 50) == ["- required and said at length"]


def test_the_character_limit_holds_even_when_tokens_are_left() -> None:
    items = [item(2, "x" * 30), item(1, "y" * 30)]
    assert shown(items, 1000, characters=50) == ["x" * 30]


def test_a_heading_counts_once() -> None:
    items = [item(2, "- one"), item(1, "- two")]
    room = token_cost(heading("a") + "\n- one") + 0.4 + token_cost("- two") + 0.4
    assert shown(items, room + 0.01) == ["- one", "- two"]


@given(
    st.lists(
        st.tuples(
            st.floats(0, 100),
            st.lists(st.text(min_size=1, max_size=80), min_size=1, max_size=3),
            st.booleans(),
            st.sampled_from("abc"),
        ),
        max_size=25,
    ),
    st.integers(0, 200),
    st.integers(0, 600),
)
def test_no_budget_is_ever_exceeded(
    parts: list[tuple[float, list[str], bool, str]], tokens: int, characters: int
) -> None:
    items = [
        item(value, *forms, is_required=required, section=section)
        for value, forms, required, section in parts
    ]
    items.sort(key=lambda one: one.section)
    lines: list[str] = []
    section = ""
    for one, form in pack_items(items, BriefBudget(tokens, characters), heading):
        if one.section != section:
            section = one.section
            lines.append(heading(section))
        lines.append(form)
    text = "\n".join(lines)
    assert token_cost(text) <= tokens
    assert utf16_units(text) <= characters
