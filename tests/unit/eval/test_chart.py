"""Where names stand in a chart, and what becomes of odd figures."""

from __future__ import annotations

import itertools
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.eval import chart
from holdfast.eval.chart import ChartLibraryMissing, render_image, render_page, spread_out


def report(method: str, *means: float, interval: float | None = None) -> dict[str, Any]:
    results = [
        {
            "arm": "real",
            "method": method,
            "budget": 500 * number,
            "figures": {
                "frr": {
                    "mean": mean,
                    "low": interval and mean - interval,
                    "high": interval and mean + interval,
                }
            },
        }
        for number, mean in enumerate(means, 1)
    ]
    return {"sessions": 1, "repositories": 1, "cuts": {"real": 1}, "results": results}


def test_names_that_have_room_stand_where_they_belong() -> None:
    assert spread_out([0.9, 0.1], 0.05) == [0.9, 0.1]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_names_stand_apart_in_their_order_and_within_the_drawing(wanted: list[float]) -> None:
    places = spread_out(sorted(wanted, reverse=True), 0.05)
    assert all(high - 0.05 >= low - 1e-9 for high, low in itertools.pairwise(places))
    assert places[0] <= 1 + 1e-9
    assert places[-1] >= -1e-9


def test_only_a_method_with_an_interval_has_a_band() -> None:
    assert "interval" not in render_image(report("brief", 0.5, 0.6))
    assert "interval" in render_image(report("brief", 0.5, 0.6, interval=0.1))


def test_names_are_text_and_never_markup_or_mathematics() -> None:
    text = render_page(report("<b> $x$", 0.5, 0.6))
    assert "60 &lt;b&gt; $x$" in text
    assert "<b>" not in text


def test_a_drawing_has_a_name_and_a_description() -> None:
    drawing = ElementTree.fromstring(render_image(report("brief", 0.5, 0.6)))
    title, description = (drawing.find(f"{{http://www.w3.org/2000/svg}}{tag}") for tag in
                          ("title", "desc"))  # fmt: skip
    assert title is not None
    assert title.text == "Recall against budget. Real compactions"
    assert description is not None
    assert description.text == "Recall in per cent at the largest budget: brief 60."


def test_the_same_report_gives_the_same_page() -> None:
    one = report("brief", 0.5, 0.6, interval=0.1)
    assert render_page(one) == render_page(one)


def test_nothing_to_draw_is_no_error() -> None:
    ElementTree.fromstring(render_image(report("brief")))
    assert "<figure>" not in render_page(report("brief", 0.5))


def test_without_matplotlib_the_command_that_installs_it_is_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(chart, "find_spec", lambda name: None)
    with pytest.raises(ChartLibraryMissing) as raised:
        render_image(report("brief", 0.5, 0.6))
    assert raised.value.hint == "pip install 'holdfast[eval]'"
