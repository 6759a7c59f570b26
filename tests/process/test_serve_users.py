"""`holdfast serve` on a machine with several users: who gets an answer, and who needs a token."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
import sys
import time
import urllib.request
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.ledger import tokens
from holdfast.ledger.connect import open_local_ledger
from tests.process.serving import Start, find_link
from tests.process.waiting import TIMEOUT_SECONDS

OTHER_USERS = (65534, 12345)
PATHS = (
    "/health", "/stats", "/api/actions", "/api/messages", "/api/sessions", "/api/events", "/docs",
    "/docs/page.js", "/docs/session", "/openapi/openapi.json", "/unknown",
)  # fmt: skip
ACTION = '{"tool_name": "Read"}'
JSON = ("-H", "Content-Type: application/json")


def curl(url: str, *options: str, user: int | None = None) -> tuple[int, str]:
    """Status and body of a request by this or another user."""
    command = ["curl", "-s", "-m", str(TIMEOUT_SECONDS), "-w", "\n%{http_code}", *options, url]
    result = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd="/", user=user, group=user,
        extra_groups=None if user is None else [],
    )  # fmt: skip
    body, _, status = result.stdout.rpartition("\n")
    return int(status), body


@pytest.fixture(autouse=True)
def _need_curl() -> None:
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")


@pytest.fixture
def _need_other_users() -> None:
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("only root can start programs of other users, and only Linux tells them apart")


def create_token(home: Path, **fields: str) -> str:
    ledger = open_local_ledger(str(home / "ledger.db"))
    with closing(ledger.database):
        arguments = {"name": "ci", "scope": "write", **fields}
        return tokens.create_token(ledger, time.time(), **arguments)[1]  # type: ignore[arg-type]


def bearer(token: str) -> tuple[str, str]:
    return "-H", f"Authorization: Bearer {token}"


@pytest.mark.usefixtures("_need_other_users")
def test_other_users_get_401_for_everything(start: Start, tmp_path: Path) -> None:
    server = start(tmp_path / "home")
    for user in OTHER_USERS:
        for path in PATHS:
            status, body = curl(server.url + path, user=user)
            assert status == 401, (user, path, body)
            assert json.loads(body)["title"] == "Token required"
            assert "holdfast token new" in json.loads(body)["hint"]
        for method in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"):
            options = ("-I",) if method == "HEAD" else ("-X", method, *JSON, "-d", ACTION)
            assert curl(f"{server.url}/api/actions", *options, user=user)[0] == 401, method
    assert server.get("/api/actions")["actions"] == []
    assert curl(f"{server.url}/api/actions", *JSON, "-d", ACTION)[0] == 201, "the same user"


@pytest.mark.usefixtures("_need_other_users")
def test_other_users_with_a_token_do_what_it_allows(start: Start, tmp_path: Path) -> None:
    home = tmp_path / "home"
    server = start(home)
    reader, writer = (bearer(create_token(home, scope=scope)) for scope in ("read", "write"))
    for user in OTHER_USERS:
        assert curl(f"{server.url}/api/actions", *reader, user=user)[0] == 200
        post = (*JSON, "-d", ACTION)
        assert curl(f"{server.url}/api/actions", *reader, *post, user=user)[0] == 403
        assert curl(f"{server.url}/api/actions", *writer, *post, user=user)[0] == 201
        assert curl(f"{server.url}/stats", *bearer("hft_wrong"), user=user)[0] == 401


@pytest.mark.usefixtures("_need_other_users")
def test_the_cookie_of_the_page_is_of_no_use_to_other_users(start: Start, tmp_path: Path) -> None:
    """Browsers send it to every port of this host, where another user may run a server."""
    server = start(tmp_path / "home")
    cookie = read_cookie(curl(f"{server.url}/docs/session", "-X", "POST", "-i")[1])
    assert curl(f"{server.url}/stats", "-H", f"Cookie: {cookie}")[0] == 200
    for user in OTHER_USERS:
        for path in ("/stats", "/docs"):
            assert curl(server.url + path, "-H", f"Cookie: {cookie}", user=user)[0] == 401


def read_cookie(head: str) -> str:
    match = re.search(r"set-cookie: ([^;]+);", head, re.IGNORECASE)
    assert match is not None
    return match[1]


@pytest.mark.usefixtures("_need_other_users")
def test_every_worker_and_both_address_families_tell_users_apart(
    start: Start, tmp_path: Path
) -> None:
    for number, options in enumerate((("--workers", "2"), ("--host", "::1"))):
        try:
            server = start(tmp_path / f"home{number}", *options)
        except AssertionError:
            assert "::1" in options, "this machine has no IPv6"
            continue
        urls = [server.url, server.url.replace("[::1]", "localhost")]
        for url in [*urls] * 10:
            assert curl(f"{url}/stats", user=OTHER_USERS[0])[0] == 401
            assert curl(f"{url}/stats")[0] == 200


@pytest.mark.usefixtures("_need_other_users")
def test_another_user_cannot_write_by_closing_the_connection_early(
    start: Start, tmp_path: Path
) -> None:
    """The kernel shows root as the owner of a closed socket, and this server runs as root."""
    server = start(tmp_path / "home")
    request = (
        "POST /api/actions HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\nContent-Type: application/json\\r\\n"
        f"Content-Length: {len(ACTION)}\\r\\n\\r\\n{ACTION}"
    )
    script = (
        f"for i in $(seq 100); do exec 3<>/dev/tcp/127.0.0.1/{server.port}; "
        f"printf '{request}' >&3; exec 3>&-; done"
    )
    user = OTHER_USERS[0]
    subprocess.run(
        ["bash", "-c", script], check=True, cwd="/", user=user, group=user, extra_groups=[]
    )
    server.post("/api/actions", tool_name="Last")
    assert [row["tool_name"] for row in server.get("/api/actions")["actions"]] == ["Last"]


def test_open_loopback_answers_to_every_user_and_says_so(start: Start, tmp_path: Path) -> None:
    server = start(tmp_path / "home", "--open-loopback")
    assert "every user of this machine" in server.startup_stderr
    assert "read all your sessions" in server.startup_stderr
    assert curl(f"{server.url}/api/actions", *JSON, "-d", ACTION)[0] == 201
    if os.geteuid() == 0:
        assert curl(f"{server.url}/api/actions", user=OTHER_USERS[0])[0] == 200


# Where the system does not tell which user calls


@pytest.mark.usefixtures("hidden_users")
def test_without_a_known_user_every_request_needs_the_token_in_the_home(
    start: Start, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    for options in ((), ("--workers", "2"), ("--proxy", "--name", "127.0.0.1")):
        server = start(home, *options)
        token_file = home / "server-token"
        assert stat.S_IMODE(token_file.stat().st_mode) == 0o600
        assert stat.S_IMODE(home.stat().st_mode) == 0o700
        token = token_file.read_text().strip()
        for path in ("/stats", "/api/actions", "/api/events", "/openapi/openapi.json"):
            status, body = curl(server.url + path)
            assert status == 401, (options, path)
            assert "holdfast token local" in json.loads(body)["hint"]
        assert curl(f"{server.url}/api/actions", *JSON, "-d", ACTION)[0] == 401
        assert json.loads(curl(f"{server.url}/health")[1]) == {"status": "healthy"}
        assert curl(f"{server.url}/api/actions", *bearer(token), *JSON, "-d", ACTION)[0] == 201
        printed = subprocess.run(
            [sys.executable, "-m", "holdfast", "token", "local"],
            capture_output=True, text=True, check=True,
            env={**os.environ, "HOLDFAST_HOME": str(home)},
        )  # fmt: skip
        assert printed.stdout == f"{token}\n"
        server.stop()
    assert server.startup_stderr.count("#code=") == 0, "the address of a proxy is not known"


@pytest.mark.usefixtures("hidden_users")
def test_a_replaced_token_is_no_longer_accepted_and_ends_its_event_stream(
    start: Start, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    server = start(home)
    token_file = home / "server-token"
    old = token_file.read_text().strip()
    request = urllib.request.Request(
        f"{server.url}/api/events", headers={"Authorization": f"Bearer {old}"}
    )
    with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as stream:
        new = "hft_" + "n" * 43
        token_file.write_text(new)
        assert curl(f"{server.url}/stats", *bearer(old))[0] == 401
        assert curl(f"{server.url}/stats", *bearer(new))[0] == 200
        # The stream's token is checked when there is something to send.
        while stream.readline():
            pass
    for empty in ("", "\n", "hft"):
        token_file.write_text(empty)
        assert curl(f"{server.url}/stats", *bearer(empty.strip()))[0] == 401
    token_file.unlink()
    assert curl(f"{server.url}/stats", *bearer(new))[0] == 401


@pytest.mark.usefixtures("hidden_users")
def test_the_server_prints_a_link_whose_code_works_once(start: Start, tmp_path: Path) -> None:
    server = start(tmp_path / "home")
    code = find_link(server).partition("#code=")[2]
    session = f"{server.url}/docs/session"
    assert curl(f"{server.url}/stats", *bearer(code))[0] == 401, "the code is not a token"
    assert curl(session, *bearer(code))[0] == 401, "GET does not use it up"
    status, head = curl(session, "-X", "POST", "-i", *bearer(code))
    assert status == 204
    assert curl(f"{server.url}/stats", "-H", f"Cookie: {read_cookie(head)}")[0] == 200
    assert curl(session, "-X", "POST", *bearer(code))[0] == 401, "it was used"


def test_a_server_that_knows_its_user_prints_no_link(start: Start, tmp_path: Path) -> None:
    if sys.platform != "linux":
        pytest.skip("only Linux tells which user calls")
    server = start(tmp_path / "home")
    assert curl(f"{server.url}/stats")[0] == 200
    assert "#code=" not in server.startup_stderr + server.stop()[1]


# A Unix socket


def test_a_unix_socket_is_for_its_user_only(start: Start, tmp_path: Path) -> None:
    path = tmp_path / "s"
    for options in ((), ("--workers", "2")):
        previous = os.umask(0)
        try:
            server = start(tmp_path / "home", "--unix-socket", str(path), *options)
        finally:
            os.umask(previous)
        assert server.url == str(path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        through = ("--unix-socket", str(path))
        assert curl("http://localhost/api/actions", *through, *JSON, "-d", ACTION)[0] == 201
        assert curl("http://127.0.0.1/docs", *through)[0] == 200
        assert curl("http://evil.example/stats", *through)[0] == 421
        assert curl("http://localhost/stats", *through, *bearer("hft_wrong"))[0] == 401
        if os.geteuid() == 0:
            tmp_path.chmod(0o755)
            assert curl("http://localhost/stats", *through, user=OTHER_USERS[0])[0] == 0
        assert server.stop()[0] == 0
        assert not path.exists(), "the socket is removed at the end"


def test_a_stale_socket_is_replaced_and_a_live_one_is_not(start: Start, tmp_path: Path) -> None:
    path = tmp_path / "s"
    killed = start(tmp_path / "home", "--unix-socket", str(path))
    killed.process.kill()
    killed.process.wait()
    assert path.is_socket()
    server = start(tmp_path / "home", "--unix-socket", str(path))
    assert "another server listens at" in fail_to_start(tmp_path, path)
    assert curl("http://localhost/stats", "--unix-socket", str(path))[0] == 200
    server.stop()
    path.write_text("mine")
    assert "is not a socket" in fail_to_start(tmp_path, path)
    assert path.read_text() == "mine"


def test_a_socket_is_refused_where_other_users_could_replace_it(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    assert "hint: put the socket in a folder that belongs to you" in fail_to_start(
        tmp_path, shared / "s"
    )
    assert "cannot be used" in fail_to_start(tmp_path, tmp_path / "missing" / "s")
    assert "cannot be listened on" in fail_to_start(tmp_path, tmp_path / ("s" * 200))
    if os.geteuid() == 0:
        shared.chmod(0o755)
        os.chown(shared, OTHER_USERS[0], -1)
        assert "other users can replace" in fail_to_start(tmp_path, shared / "s")


def fail_to_start(tmp_path: Path, path: Path) -> str:
    """What a server that cannot use this socket prints."""
    result = subprocess.run(
        [sys.executable, "-m", "holdfast", "serve", "--unix-socket", str(path)],
        capture_output=True, text=True, check=False, timeout=TIMEOUT_SECONDS,
        env={**os.environ, "HOLDFAST_HOME": str(tmp_path / "home"), "HOLDFAST_DATABASE": ""},
    )  # fmt: skip
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith("error: ")
    return result.stderr
