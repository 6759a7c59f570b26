"""Where the names of lines stand in a drawing."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from holdfast.eval.plot import Plot, Point, apart


def test_names_that_have_room_stand_where_they_belong() -> None:
    assert apart({"a": 10.0, "b": 100.0}, 17, 0, 200) == {"a": 10.0, "b": 100.0}


@given(st.lists(st.floats(0, 300), min_size=1, max_size=12))
def test_names_stand_apart_in_their_order_and_within_the_drawing(wanted: list[float]) -> None:
    placed = apart({str(at): y for at, y in enumerate(wanted)}, 17, 0, 300)
    places = sorted(placed.values())
    assert all(low + 17 <= high + 1e-6 for low, high in itertools.pairwise(places))
    assert places[0] >= -1e-6
    assert places[-1] <= 300 + 1e-6
    order = sorted(placed, key=lambda name: wanted[int(name)])
    assert [wanted[int(name)] for name in sorted(placed, key=placed.__getitem__)] == [
        wanted[int(name)] for name in order
    ]


def test_a_method_without_an_interval_has_no_band() -> None:
    drawn = {"brief": [Point(500, 0.5), Point(1000, 0.6)]}
    assert "band" not in Plot(drawn, ["brief"], None, width=400, height=300, names=90).svg("wide")


def test_names_are_text_and_never_markup() -> None:
    drawn = {"<b>": [Point(500, 0.5), Point(1000, 0.6)]}
    text = Plot(drawn, [], None, width=400, height=300, names=90).svg("wide")
    assert "&lt;b&gt;" in text
    assert "<b>" not in text
