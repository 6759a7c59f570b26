"""The web page has its own token: short-lived, in a cookie, and valid for nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from litestar.testing import TestClient

from holdfast.ledger import tokens
from holdfast.ledger.schema import TOKENS
from holdfast.server.app import create_litestar_app
from holdfast.server.auth import AuthMiddleware, Identify, accept_all, accept_tokens_only
from holdfast.server.databases import Databases
from holdfast.server.event_feed import EventFeed
from tests.contract.server.conftest import BASE_URL

POSTGRES_IS_SLOW = True

PAGE_HEADERS = {"Sec-Fetch-Site": "same-origin"}
ACTION = {"tool_name": "Read"}


class Browser:
    """A browser that keeps its cookie, and a server whose clock (`now`) the test sets."""

    def __init__(self, databases: Databases, identify: Identify) -> None:
        self.databases = databases
        self.now = 1_000_000.0
        app: Any = create_litestar_app(EventFeed(databases))
        authenticated: Any = AuthMiddleware(app, databases, identify=identify, now=lambda: self.now)
        self.client: TestClient[Any] = TestClient(authenticated, base_url=BASE_URL)
        self.cookie = ""

    def request(self, method: str, path: str, **options: Any) -> Any:
        headers = {**PAGE_HEADERS, **options.pop("headers", {})}
        if self.cookie:
            headers["Cookie"] = self.cookie
        self.client.cookies.clear()
        response = self.client.request(method, path, headers=headers, **options)
        if "set-cookie" in response.headers:
            self.cookie = response.headers["set-cookie"].partition(";")[0]
        return response

    def request_status(
        self, method: str = "GET", path: str = "/api/actions", **options: Any
    ) -> int:
        return int(self.request(method, path, **options).status_code)

    def open_page(self) -> Any:
        """Load the page and do what its script does first: get the page's token, or renew it."""
        assert "set-cookie" not in self.request("GET", "/docs").headers
        return self.request("POST", "/docs/session")

    def create_token(self, **fields: Any) -> tuple[dict[str, Any], str]:
        with self.databases.connect() as db:
            return tokens.create_token(
                db.ledger, self.now, **{"name": "me", "scope": "write", **fields}
            )

    def sign_in(self, token: str) -> int:
        return self.request_status(
            "POST", "/docs/session", headers={"Authorization": f"Bearer {token}"}
        )


@pytest.fixture
def local_browser(databases: Databases) -> Iterator[Browser]:
    browser = Browser(databases, accept_all)
    with browser.client:
        yield browser


@pytest.fixture
def remote_browser(databases: Databases) -> Iterator[Browser]:
    browser = Browser(databases, accept_tokens_only)
    with browser.client:
        yield browser


def test_the_page_gets_a_cookie_that_scripts_and_other_sites_cannot_read(
    local_browser: Browser,
) -> None:
    assert local_browser.request_status() == 200, "the user who runs the server needs no cookie"
    response = local_browser.open_page()
    cookie = response.headers["set-cookie"]
    assert {part.strip() for part in cookie.split(";")[1:]} == {
        "Path=/", "Max-Age=900", "HttpOnly", "SameSite=Strict",
    }  # fmt: skip
    assert response.headers["cache-control"] == "no-store"
    assert local_browser.cookie.partition("=")[2] not in response.text
    assert local_browser.request_status() == 200
    assert local_browser.request_status("POST", json=ACTION) == 201


def test_local_programs_need_no_token(local_browser: Browser) -> None:
    local_browser.client.cookies.clear()
    assert local_browser.client.get("/api/actions").status_code == 200


def test_a_page_token_expires_unless_the_page_renews_it(remote_browser: Browser) -> None:
    remote_browser.sign_in(remote_browser.create_token()[1])
    for _ in range(5):
        remote_browser.now += 600
        assert remote_browser.request_status() == 200
        assert remote_browser.request_status("POST", "/docs/session") == 204
    remote_browser.now += 600
    assert remote_browser.request_status() == 200
    remote_browser.now += 301
    assert remote_browser.request_status() == 401, "reading does not renew it"


def test_a_page_token_ends_after_twelve_hours_even_if_it_is_renewed(
    remote_browser: Browser,
) -> None:
    remote_browser.sign_in(remote_browser.create_token()[1])
    first = remote_browser.cookie
    for _ in range(12 * 6):
        assert remote_browser.cookie == first, "renewing does not change the token"
        remote_browser.now += 600
        remote_browser.request("POST", "/docs/session")
    assert remote_browser.request_status() == 401


def test_renewing_does_not_bring_back_a_page_token_that_was_signed_out(
    remote_browser: Browser,
) -> None:
    remote_browser.sign_in(remote_browser.create_token()[1])
    with remote_browser.databases.connect() as db:
        page_token = remote_browser.cookie.partition("=")[2]
        row = tokens.find_valid_page_token(db.ledger, page_token, remote_browser.now)
        assert row is not None
        tokens.delete_page_token(db.ledger, row)
        tokens.renew_page_token(db.ledger, row, remote_browser.now)
    assert remote_browser.request_status() == 401


def test_a_page_token_has_no_admin_scope(local_browser: Browser) -> None:
    local_browser.open_page()
    assert local_browser.request_status("DELETE", "/api/projects/p1") == 403


