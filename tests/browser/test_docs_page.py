"""The page of `holdfast serve` in a real browser: it works, and its token is out of sight."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from holdfast.ledger import tokens
from holdfast.ledger.opening import local_ledger
from tests.process.conftest import start
from tests.process.serving import Server, Start

__all__ = ["start"]

LISTEN = """
    address => new Promise(done => {
        const socket = new WebSocket(address);
        socket.onmessage = message => { done(JSON.parse(message.data).kind); socket.close(); };
        socket.onerror = () => done("refused");
    })
"""

# Of which task, of which project: that has to be said first.
ABOUT_SOMETHING = {"POST /api/tasks", "POST /api/subtasks", "POST /api/recall"}

# Machines are busy; what does not come in this time does not come at all.
expect.set_options(timeout=30_000)


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 900, "height": 900}, ignore_https_errors=True)
    yield context.new_page()
    context.close()


def send(page: Page, method: str, path: str, body: str = "") -> str:
    """Open one request of the list, send it, and read what the page shows."""
    details = page.locator(f'details[data-request="{method} {path}"]')
    if details.get_attribute("open") is None:
        details.locator("summary").click()
    if body:
        details.locator("textarea").fill(body)
    details.get_by_role("button", name="Send").click()
    shown = details.locator("pre")
    expect(shown).not_to_have_text("…")
    expect(shown).not_to_be_empty()
    return shown.inner_text()


def cookies(page: Page) -> list[Any]:
    return [dict(one) for one in page.context.cookies()]


def test_here_the_page_works_at_once_with_a_token_of_its_own(
    page: Page, start: Start, tmp_path: Path
) -> None:
    server = start(tmp_path / "home")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{server.url}/docs")
    expect(page.locator("details").first).to_be_visible()
    expect(page.locator("#sign-in")).to_be_hidden()
    told = send(page, "POST", "/api/actions", '{"tool_name": "Read"}')
    assert "\n201\n" in told
    (cookie,) = cookies(page)
    assert (cookie["httpOnly"], cookie["sameSite"], cookie["secure"]) == (True, "Strict", False)
    assert page.evaluate("document.cookie") == "", "no script can read it"
    assert all(cookie["value"] not in url for url in asked)
    assert cookie["value"] not in page.content()
    _, said = server.stop()
    assert cookie["value"] not in said


def test_a_request_says_what_can_be_sent_and_is_ready_to_be(
    page: Page, start: Start, tmp_path: Path
) -> None:
    page.goto(f"{start(tmp_path / 'home').url}/docs")
    expect(page.locator("details").first).to_be_visible()
    requests = page.locator("details:has(textarea)")
    names = requests.evaluate_all("all => all.map(one => one.dataset.request)")
    ready = [name for name in names if "{" not in name and name not in ABOUT_SOMETHING]
    assert {"POST /api/compact/save", "POST /api/messages"} <= {*ready}
    for name in ready:
        told = send(page, *name.split())
        assert told.split("\n")[1] in ("200", "201"), told
    message = page.locator('details[data-request="POST /api/messages"]')
    sent = message.locator("table").first
    expect(sent).to_contain_text("to_agent_id")
    expect(sent).to_contain_text("whom it is for: an id, a type, or main; nobody for a broadcast")
    expect(message.locator("table").last).to_contain_text("expires_at")
    expect(message.locator("summary")).to_contain_text("Send a message")


def test_a_page_whose_token_has_expired_gets_another_without_a_word(
    page: Page, start: Start, tmp_path: Path
) -> None:
    server = start(tmp_path / "home")
    page.goto(f"{server.url}/docs")
    expect(page.locator("details").first).to_be_visible()
    (before,) = cookies(page)
    page.context.clear_cookies()
    assert "\n200\n" in send(page, "GET", "/stats")
    (after,) = cookies(page)
    assert after["value"] != before["value"]


def test_from_elsewhere_a_person_signs_in_and_out(page: Page, start: Start, tmp_path: Path) -> None:
    server, token = elsewhere(start, tmp_path / "home")
    page.goto(f"{server.url}/docs")
    expect(page.locator("#sign-in")).to_be_visible()
    expect(page.locator("details")).to_have_count(0)
    page.get_by_label("Token").fill("hft_wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("unknown")
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator("details").first).to_be_visible()
    expect(page.locator("#sign-in")).to_be_hidden()
    assert "\n201\n" in send(page, "POST", "/api/actions", '{"tool_name": "Read"}')
    (cookie,) = cookies(page)
    assert cookie["value"] != token
    assert token not in page.content()
    page.reload()
    expect(page.locator("details").first).to_be_visible()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    page.context.clear_cookies()
    page.reload()
    expect(page.locator("#sign-in")).to_be_visible()
    _, said = server.stop()
    assert token not in said
    assert cookie["value"] not in said


def test_signing_out_takes_everything_away(page: Page, start: Start, tmp_path: Path) -> None:
    server, token = elsewhere(start, tmp_path / "home")
    page.goto(f"{server.url}/docs")
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.locator("#sign-in")).to_be_visible()
    assert cookies(page) == []


def elsewhere(start: Start, home: Path) -> tuple[Server, str]:
    """A server at an address that is not known as this machine's, so everybody needs a token."""
    ledger = local_ledger(str(home / "ledger.db"))
    with closing(ledger.database):
        _, token = tokens.new(ledger, 1.0, name="me", scope="write")
    return start(home, "--host", "127.0.0.2"), token


def test_live_events_are_shown_as_they_come(page: Page, start: Start, tmp_path: Path) -> None:
    server = start(tmp_path / "home")
    page.goto(f"{server.url}/docs")
    stream = page.locator('details[data-request="GET /api/events"]')
    stream.locator("summary").click()
    stream.get_by_role("button").click()
    expect(stream.locator("pre")).to_contain_text("listening")
    made = server.post("/api/actions", tool_name="Read")["id"]
    expect(stream.locator("pre")).to_contain_text(made)


def test_our_own_page_may_open_a_web_socket_and_another_may_not(
    page: Page, browser: Browser, start: Start, tmp_path: Path
) -> None:
    server = start(tmp_path / "home")
    page.goto(f"{server.url}/docs")
    address = f"{server.url.replace('http', 'ws', 1)}/api/events/ws"
    assert page.evaluate(LISTEN, address) == "listening"
    with browser.new_context() as context:
        assert context.new_page().evaluate(LISTEN, address) == "refused"
