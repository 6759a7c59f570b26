"""The browser's page has a token of its own: short-lived, in a cookie, and of no other use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from litestar.testing import TestClient

from holdfast.ledger import tokens
from holdfast.ledger.schema import TOKENS
from holdfast.server.app import create_routes
from holdfast.server.auth import AuthMiddleware
from holdfast.server.databases import Databases
from holdfast.server.event_feed import EventFeed
from tests.contract.server.conftest import HERE

POSTGRES_IS_SLOW = True

OF_A_PAGE = {"Sec-Fetch-Site": "same-origin"}
ACTION = {"tool_name": "Read"}


class Browser:
    """A browser at a server whose clock the test sets."""

    def __init__(self, databases: Databases, *, token_needed: bool) -> None:
        self.databases = databases
        self.now = 1_000_000.0
        app: Any = create_routes(EventFeed(databases))
        guard: Any = AuthMiddleware(app, databases, token_needed=token_needed, now=lambda: self.now)
        self.client: TestClient[Any] = TestClient(guard, base_url=HERE)
        self.cookie = ""

    def ask(self, method: str, path: str, **more: Any) -> Any:
        headers = {**OF_A_PAGE, **more.pop("headers", {})}
        if self.cookie:
            headers["Cookie"] = self.cookie
        self.client.cookies.clear()
        answer = self.client.request(method, path, headers=headers, **more)
        if "set-cookie" in answer.headers:
            self.cookie = answer.headers["set-cookie"].partition(";")[0]
        return answer

    def status(self, method: str = "GET", path: str = "/api/actions", **more: Any) -> int:
        return int(self.ask(method, path, **more).status_code)

    def token(self, **fields: Any) -> tuple[dict[str, Any], str]:
        with self.databases.connect() as db:
            return tokens.create_token(
                db.ledger, self.now, **{"name": "me", "scope": "write", **fields}
            )

    def sign_in(self, token: str) -> int:
        return self.status("POST", "/docs/session", headers={"Authorization": f"Bearer {token}"})


@pytest.fixture
def here(databases: Databases) -> Iterator[Browser]:
    browser = Browser(databases, token_needed=False)
    with browser.client:
        yield browser


@pytest.fixture
def elsewhere(databases: Databases) -> Iterator[Browser]:
    browser = Browser(databases, token_needed=True)
    with browser.client:
        yield browser


def test_the_page_brings_its_token_in_a_cookie_that_nobody_else_gets(here: Browser) -> None:
    assert here.status() == 401, "a script in a browser needs one"
    answer = here.ask("GET", "/docs")
    words = answer.headers["set-cookie"]
    assert {part.strip() for part in words.split(";")[1:]} == {
        "Path=/", "Max-Age=900", "HttpOnly", "SameSite=Strict",
    }  # fmt: skip
    assert answer.headers["cache-control"] == "no-store"
    assert here.cookie.partition("=")[2] not in answer.text
    assert here.status() == 200
    assert here.status("POST", json=ACTION) == 201


def test_programs_on_this_machine_need_none(here: Browser) -> None:
    here.client.cookies.clear()
    assert here.client.get("/api/actions").status_code == 200


def test_it_expires_and_is_renewed_while_it_is_used(here: Browser) -> None:
    here.ask("GET", "/docs")
    for _ in range(5):
        here.now += 600
        assert here.status() == 200
    here.now += 901
    assert here.status() == 401
    here.ask("GET", "/docs")
    assert here.status() == 200


def test_it_is_not_written_anew_with_every_request(here: Browser) -> None:
    here.ask("GET", "/docs")
    assert "set-cookie" not in here.ask("GET", "/api/actions").headers
    here.now += 400
    assert "set-cookie" in here.ask("GET", "/api/actions").headers


def test_used_or_not_it_ends_after_half_a_day(here: Browser) -> None:
    here.ask("GET", "/docs")
    for _ in range(12 * 6):
        here.now += 600
        last = here.status()
    assert last == 401


def test_an_admin_s_work_is_not_for_a_page(here: Browser) -> None:
    here.ask("GET", "/docs")
    assert here.status("DELETE", "/api/projects/p1") == 403


def test_it_is_good_for_nothing_outside_its_cookie(here: Browser) -> None:
    here.ask("GET", "/docs")
    token, here.cookie = here.cookie.partition("=")[2], ""
    assert here.status(headers={"Authorization": f"Bearer {token}"}) == 401
    here.cookie = f"holdfast_page_{HERE.rpartition(':')[2]}={here.token()[1]}"
    assert here.status() == 401, "and a token of a person's is no page's"


def test_nobody_sees_it_in_the_list_or_among_the_changes(here: Browser) -> None:
    here.ask("GET", "/docs")
    with here.databases.connect() as db:
        assert tokens.list_tokens(db.ledger) == []
        assert db.ledger.list_changes() == []
        (row,) = db.ledger.find(TOKENS)
    assert here.cookie.partition("=")[2] not in str(row)


def test_expired_ones_are_cleared_away_with_the_next(here: Browser) -> None:
    for _ in range(3):
        here.cookie = ""
        here.ask("GET", "/docs")
        here.now += 901
    with here.databases.connect() as db:
        assert db.ledger.count(TOKENS) == 1


def test_from_elsewhere_the_page_is_shown_and_nothing_else(elsewhere: Browser) -> None:
    answer = elsewhere.ask("GET", "/docs")
    assert answer.status_code == 200
    assert "set-cookie" not in answer.headers
    for path in ("/api/actions", "/openapi/openapi.json", "/stats", "/docs/session"):
        assert elsewhere.status("GET", path) == 401
    assert elsewhere.status("POST", "/docs/session") == 401
    assert elsewhere.sign_in("hft_wrong") == 401


def test_a_person_s_token_is_exchanged_for_the_page_s(elsewhere: Browser) -> None:
    _, token = elsewhere.token(scope="read", project="p1")
    assert elsewhere.sign_in(token) == 204
    assert token not in elsewhere.cookie
    assert elsewhere.status() == 200
    assert elsewhere.status("POST", json=ACTION) == 403, "it may what the person may"
    answer = elsewhere.ask("GET", "/api/events?project_id=p2")
    assert answer.status_code == 403, "and where"


def test_a_page_cannot_do_more_than_write_even_for_an_admin(elsewhere: Browser) -> None:
    elsewhere.sign_in(elsewhere.token(scope="admin")[1])
    assert elsewhere.status("POST", json=ACTION) == 201
    assert elsewhere.status("DELETE", "/api/projects/p1") == 403


def test_it_ends_with_the_token_that_it_was_given_for(elsewhere: Browser) -> None:
    row, token = elsewhere.token()
    elsewhere.sign_in(token)
    with elsewhere.databases.connect() as db:
        tokens.revoke_token(db.ledger, row["id"], elsewhere.now)
    assert elsewhere.status() == 401


def test_signing_out_ends_it_at_the_server_too(elsewhere: Browser) -> None:
    elsewhere.sign_in(elsewhere.token()[1])
    before = elsewhere.cookie
    answer = elsewhere.ask("DELETE", "/docs/session")
    assert (answer.status_code, answer.headers["set-cookie"].count("Max-Age=0")) == (204, 1)
    elsewhere.cookie = before
    assert elsewhere.status() == 401


def test_over_tls_the_cookie_is_for_tls_only() -> None:
    from holdfast.server.web_session import to_cookie

    assert b"; Secure" in to_cookie({"scheme": "https", "server": ("h", 443)}, "t")
    assert b"Secure" not in to_cookie({"scheme": "http", "server": None}, "t")
    assert tokens.PAGE_TOKEN_SECONDS == 900
