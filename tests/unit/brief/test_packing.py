"""Choosing the items that fit a budget."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from holdfast.brief.items import Item
from holdfast.brief.packing import BriefBudget, pack_items
from holdfast.tokens.estimate import token_cost, utf16_units


def heading(section: str) -> str:
    return f"\n## {section}"


def item(value: float, *forms: str, is_required: bool = False, section: str = "a") -> Item:
    return Item(section, "plan", value, 1, forms, is_required=is_required)


def shown(items: list[Item], tokens: float, characters: int = 10_000) -> list[str]:
    return [form for _, form in pack_items(items, BriefBudget(tokens, characters), heading)[0]]


def test_everything_is_shown_in_full_when_there_is_room() -> None:
    items = [item(10, "one full", "one"), item(20, "two full", "two")]
    assert shown(items, 100) == ["one full", "two full"]


def test_the_more_valuable_item_wins_and_the_order_stays() -> None:
    items = [
        item(10, "- the first of them"),
        item(90, "- the second one"),
        item(50, "- a third one"),
    ]
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
    items = [item(10, "- required and said at length", "- required", is_required=True)]
    assert shown(items, 50) == ["- required and said at length"]


def test_the_character_limit_holds_even_when_tokens_are_left() -> None:
    items = [item(20, "x" * 30), item(10, "y" * 30)]
    assert shown(items, 1000, characters=50) == ["x" * 30]


def test_short_texts_of_the_same_value_come_before_long_ones() -> None:
    long = "- " + "word " * 30
    items = [item(50, long), *(item(50, f"- short number {n}") for n in range(4))]
    room = token_cost(heading("a") + "".join(f"\n- short number {n}" for n in range(4))) + 4
    assert shown(items, room) == [f"- short number {n}" for n in range(4)]


def test_what_is_not_worth_its_room_is_left_out_though_there_is_room() -> None:
    worthless = item(50, "- the summary says this already")
    worthless.novelty = 0.0
    chosen, is_truncated = pack_items(
        [worthless, item(50, "- new")], BriefBudget(1000, 10_000), heading
    )
    assert [form for _, form in chosen] == ["- new"]
    assert not is_truncated


def test_a_worthwhile_item_that_does_not_fit_is_reported() -> None:
    _, is_truncated = pack_items([item(50, "word " * 50)], BriefBudget(20, 10_000), heading)
    assert is_truncated


def test_a_heading_counts_once() -> None:
    items = [item(20, "- one"), item(10, "- two")]
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
    for one, form in pack_items(items, BriefBudget(tokens, characters), heading)[0]:
        if one.section != section:
            section = one.section
            lines.append(heading(section))
        lines.append(form)
    text = "\n".join(lines)
    assert token_cost(text) <= tokens
    assert utf16_units(text) <= characters
