"""What a server on the network must hold, tried on real processes: TLS, paces, bodies, projects."""

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
from tests.process.serving import PATIENCE, Server, Start, read_event, wait_until_heard

LARGEST = 8 << 20


def token(home: Path, **fields: Any) -> str:
    ledger = open_local_ledger(str(home / "ledger.db"))
    with closing(ledger.database):
        given = {"name": "ci", "scope": "write", **fields}
        return tokens.create_token(ledger, time.time(), **given)[1]


def connection(server: Server) -> http.client.HTTPConnection:
    address = server.url.partition("://")[2]
    return http.client.HTTPConnection(address, timeout=PATIENCE)


def get(server: Server, path: str, secret: str) -> tuple[int, dict[str, str], str]:
    with closing(connection(server)) as line:
        line.request("GET", path, headers={"Authorization": f"Bearer {secret}"})
        answer = line.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read().decode()


# TLS


@pytest.fixture(scope="module")
def pem(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for localhost, its key, the same key locked, and another's."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    folder = tmp_path_factory.mktemp("pem")
    for words in (
        "req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 "
        "-subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1",
        "rsa -aes256 -passout pass:secret -in key.pem -out locked.pem",
        "genrsa -out other.pem 2048",
    ):
        subprocess.run(["openssl", *words.split()], cwd=folder, check=True, capture_output=True)
    (folder / "garbage.pem").write_text("not a key")
    return folder


def test_with_a_certificate_it_speaks_tls_and_nothing_else(
    start: Start, tmp_path: Path, pem: Path
) -> None:
    flags = ("--tls-cert", str(pem / "cert.pem"), "--tls-key", str(pem / "key.pem"))
    server = start(tmp_path / "home", *flags)
    assert server.url.startswith("https://127.0.0.1:")
    port = int(server.url.rpartition(":")[2])
    trusting = ssl.create_default_context(cafile=str(pem / "cert.pem"))
    with closing(http.client.HTTPSConnection(
        "localhost", port, timeout=PATIENCE, context=trusting
    )) as line:  # fmt: skip
        line.request("GET", "/docs")
        answer = line.getresponse()
        answer.read()
        assert "; Secure" in dict(answer.getheaders())["set-cookie"]
        assert line.sock.version() in ("TLSv1.2", "TLSv1.3")
        line.request("GET", "/health")
        assert json.load(line.getresponse())["status"] == "healthy"
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)) as line:
        line.request("GET", "/health")
        with pytest.raises((http.client.HTTPException, OSError)):
            line.getresponse()


@pytest.mark.parametrize(("certificate", "key"), [
    ("garbage.pem", "key.pem"), ("cert.pem", "garbage.pem"), ("cert.pem", "other.pem"),
    ("cert.pem", "locked.pem"), ("key.pem", "cert.pem"),
])  # fmt: skip
def test_a_certificate_that_cannot_be_used_is_explained_before_anything_is_served(
    tmp_path: Path, pem: Path, certificate: str, key: str
) -> None:
    words = [sys.executable, "-m", "holdfast", "serve", "--port", "0"]
    words += ["--tls-cert", str(pem / certificate), "--tls-key", str(pem / key)]
    done = subprocess.run(
        words, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=PATIENCE,
        check=False, env={**os.environ, "HOLDFAST_HOME": str(tmp_path), "HOLDFAST_DATABASE": ""},
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: ")
    assert "hint: both are PEM files" in done.stderr
    assert " serves " not in done.stderr
    assert "pass phrase" not in done.stderr


# How often


def test_a_token_that_asks_too_often_waits_and_another_does_not(
    start: Start, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    hasty, calm = token(home), token(home)
    server = start(home, "--host", "127.0.0.2", "--rate", "1")
    for _ in range(200):
        status, headers, _ = get(server, "/stats", hasty)
        if status == 429:
            break
    assert status == 429, "a machine that takes a second for each request would not get here"
    assert get(server, "/stats", calm)[0] == 200
    time.sleep(float(headers["retry-after"]))
    assert get(server, "/stats", hasty)[0] == 200


# How much


def pieces(size: int) -> Iterator[bytes]:
    yield b'{"tool_name": "'
    for _ in range(size >> 16):
        yield b"x" * (1 << 16)
    yield b'"}'


def status_of(server: Server, **more: Any) -> int:
    """What a body is answered with, by a client that listens while it sends."""
    with closing(connection(server)) as line:
        headers = {"Content-Type": "application/json"}
        # Whoever is answered before the end finds the way closed.
        with suppress(BrokenPipeError, ConnectionResetError):
            line.request("POST", "/api/actions", headers=headers, **more)
        return line.getresponse().status


def test_a_body_that_is_too_large_is_refused_and_others_are_served(
    start: Start, tmp_path: Path
) -> None:
    server = start(tmp_path / "home")
    size = LARGEST + (1 << 17)
    assert status_of(server, body=b"".join(pieces(size))) == 413
    assert status_of(server, body=pieces(size), encode_chunked=True) == 413
    assert server.get("/api/actions")["actions"] == []
    assert server.post("/api/actions", tool_name="Read")["tool_name"] == "Read"


def test_an_endless_body_is_cut_off(start: Start, tmp_path: Path) -> None:
    server = start(tmp_path / "home")
    host, _, port = server.url.partition("://")[2].partition(":")
    with closing(socket.create_connection((host, int(port)), timeout=PATIENCE)) as line:
        line.sendall(
            b"POST /api/actions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n"
        )
        chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
        sent = 0
        with suppress(OSError):
            while not select.select([line], [], [], 0)[0] and sent < 20 * LARGEST:
                line.sendall(chunk)
                sent += 0x10000
    assert sent < 20 * LARGEST, "it never answered"
    assert server.get("/health")["status"] == "healthy"


@pytest.mark.parametrize(
    "sent",
    [
        b"nonsense\r\n\r\n",
        b"GET /api/actions?q=" + b"x" * 70_000 + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nbroken header\r\n\r\n",
    ],
)
def test_what_is_no_http_gets_a_problem(start: Start, tmp_path: Path, sent: bytes) -> None:
    server = start(tmp_path / "home")
    with closing(socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE)) as line:
        line.sendall(sent)
        told = b""
        while part := line.recv(1 << 16):
            told += part
    head, _, body = told.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert b"application/problem+json" in head
    assert json.loads(body)["status"] == 400
    assert server.get("/health")["status"] == "healthy"


# Whose


def test_a_project_s_token_hears_of_its_project_only(start: Start, tmp_path: Path) -> None:
    home = tmp_path / "home"
    ledger = open_local_ledger(str(home / "ledger.db"))
    with closing(ledger.database):
        ours, theirs = (
            projects.ensure_project(ledger, path, 1.0)["id"] for path in ("/ours", "/theirs")
        )
    server = start(home)
    secret = token(home, project=ours)
    with closing(connection(server)) as line:
        line.request("GET", "/api/events", headers={"Authorization": f"Bearer {secret}"})
        stream = line.getresponse()
        assert stream.status == 200
        wait_until_heard(stream)
        for project in (theirs, None, ours):
            server.post("/api/actions", tool_name="Read", project_id=project)
        told = json.loads(read_event(stream)["data"])
    assert told["project_id"] == ours