def test_page_tokens_and_bearer_tokens_are_not_interchangeable(remote_browser: Browser) -> None:
    remote_browser.sign_in(remote_browser.create_token()[1])
    token, remote_browser.cookie = remote_browser.cookie.partition("=")[2], ""
    assert remote_browser.request_status(headers={"Authorization": f"Bearer {token}"}) == 401
    port, bearer_token = BASE_URL.rpartition(":")[2], remote_browser.create_token()[1]
    remote_browser.cookie = f"holdfast_page_{port}={bearer_token}"
    assert remote_browser.request_status() == 401, "a bearer token is refused in the cookie"


def test_page_tokens_are_not_listed_and_not_in_the_change_feed(local_browser: Browser) -> None:
    local_browser.open_page()
    with local_browser.databases.connect() as db:
        assert tokens.list_tokens(db.ledger) == []
        assert db.ledger.list_changes() == []
        (row,) = db.ledger.find(TOKENS)
    assert local_browser.cookie.partition("=")[2] not in str(row)


def test_expired_page_tokens_are_deleted_when_the_next_is_issued(local_browser: Browser) -> None:
    for _ in range(3):
        local_browser.cookie = ""
        local_browser.open_page()
        local_browser.now += 901
    with local_browser.databases.connect() as db:
        assert db.ledger.count(TOKENS) == 1


def test_a_remote_browser_without_a_token_can_only_load_the_page(remote_browser: Browser) -> None:
    response = remote_browser.request("GET", "/docs")
    assert response.status_code == 200
    assert "set-cookie" not in response.headers
    for path in ("/api/actions", "/openapi/openapi.json", "/stats", "/docs/session"):
        assert remote_browser.request_status("GET", path) == 401
    assert remote_browser.request_status("POST", "/docs/session") == 401
    assert remote_browser.sign_in("hft_wrong") == 401


def test_signing_in_gives_the_page_a_token_with_the_same_scope_and_project(
    remote_browser: Browser,
) -> None:
    _, token = remote_browser.create_token(scope="read", project="p1")
    assert remote_browser.sign_in(token) == 204
    assert token not in remote_browser.cookie
    assert remote_browser.request_status() == 200
    status = remote_browser.request_status("POST", json=ACTION)
    assert status == 403, "the scope is that of the bearer token"
    response = remote_browser.request("GET", "/api/events?project_id=p2")
    assert response.status_code == 403, "the project is that of the bearer token"


def test_a_page_that_was_signed_in_with_an_admin_token_may_only_write(
    remote_browser: Browser,
) -> None:
    remote_browser.sign_in(remote_browser.create_token(scope="admin")[1])
    assert remote_browser.request_status("POST", json=ACTION) == 201
    assert remote_browser.request_status("DELETE", "/api/projects/p1") == 403


def test_a_page_token_ends_when_the_token_it_was_issued_for_is_revoked(
    remote_browser: Browser,
) -> None:
    row, token = remote_browser.create_token()
    remote_browser.sign_in(token)
    with remote_browser.databases.connect() as db:
        tokens.revoke_token(db.ledger, row["id"], remote_browser.now)
    assert remote_browser.request_status() == 401


def test_the_code_of_a_link_gives_the_page_a_token_once_and_soon(remote_browser: Browser) -> None:
    def issue_code() -> str:
        with remote_browser.databases.connect() as db:
            return tokens.issue_link_code(db.ledger, remote_browser.now)

    code = issue_code()
    bearer = {"Authorization": f"Bearer {code}"}
    assert remote_browser.request_status(headers=bearer) == 401, "it is not a token"
    assert remote_browser.request_status("GET", "/docs/session", headers=bearer) == 401
    assert remote_browser.sign_in(code) == 204
    assert remote_browser.request_status("POST", json=ACTION) == 201
    assert remote_browser.request_status("DELETE", "/api/projects/p1") == 403
    remote_browser.cookie = ""
    assert remote_browser.sign_in(code) == 401, "it was used"
    late = issue_code()
    with remote_browser.databases.connect() as db:
        assert tokens.list_tokens(db.ledger) == []
        assert late not in str(db.ledger.find(TOKENS))
        assert {change["kind"] for change in db.ledger.list_changes()} == {"actions"}
    remote_browser.now += 121
    assert remote_browser.sign_in(late) == 401, "it has expired"


def test_signing_out_deletes_the_cookie_and_invalidates_the_token(remote_browser: Browser) -> None:
    remote_browser.sign_in(remote_browser.create_token()[1])
    old_cookie = remote_browser.cookie
    response = remote_browser.request("DELETE", "/docs/session")
    assert (response.status_code, response.headers["set-cookie"].count("Max-Age=0")) == (204, 1)
    remote_browser.cookie = old_cookie
    assert remote_browser.request_status() == 401


def test_the_cookie_is_secure_over_tls() -> None:
    from holdfast.server.web_session import to_cookie

    assert b"; Secure" in to_cookie({"scheme": "https", "server": ("h", 443)}, "t")
    assert b"Secure" not in to_cookie({"scheme": "http", "server": None}, "t")
    assert tokens.PAGE_TOKEN_SECONDS == 900
