"""The page of `holdfast eval --chart` in a real browser."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest
from playwright.sync_api import Page

from holdfast.eval.chart import render_image, render_page
from tests.browser.conftest import OpenPage

METHODS = {
    "oracle": (0.97, 0.99, 1.0),
    "name dump by folder": (0.634, 0.762, 0.865),
    "name dump": (0.628, 0.757, 0.862),
    "brief": (0.508, 0.747, 0.826),
    "summary + names it lacks": (0.6, 0.7, 0.83),
    "summary + brief": (0.61, 0.71, 0.84),
    "actions tail": (0.263, 0.382, 0.515),
    "head + tail": (0.25, 0.37, 0.51),
    "template": (0.242, 0.301, 0.312),
    "raw tail": (0.109, 0.195, 0.301),
    "text tail": (0.08, 0.14, 0.30),
}


def result(method: str, budget: int, mean: float) -> dict[str, Any]:
    recall = {"mean": mean, "low": max(0.0, mean - 0.06), "high": min(1.0, mean + 0.06)}
    return {"arm": "real", "method": method, "budget": budget, "figures": {"frr": recall}}


REPORT = {
    "sessions": 31,
    "repositories": 7,
    "cuts": {"real": 39},
    "results": [
        *(
            result(method, budget, mean)
            for method, means in METHODS.items()
            for budget, mean in zip((500, 1000, 2000), means, strict=True)
        ),
        result("host summary", 0, 0.46),
    ],
}
WIDTHS = pytest.mark.parametrize("width", [1280, pytest.param(400, marks=pytest.mark.slow)])


def boxes(page: Page, selector: str) -> list[dict[str, float]]:
    elements = [element for element in page.locator(selector).all() if element.is_visible()]
    return [dict(box) for element in elements if (box := element.bounding_box())]


@WIDTHS
def test_the_page_does_not_scroll_sideways_and_shows_one_drawing(
    open_page: OpenPage, width: int
) -> None:
    page = open_page(render_page(REPORT), width=width)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert len(boxes(page, "svg")) == 1


@WIDTHS
def test_every_name_is_inside_the_drawing_and_overlaps_no_other_name(
    open_page: OpenPage, width: int
) -> None:
    page = open_page(render_page(REPORT), width=width)
    (drawing,) = boxes(page, "svg")
    names = boxes(page, "svg g[id*='-name-'] text")
    assert len(names) == len(METHODS)
    for name in names:
        assert name["x"] + name["width"] <= drawing["x"] + drawing["width"] + 1
        assert name["height"] >= 10
    for one, other in combinations(names, 2):
        low, high = sorted((one, other), key=lambda name: name["y"])
        assert low["y"] + low["height"] <= high["y"] + 4


@pytest.mark.parametrize("dark", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_text_and_lines_have_enough_contrast(open_page: OpenPage, dark: bool) -> None:
    page = open_page(render_page(REPORT), width=1280, dark=dark)
    background = luminance(page, "body", "backgroundColor")
    assert (background < 0.1) is dark
    # The minimum contrast of WCAG: 4.5 for text, 3 for graphics.
    for selector, style, minimum in (
        ("p", "color", 4.5),
        ("figcaption", "color", 4.5),
        ("svg g[id*='-xtick_'] text", "fill", 4.5),
        ("svg g[id*='-name-template'] text", "fill", 4.5),
        ("svg g[id*='-ours-'] > path", "stroke", 3.0),
        ("svg g[id*='-other-'] > path", "stroke", 3.0),
    ):
        foreground = luminance(page, selector, style)
        low, high = sorted((background, foreground))
        contrast = (high + 0.05) / (low + 0.05)
        assert contrast >= minimum, f"{selector}: {contrast:.2f}"


def test_methods_also_differ_by_marker_and_line_width(open_page: OpenPage) -> None:
    page = open_page(render_page(REPORT), width=1280)
    markers = [
        path.get_attribute("d")
        for path in page.locator("svg.wide g:is([id*='-ours-'], [id*='-other-']) defs path").all()
    ]
    assert len(set(markers)) == len(METHODS)
    widths = [
        float(page.locator(f"svg.wide g[id*='-{kind}-'] > path").first.evaluate(READ_STROKE_WIDTH))
        for kind in ("ours", "other")
    ]
    assert widths[0] >= 2 * widths[1]


def test_a_screen_reader_finds_one_drawing_with_a_description(open_page: OpenPage) -> None:
    page = open_page(render_page(REPORT), width=1280)
    (drawing,) = page.get_by_role("img", name="Recall against budget. Real compactions").all()
    assert drawing.evaluate("element => element.classList.contains('wide')")
    description = page.locator("svg.wide desc").text_content() or ""
    assert "summary + brief 84" in description
    assert "The host's summary alone: 46." in description


def test_every_element_id_is_unique(open_page: OpenPage) -> None:
    page = open_page(render_page(REPORT), width=1280)
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(element => element.id)")
    assert len(ids) == len(set(ids))


def test_a_table_shows_the_same_figures(open_page: OpenPage) -> None:
    page = open_page(render_page(REPORT), width=1280)
    assert page.get_by_role("table").count() == 1
    row = page.get_by_role("row", name="summary + brief")
    assert row.get_by_role("cell").all_inner_texts() == ["61.0 55–67", "71.0 65–77", "84.0 78–90"]
    assert page.get_by_role("columnheader").all_inner_texts() == [
        "tokens",
        "500",
        "1,000",
        "2,000",
    ]
    assert page.get_by_role("heading", level=2).all_inner_texts() == ["Real compactions"]


@pytest.mark.slow
def test_on_a_phone_the_table_can_be_scrolled_by_keyboard(open_page: OpenPage) -> None:
    page = open_page(render_page(REPORT), width=400)
    region = page.get_by_role("region", name="Real compactions, figures")
    region.focus()
    page.keyboard.press("End")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("document.activeElement.scrollLeft > 0")
    assert region.evaluate("element => element === document.activeElement")


def test_the_image_without_the_page_has_its_colours(open_page: OpenPage) -> None:
    page = open_page(render_image(REPORT), width=1280)
    line = page.locator("svg g[id*='-ours-'] > path").first.evaluate(READ_COLOUR)
    assert line == "rgb(11, 87, 176)"


READ_COLOUR = "element => getComputedStyle(element).stroke"
READ_STROKE_WIDTH = "element => parseFloat(getComputedStyle(element).strokeWidth)"


def luminance(page: Page, selector: str, style: str) -> float:
    """Return the relative luminance of a colour, as WCAG defines it."""
    colour = page.locator(selector).first.evaluate(
        "(element, style) => getComputedStyle(element)[style].match(/[\\d.]+/g).map(Number)", style
    )
    parts = [part / 255 for part in colour[:3]]
    red, green, blue = (
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return float(0.2126 * red + 0.7152 * green + 0.0722 * blue)
