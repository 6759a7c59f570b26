"""Charts: positions of labels, intervals, escaping, and reports without data."""

from __future__ import annotations

import itertools
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.eval import chart
from holdfast.eval.chart import ChartLibraryMissing, render_image, render_page, spread_out


def make_report(method: str, *means: float, interval: float | None = None) -> dict[str, Any]:
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


def test_labels_with_enough_room_are_not_moved() -> None:
    assert spread_out([0.9, 0.1], 0.05) == [0.9, 0.1]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_labels_keep_their_order_and_distance_within_the_chart(wanted: list[float]) -> None:
    positions = spread_out(sorted(wanted, reverse=True), 0.05)
    assert all(high - 0.05 >= low - 1e-9 for high, low in itertools.pairwise(positions))
    assert positions[0] <= 1 + 1e-9
    assert positions[-1] >= -1e-9


def test_only_a_method_with_an_interval_gets_a_band() -> None:
    assert "interval" not in render_image(make_report("brief", 0.5, 0.6))
    assert "interval" in render_image(make_report("brief", 0.5, 0.6, interval=0.1))


def test_method_names_are_escaped() -> None:
    text = render_page(make_report("<b> $x$", 0.5, 0.6))
    assert "60 &lt;b&gt; $x$" in text
    assert "<b>" not in text


def test_an_image_has_a_title_and_a_description() -> None:
    image = ElementTree.fromstring(render_image(make_report("brief", 0.5, 0.6)))
    title, description = (image.find(f"{{http://www.w3.org/2000/svg}}{tag}") for tag in
                          ("title", "desc"))  # fmt: skip
    assert title is not None
    assert title.text == "Recall against budget. Real compactions"
    assert description is not None
    assert description.text == "Recall in per cent at the largest budget: brief 60."


def test_the_same_report_gives_the_same_page() -> None:
    same = make_report("brief", 0.5, 0.6, interval=0.1)
    assert render_page(same) == render_page(same)


def test_a_report_without_curves_is_no_error() -> None:
    ElementTree.fromstring(render_image(make_report("brief")))
    assert "<figure>" not in render_page(make_report("brief", 0.5))


def test_without_matplotlib_the_hint_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(chart, "find_spec", lambda name: None)
    with pytest.raises(ChartLibraryMissing) as raised:
        render_image(make_report("brief", 0.5, 0.6))
    assert raised.value.hint == "pip install 'holdfast[eval]'"
