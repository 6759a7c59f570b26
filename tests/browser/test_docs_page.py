"""The web page at /docs in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from holdfast.ledger import tokens
from holdfast.ledger.connect import open_local_ledger
from tests.process.conftest import hidden_users, start
from tests.process.serving import Server, Start, find_link

__all__ = ["hidden_users", "start"]

# The examples of these requests need the id of an existing row, or a project.
NEED_EXISTING_ROW = {"POST /api/tasks", "POST /api/subtasks", "POST /api/recall"}

# Long, because test machines are busy.
expect.set_options(timeout=30_000)


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 900, "height": 900}, ignore_https_errors=True)
    yield context.new_page()
    context.close()


def send(page: Page, method: str, path: str, body: str = "") -> str:
    """Open one request on the page, send it, and return what the page shows."""
    details = page.locator(f'details[data-request="{method} {path}"]')
    if details.get_attribute("open") is None:
        details.locator("summary").click()
    if body:
        details.locator("textarea").fill(body)
    details.get_by_role("button", name="Send").click()
    output = details.locator("pre")
    expect(output).not_to_have_text("…")
    expect(output).not_to_be_empty()
    return output.inner_text()


def cookies(page: Page) -> list[Any]:
    return [dict(cookie) for cookie in page.context.cookies()]


def test_on_loopback_the_page_works_without_signing_in(
    page: Page, start: Start, tmp_path: Path
) -> None:
    server = start(tmp_path / "home")
    urls: list[str] = []
    page.on("request", lambda request: urls.append(request.url))
    page.goto(f"{server.url}/docs")
    expect(page.locator("details").first).to_be_visible()
    expect(page.locator("#sign-in")).to_be_hidden()
    response = send(page, "POST", "/api/actions", '{"tool_name": "Read"}')
    assert "\n201\n" in response
    (cookie,) = cookies(page)
    assert (cookie["httpOnly"], cookie["sameSite"], cookie["secure"]) == (True, "Strict", False)
    assert page.evaluate("document.cookie") == "", "scripts must not be able to read the cookie"
    assert all(cookie["value"] not in url for url in urls)
    assert cookie["value"] not in page.content()
    _, output = server.stop()
    assert cookie["value"] not in output


def test_each_request_shows_its_fields_and_a_valid_example(
    page: Page, start: Start, tmp_path: Path
) -> None:
    page.goto(f"{start(tmp_path / 'home').url}/docs")
    expect(page.locator("details").first).to_be_visible()
    requests = page.locator("details:has(textarea)")
    names = requests.evaluate_all("all => all.map(element => element.dataset.request)")
    sendable = [name for name in names if "{" not in name and name not in NEED_EXISTING_ROW]
    assert {"POST /api/compact/save", "POST /api/messages"} <= {*sendable}
    for name in sendable:
        response = send(page, *name.split())
        assert response.split("\n")[1] in ("200", "201"), response
    message = page.locator('details[data-request="POST /api/messages"]')
    fields = message.locator("table").first
    expect(fields).to_contain_text("to_agent_id")
    expect(fields).to_contain_text(
        "recipient: an agent id, an agent type, or main; null for a broadcast"
    )
    expect(message.locator("table").last).to_contain_text("expires_at")
    expect(message.locator("summary")).to_contain_text("Send a message")


def test_the_user_who_runs_the_server_needs_no_cookie(
    page: Page, start: Start, tmp_path: Path
) -> None:
    server = start(tmp_path / "home")
    page.goto(f"{server.url}/docs")
    expect(page.locator("details").first).to_be_visible()
    page.context.clear_cookies()
    assert "\n200\n" in send(page, "GET", "/stats")


def test_on_a_network_address_a_user_signs_in_with_a_token(
    page: Page, start: Start, tmp_path: Path
) -> None:
    server, token = start_with_token(start, tmp_path / "home")
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
    _, output = server.stop()
    assert token not in output
    assert cookie["value"] not in output


def test_signing_out_deletes_the_cookie(page: Page, start: Start, tmp_path: Path) -> None:
    server, token = start_with_token(start, tmp_path / "home")
    page.goto(f"{server.url}/docs")
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.locator("#sign-in")).to_be_visible()
    assert cookies(page) == []


@pytest.mark.usefixtures("hidden_users")
def test_a_link_opens_the_page_once_where_the_system_does_not_tell_the_user(
    browser: Browser, page: Page, start: Start, tmp_path: Path
) -> None:
    server = start(tmp_path / "home")
    link = find_link(server)
    urls: list[str] = []
    page.on("request", lambda request: urls.append(request.url))
    page.goto(link)
    expect(page.locator("details").first).to_be_visible()
    expect(page.locator("#sign-in")).to_be_hidden()
    assert page.url == f"{server.url}/docs", "the code is no longer in the address bar"
    assert "\n201\n" in send(page, "POST", "/api/actions", '{"tool_name": "Read"}')
    code = link.partition("#code=")[2]
    assert all(code not in url.partition("#")[0] for url in urls)
    assert code not in server.stop()[1].replace(link, "")
    restarted = start(tmp_path / "home")
    with closing(browser.new_context()) as context:
        second = context.new_page()
        second.goto(f"{restarted.url}/docs#code={code}")
        expect(second.get_by_role("alert")).to_contain_text("used or has expired")
        expect(second.locator("#sign-in")).to_be_visible()
        second.get_by_label("Token").fill((tmp_path / "home" / "server-token").read_text().strip())
        second.get_by_role("button", name="Sign in").click()
        expect(second.locator("details").first).to_be_visible()


def start_with_token(start: Start, home: Path) -> tuple[Server, str]:
    """Start a server on an address that needs a token, and return it with a token."""
    ledger = open_local_ledger(str(home / "ledger.db"))
    with closing(ledger.database):
        _, token = tokens.create_token(ledger, 1.0, name="me", scope="write")
    return start(home, "--host", "127.0.0.2"), token


def test_events_are_shown_as_they_arrive(page: Page, start: Start, tmp_path: Path) -> None:
    server = start(tmp_path / "home")
    page.goto(f"{server.url}/docs")
    stream = page.locator('details[data-request="GET /api/events"]')
    stream.locator("summary").click()
    stream.get_by_role("button").click()
    expect(stream.locator("pre")).to_contain_text("listening")
    action_id = server.post("/api/actions", tool_name="Read")["id"]
    expect(stream.locator("pre")).to_contain_text(action_id)
