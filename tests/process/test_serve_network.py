"""A server on the network: TLS, rate limits, body limits, invalid HTTP and project tokens."""

from __future__ import annotations

import http.client
import json
import os
import select
import shutil
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from holdfast.ledger import projects, tokens
from holdfast.ledger.connect import open_local_ledger
from tests.process.serving import Server, Start, read_event, wait_until_subscribed
from tests.process.waiting import TIMEOUT_SECONDS

MAX_BODY_BYTES = 8 << 20
CHUNK_BYTES = 1 << 16


def create_token(home: Path, **fields: Any) -> str:
    ledger = open_local_ledger(str(home / "ledger.db"))
    with closing(ledger.database):
        arguments = {"name": "ci", "scope": "write", **fields}
        return tokens.create_token(ledger, time.time(), **arguments)[1]


def open_connection(server: Server) -> http.client.HTTPConnection:
    address = server.url.partition("://")[2]
    return http.client.HTTPConnection(address, timeout=TIMEOUT_SECONDS)


def get(server: Server, path: str, token: str) -> tuple[int, dict[str, str]]:
    """Status and headers of the response."""
    with closing(open_connection(server)) as connection:
        connection.request("GET", path, headers={"Authorization": f"Bearer {token}"})
        response = connection.getresponse()
        response.read()
        return response.status, dict(response.getheaders())


# TLS


