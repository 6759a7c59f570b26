"""Programs of this machine that keep their connections open, as load tools and agents do."""

from __future__ import annotations

import http.client
import json
import signal
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.process.serving import PATIENCE, Server, Start

JSON = {"Content-Type": "application/json"}
CALLERS = 8


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, Any]:
    """Where a server is started, and started again."""
    url = request.getfixturevalue("postgres_url") if request.param == "postgres" else ""
    return {"home": tmp_path / "home", "database": url}


def open_connection(server: Server) -> http.client.HTTPConnection:
    return http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)


def ask(connection: http.client.HTTPConnection, path: str, body: Any) -> Any:
    connection.request("POST", path, json.dumps(body), JSON)
    answer = connection.getresponse()
    told = json.loads(answer.read())
    assert answer.status in (200, 201), told
    return told


def ids(server: Server) -> list[str]:
    """Of all actions, page by page."""
    found: list[str] = []
    page: str | None = ""
    while page is not None:
        told = server.get(f"/api/actions?limit=100{f'&page={page}' if page else ''}")
        found += [one["id"] for one in told["actions"]]
        page = told["next"]
    return found


def test_everybody_gets_the_answers_to_their_own_requests(
    place: dict[str, Any], start: Start
) -> None:
    server = start(**place)

    def work(number: int) -> list[str]:
        made = []
        with closing(open_connection(server)) as connection:
            for turn in range(10):
                name = f"tool-{number}-{turn}"
                told = ask(connection, "/api/actions", {"tool_name": name})
                assert told["tool_name"] == name
                made.append(told["id"])
                saved = {"session_id": f"s{number}", "key_decisions": [name, f"never {number}"]}
                ask(connection, "/api/compact/save", saved)
                brief = ask(connection, "/api/compact/restore", {"session_id": f"s{number}"})
                assert f"never {number}" in brief["additionalContext"]
                assert name in brief["additionalContext"]
        return made

    with ThreadPoolExecutor(CALLERS) as callers:
        made = [one for some in callers.map(work, range(CALLERS)) for one in some]
    assert sorted(ids(server)) == sorted(made)


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGKILL])
def test_what_was_acknowledged_outlives_the_server(
    place: dict[str, Any], start: Start, sign: int
) -> None:
    server = start(**place)
    acknowledged: list[str] = []
    enough = threading.Event()

    def load() -> None:
        with closing(open_connection(server)) as connection:
            try:
                while True:
                    acknowledged.append(ask(connection, "/api/actions", {"tool_name": "x"})["id"])
                    if len(acknowledged) >= 100:
                        enough.set()
            except (OSError, http.client.HTTPException):
                return

    with ThreadPoolExecutor(CALLERS) as callers:
        for _ in range(CALLERS):
            callers.submit(load)
        assert enough.wait(PATIENCE)
        code, said = server.end(sign)
    assert code == (0 if sign == signal.SIGTERM else -sign)
    assert "Traceback" not in said
    assert set(acknowledged) <= set(ids(start(**place)))


def test_requests_that_come_in_one_go_are_answered_in_their_order(
    place: dict[str, Any], start: Start
) -> None:
    server = start(**place)
    names = [f"n{number}" for number in range(50)]
    bodies = [json.dumps({"tool_name": name}).encode() for name in names]
    head = b"POST /api/actions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    sent = b"".join(head + b"Content-Length: %d\r\n\r\n" % len(body) + body for body in bodies)
    got = b""
    with closing(socket.create_connection(("127.0.0.1", server.port), PATIENCE)) as client:
        client.sendall(sent)
        by = time.monotonic() + PATIENCE
        while got.count(b"HTTP/1.1 201") < len(names) or not got.endswith(b"}"):
            assert time.monotonic() < by
            got += client.recv(1 << 16)
    told = [part.partition(b'"')[0].decode() for part in got.split(b'"tool_name":"')[1:]]
    assert told == names
