"""Fixtures: one browser for each test module, and a new page for each test."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser import chromium


class OpenPage(Protocol):
    def __call__(self, html: str, *, width: int, dark: bool = False) -> Page: ...


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    # Not for the session: Playwright's event loop would block other loops in this thread.
    program = chromium.find_chromium()
    with sync_playwright() as playwright:
        # Chromium has no sandbox for root; the tests open only their own pages.
        launched = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture
def open_page(browser: Browser) -> Iterator[OpenPage]:
    """Return a function that opens HTML at a width, in light or dark, without a network."""
    contexts = []

    def open_html(html: str, *, width: int, dark: bool = False) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme="dark" if dark else "light",
            offline=True,
        )
        contexts.append(context)
        page = context.new_page()
        page.set_content(html)
        return page

    yield open_html
    for context in contexts:
        context.close()
