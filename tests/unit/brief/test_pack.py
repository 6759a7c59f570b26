"""Choosing what fits."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from holdfast.brief.item import Item
from holdfast.brief.pack import Room, pack
from holdfast.brief.tokens import cost, units


def heading(section: str) -> str:
    return f"\n## {section}"


def item(value: float, *forms: str, floor: bool = False, section: str = "a") -> Item:
    return Item(section, "plan", value, 1, forms, floor=floor)


def shown(items: list[Item], tokens: float, characters: int = 10_000) -> list[str]:
    return [form for _, form in pack(items, Room(tokens, characters), heading)]


def test_everything_is_shown_in_full_when_there_is_room() -> None:
    items = [item(1, "one full", "one"), item(2, "two full", "two")]
    assert shown(items, 100) == ["one full", "two full"]


def test_the_more_valuable_item_wins_and_the_order_stays() -> None:
    items = [item(1, "- the first of them"), item(9, "- the second one"), item(5, "- a third one")]
    room = cost(heading("a") + "\n- the second one\n- a third one") + 1.5
    assert shown(items, room) == ["- the second one", "- a third one"]


def test_a_floor_is_shown_short_rather_than_dropped_for_something_more_valuable() -> None:
    long = "- " + "word " * 30
    items = [item(99, long), item(1, "- a floor said at length and more", "- floor", floor=True)]
    assert "- floor" in shown(items, cost(heading("a") + "\n- floor") + 3)


def test_a_floor_is_shown_in_full_when_there_is_room_for_it() -> None:
    items = [item(1, "- a floor said at length", "- floor", floor=True)]
    assert shown(items, 50) == ["- a floor said at length"]


def test_the_host_s_characters_bind_even_when_tokens_are_left() -> None:
    items = [item(2, "x" * 30), item(1, "y" * 30)]
    assert shown(items, 1000, characters=50) == ["x" * 30]


def test_a_heading_is_paid_for_once() -> None:
    items = [item(2, "- one"), item(1, "- two")]
    room = cost(heading("a") + "\n- one") + 0.4 + cost("- two") + 0.4
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
        item(value, *forms, floor=floor, section=section) for value, forms, floor, section in parts
    ]
    items.sort(key=lambda one: one.section)
    lines: list[str] = []
    section = ""
    for one, form in pack(items, Room(tokens, characters), heading):
        if one.section != section:
            section = one.section
            lines.append(heading(section))
        lines.append(form)
    text = "\n".join(lines)
    assert cost(text) <= tokens
    assert units(text) <= characters
