"""The page of `holdfast serve` that shows and tries every request, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.process.serving import PATIENCE, Server

LISTEN = """
    address => new Promise(done => {
        const socket = new WebSocket(address);
        socket.onmessage = message => { done(JSON.parse(message.data).kind); socket.close(); };
        socket.onerror = () => done("refused");
    })
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    started = Server(tmp_path / "home")
    yield started
    assert started.stop()[0] == 0


@pytest.fixture
def docs(browser: Browser, server: Server) -> Iterator[Page]:
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(f"{server.url}/docs")
        yield page


def test_live_events_are_shown_as_they_come(docs: Page, server: Server) -> None:
    expect.set_options(timeout=PATIENCE * 1000)
    stream = docs.locator("details").filter(has=docs.get_by_text("/api/events", exact=True))
    stream.locator("summary").click()
    stream.get_by_role("button").click()
    expect(stream.locator("pre")).to_contain_text("listening")
    made = server.post("/api/actions", tool_name="Read")["id"]
    expect(stream.locator("pre")).to_contain_text(made)


def test_our_own_page_may_open_a_web_socket_and_another_may_not(
    docs: Page, browser: Browser, server: Server
) -> None:
    address = f"{server.url.replace('http', 'ws', 1)}/api/events/ws"
    assert docs.evaluate(LISTEN, address) == "listening"
    with browser.new_context() as context:
        assert context.new_page().evaluate(LISTEN, address) == "refused"