@pytest.fixture(scope="module")
def pem(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a certificate, its key, the key encrypted, another key, and an invalid file."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    folder = tmp_path_factory.mktemp("pem")
    for arguments in (
        "req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 "
        "-subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1",
        "rsa -aes256 -passout pass:secret -in key.pem -out encrypted.pem",
        "genrsa -out other.pem 2048",
    ):
        subprocess.run(["openssl", *arguments.split()], cwd=folder, check=True, capture_output=True)
    (folder / "garbage.pem").write_text("not a key")
    return folder


def test_a_server_with_a_certificate_accepts_only_tls(
    start: Start, tmp_path: Path, pem: Path
) -> None:
    flags = ("--tls-cert", str(pem / "cert.pem"), "--tls-key", str(pem / "key.pem"))
    server = start(tmp_path / "home", *flags)
    assert server.url.startswith("https://127.0.0.1:")
    context = ssl.create_default_context(cafile=str(pem / "cert.pem"))
    https = http.client.HTTPSConnection(
        "localhost", server.port, timeout=TIMEOUT_SECONDS, context=context
    )
    with closing(https) as connection:
        connection.request("POST", "/docs/session")
        response = connection.getresponse()
        response.read()
        assert "; Secure" in dict(response.getheaders())["set-cookie"]
        assert connection.sock.version() in ("TLSv1.2", "TLSv1.3")
        connection.request("GET", "/health")
        assert json.load(connection.getresponse())["status"] == "healthy"
    plain = http.client.HTTPConnection("127.0.0.1", server.port, timeout=TIMEOUT_SECONDS)
    with closing(plain) as connection:
        connection.request("GET", "/health")
        with pytest.raises((http.client.HTTPException, OSError)):
            connection.getresponse()


@pytest.mark.parametrize(("certificate", "key"), [
    ("garbage.pem", "key.pem"), ("cert.pem", "garbage.pem"), ("cert.pem", "other.pem"),
    ("cert.pem", "encrypted.pem"), ("key.pem", "cert.pem"),
])  # fmt: skip
def test_an_unusable_certificate_is_reported_before_the_server_starts(
    tmp_path: Path, pem: Path, certificate: str, key: str
) -> None:
    command = [sys.executable, "-m", "holdfast", "serve", "--port", "0"]
    command += ["--tls-cert", str(pem / certificate), "--tls-key", str(pem / key)]
    result = subprocess.run(
        command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False,
        timeout=TIMEOUT_SECONDS,
        env={**os.environ, "HOLDFAST_HOME": str(tmp_path), "HOLDFAST_DATABASE": ""},
    )  # fmt: skip
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith("error: ")
    assert "hint: both are PEM files" in result.stderr
    assert " serves " not in result.stderr
    assert "pass phrase" not in result.stderr


# Rate limits


def test_the_rate_limit_of_one_token_does_not_affect_another(start: Start, tmp_path: Path) -> None:
    home = tmp_path / "home"
    limited, other = create_token(home), create_token(home)
    server = start(home, "--host", "127.0.0.2", "--rate", "1")
    for _ in range(200):
        status, headers = get(server, "/stats", limited)
        if status == 429:
            break
    assert status == 429, "the limit was not reached; does a request take a second here?"
    assert get(server, "/stats", other)[0] == 200
    time.sleep(float(headers["retry-after"]))
    assert get(server, "/stats", limited)[0] == 200


# Body limits


def generate_body(size: int) -> Iterator[bytes]:
    yield b'{"tool_name": "'
    for _ in range(size // CHUNK_BYTES):
        yield b"x" * CHUNK_BYTES
    yield b'"}'


def post_body(server: Server, **request: Any) -> int:
    """Send a body and return the status, also if the server answers before the body's end."""
    with closing(open_connection(server)) as connection:
        headers = {"Content-Type": "application/json"}
        # A server that refuses the body closes the connection while the client still sends.
        with suppress(BrokenPipeError, ConnectionResetError):
            connection.request("POST", "/api/actions", headers=headers, **request)
        return connection.getresponse().status


def test_a_body_that_is_too_large_is_refused_and_the_server_goes_on(
    start: Start, tmp_path: Path
) -> None:
    server = start(tmp_path / "home")
    size = MAX_BODY_BYTES + 2 * CHUNK_BYTES
    assert post_body(server, body=b"".join(generate_body(size))) == 413
    assert post_body(server, body=generate_body(size), encode_chunked=True) == 413
    assert server.get("/api/actions")["actions"] == []
    assert server.post("/api/actions", tool_name="Read")["tool_name"] == "Read"


def test_a_chunked_body_without_end_is_refused(start: Start, tmp_path: Path) -> None:
    server = start(tmp_path / "home")
    max_sent = 20 * MAX_BODY_BYTES
    client = socket.create_connection(("127.0.0.1", server.port), timeout=TIMEOUT_SECONDS)
    with closing(client):
        client.sendall(
            b"POST /api/actions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n"
        )
        chunk = b"%x\r\n" % CHUNK_BYTES + b" " * CHUNK_BYTES + b"\r\n"
        sent = 0
        with suppress(OSError):
            while not select.select([client], [], [], 0)[0] and sent < max_sent:
                client.sendall(chunk)
                sent += CHUNK_BYTES
    assert sent < max_sent, "the server did not answer"
    assert server.get("/health")["status"] == "healthy"


# Invalid HTTP


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"nonsense\r\n\r\n",
        b"GET /api/actions?q=" + b"x" * 70_000 + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nbroken header\r\n\r\n",
    ],
)
def test_invalid_http_is_answered_with_a_problem_document(
    start: Start, tmp_path: Path, request_bytes: bytes
) -> None:
    server = start(tmp_path / "home")
    client = socket.create_connection(("127.0.0.1", server.port), timeout=TIMEOUT_SECONDS)
    with closing(client):
        client.sendall(request_bytes)
        response = b""
        while part := client.recv(1 << 16):
            response += part
    head, _, body = response.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert b"application/problem+json" in head
    assert json.loads(body)["status"] == 400
    assert server.get("/health")["status"] == "healthy"


# Project tokens


def test_a_project_token_receives_only_events_of_its_project(start: Start, tmp_path: Path) -> None:
    home = tmp_path / "home"
    ledger = open_local_ledger(str(home / "ledger.db"))
    with closing(ledger.database):
        own, other = (
            projects.ensure_project(ledger, path, 1.0)["id"] for path in ("/own", "/other")
        )
    server = start(home)
    token = create_token(home, project=own)
    with closing(open_connection(server)) as connection:
        connection.request("GET", "/api/events", headers={"Authorization": f"Bearer {token}"})
        stream = connection.getresponse()
        assert stream.status == 200
        wait_until_subscribed(stream)
        for project in (other, None, own):
            server.post("/api/actions", tool_name="Read", project_id=project)
        event = json.loads(read_event(stream)["data"])
    assert event["project_id"] == own
