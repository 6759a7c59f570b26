"""One browser for the tests of a module, and a page of its own for each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser import chromium


class Opener(Protocol):
    def __call__(self, html: str, *, width: int, dark: bool = False) -> Page: ...


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    # No longer than a module: its event loop runs in this thread, and no other can beside it.
    program = chromium.path()
    with sync_playwright() as playwright:
        # Root has no sandbox; what is opened here is made by the tests themselves.
        launched = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture
def opened(browser: Browser) -> Iterator[Opener]:
    """Opens a page of HTML at a width, in light or dark; nothing may come from the network."""
    contexts = []

    def open_(html: str, *, width: int, dark: bool = False) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme="dark" if dark else "light",
            offline=True,
        )
        contexts.append(context)
        page = context.new_page()
        page.set_content(html)
        return page

    yield open_
    for context in contexts:
        context.close()
