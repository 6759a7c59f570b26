"""The page of `holdfast eval --chart`, as a real browser shows it."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest
from playwright.sync_api import Page

from holdfast.eval.chart import render_image, render_page
from tests.browser.conftest import Opener

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
WIDTHS = pytest.mark.parametrize("width", [1280, 400])


def boxes(shown: Page, selector: str) -> list[dict[str, float]]:
    found = [one.bounding_box() for one in shown.locator(selector).all() if one.is_visible()]
    return [dict(box) for box in found if box]


@WIDTHS
def test_the_page_never_scrolls_sideways_and_one_drawing_is_shown(
    opened: Opener, width: int
) -> None:
    shown = opened(render_page(REPORT), width=width)
    assert shown.evaluate("document.documentElement.scrollWidth") == width
    assert len(boxes(shown, "svg")) == 1


@WIDTHS
def test_every_name_stands_whole_inside_the_drawing_and_none_on_another(
    opened: Opener, width: int
) -> None:
    shown = opened(render_page(REPORT), width=width)
    (drawing,) = boxes(shown, "svg")
    names = boxes(shown, "svg g[id*='-name-'] text")
    assert len(names) == len(METHODS)
    for name in names:
        assert name["x"] + name["width"] <= drawing["x"] + drawing["width"] + 1
        assert name["height"] >= 10
    for one, other in combinations(names, 2):
        low, high = sorted((one, other), key=lambda name: name["y"])
        assert low["y"] + low["height"] <= high["y"] + 4


@pytest.mark.parametrize("dark", [False, True])
def test_words_and_lines_stand_out_from_the_page(opened: Opener, dark: bool) -> None:
    shown = opened(render_page(REPORT), width=1280, dark=dark)
    paper = luminance(shown, "body", "backgroundColor")
    assert (paper < 0.1) is dark
    # What WCAG asks for: 4.5 of text, 3 of graphics.
    for selector, style, least in (
        ("p", "color", 4.5),
        ("figcaption", "color", 4.5),
        ("svg g[id*='-xtick_'] text", "fill", 4.5),
        ("svg g[id*='-name-template'] text", "fill", 4.5),
        ("svg g[id*='-ours-'] > path", "stroke", 3.0),
        ("svg g[id*='-other-'] > path", "stroke", 3.0),
    ):
        other = luminance(shown, selector, style)
        contrast = (max(paper, other) + 0.05) / (min(paper, other) + 0.05)
        assert contrast >= least, f"{selector}: {contrast:.2f}"


def test_nothing_is_said_by_colour_alone(opened: Opener) -> None:
    shown = opened(render_page(REPORT), width=1280)
    marks = [
        one.get_attribute("d")
        for one in shown.locator("svg.wide g:is([id*='-ours-'], [id*='-other-']) defs path").all()
    ]
    assert len(set(marks)) == len(METHODS)
    widths = [
        float(shown.locator(f"svg.wide g[id*='-{kind}-'] > path").first.evaluate(STROKE))
        for kind in ("ours", "other")
    ]
    assert widths[0] >= 2 * widths[1]


def test_a_screen_reader_hears_what_one_drawing_is(opened: Opener) -> None:
    shown = opened(render_page(REPORT), width=1280)
    (drawing,) = shown.get_by_role("img", name="Recall against budget. Real compactions").all()
    assert drawing.evaluate("it => it.classList.contains('wide')")
    about = shown.locator("svg.wide desc").text_content() or ""
    assert "summary + brief 84" in about
    assert "The host's summary alone: 46." in about


def test_every_id_is_used_once_on_the_page(opened: Opener) -> None:
    shown = opened(render_page(REPORT), width=1280)
    ids = shown.evaluate("[...document.querySelectorAll('[id]')].map(it => it.id)")
    assert len(ids) == len(set(ids))


def test_a_table_has_the_same_figures(opened: Opener) -> None:
    shown = opened(render_page(REPORT), width=1280)
    assert shown.get_by_role("table").count() == 1
    row = shown.get_by_role("row", name="summary + brief")
    assert row.get_by_role("cell").all_inner_texts() == ["61.0 55–67", "71.0 65–77", "84.0 78–90"]
    assert shown.get_by_role("columnheader").all_inner_texts() == [
        "tokens",
        "500",
        "1,000",
        "2,000",
    ]
    assert shown.get_by_role("heading", level=2).all_inner_texts() == ["Real compactions"]


def test_on_a_phone_the_table_can_be_scrolled_by_keyboard(opened: Opener) -> None:
    shown = opened(render_page(REPORT), width=400)
    region = shown.get_by_role("region", name="Real compactions, figures")
    region.focus()
    shown.keyboard.press("End")
    shown.keyboard.press("ArrowRight")
    shown.wait_for_function("document.activeElement.scrollLeft > 0")
    assert region.evaluate("it => it === document.activeElement")


def test_the_drawing_alone_has_its_colours(opened: Opener) -> None:
    shown = opened(render_image(REPORT), width=1280)
    line = shown.locator("svg g[id*='-ours-'] > path").first.evaluate(COLOUR)
    assert line == "rgb(11, 87, 176)"


COLOUR = "it => getComputedStyle(it).stroke"
STROKE = "it => parseFloat(getComputedStyle(it).strokeWidth)"


def luminance(shown: Page, selector: str, style: str) -> float:
    """As WCAG defines it."""
    colour = shown.locator(selector).first.evaluate(
        "(it, style) => getComputedStyle(it)[style].match(/[\\d.]+/g).map(Number)", style
    )
    parts = [part / 255 for part in colour[:3]]
    red, green, blue = (
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return float(0.2126 * red + 0.7152 * green + 0.0722 * blue)
