"""Clients that keep their connections open and send many requests, as agents do."""

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

from tests.process.serving import Server, Start
from tests.process.waiting import TIMEOUT_SECONDS

JSON = {"Content-Type": "application/json"}
CLIENTS = 8


@pytest.fixture(params=["sqlite", "postgres"])
def server_options(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, Any]:
    """Arguments of `start`, so that a test can start a second server on the same data."""
    url = request.getfixturevalue("postgres_url") if request.param == "postgres" else ""
    return {"home": tmp_path / "home", "database": url}


def open_connection(server: Server) -> http.client.HTTPConnection:
    return http.client.HTTPConnection("127.0.0.1", server.port, timeout=TIMEOUT_SECONDS)


def post(connection: http.client.HTTPConnection, path: str, body: Any) -> Any:
    connection.request("POST", path, json.dumps(body), JSON)
    response = connection.getresponse()
    content = json.loads(response.read())
    assert response.status in (200, 201), content
    return content


def list_action_ids(server: Server) -> list[str]:
    """The ids of all actions, read page by page."""
    action_ids: list[str] = []
    page: str | None = ""
    while page is not None:
        response = server.get(f"/api/actions?limit=100{f'&page={page}' if page else ''}")
        action_ids += [action["id"] for action in response["actions"]]
        page = response["next"]
    return action_ids


def test_concurrent_clients_get_the_responses_to_their_own_requests(
    server_options: dict[str, Any], start: Start
) -> None:
    server = start(**server_options)

    def send_requests(number: int) -> list[str]:
        action_ids = []
        session_id = f"s{number}"
        with closing(open_connection(server)) as connection:
            for turn in range(10):
                tool = f"tool-{number}-{turn}"
                action = post(connection, "/api/actions", {"tool_name": tool})
                assert action["tool_name"] == tool
                action_ids.append(action["id"])
                snapshot = {"session_id": session_id, "key_decisions": [tool, f"never {number}"]}
                post(connection, "/api/compact/save", snapshot)
                brief = post(connection, "/api/compact/restore", {"session_id": session_id})
                assert f"never {number}" in brief["additionalContext"]
                assert tool in brief["additionalContext"]
        return action_ids

    with ThreadPoolExecutor(CLIENTS) as clients:
        results = list(clients.map(send_requests, range(CLIENTS)))
    posted = [action_id for action_ids in results for action_id in action_ids]
    assert sorted(list_action_ids(server)) == sorted(posted)


@pytest.mark.parametrize("signal_number", [signal.SIGTERM, signal.SIGKILL])
def test_a_server_stopped_under_load_keeps_acknowledged_writes(
    server_options: dict[str, Any], start: Start, signal_number: int
) -> None:
    server = start(**server_options)
    acknowledged: list[str] = []
    has_enough = threading.Event()

    def post_until_stopped() -> None:
        with closing(open_connection(server)) as connection:
            try:
                while True:
                    acknowledged.append(post(connection, "/api/actions", {"tool_name": "x"})["id"])
                    if len(acknowledged) >= 100:
                        has_enough.set()
            except (OSError, http.client.HTTPException):
                return

    with ThreadPoolExecutor(CLIENTS) as clients:
        for _ in range(CLIENTS):
            clients.submit(post_until_stopped)
        assert has_enough.wait(TIMEOUT_SECONDS)
        exit_code, stderr = server.stop_with(signal_number)
    assert exit_code == (0 if signal_number == signal.SIGTERM else -signal_number)
    assert "Traceback" not in stderr
    assert set(acknowledged) <= set(list_action_ids(start(**server_options)))


def test_pipelined_requests_are_answered_in_their_order(
    server_options: dict[str, Any], start: Start
) -> None:
    server = start(**server_options)
    tools = [f"n{number}" for number in range(50)]
    bodies = [json.dumps({"tool_name": tool}).encode() for tool in tools]
    head = b"POST /api/actions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    requests = b"".join(head + b"Content-Length: %d\r\n\r\n" % len(body) + body for body in bodies)
    received = b""
    with closing(socket.create_connection(("127.0.0.1", server.port), TIMEOUT_SECONDS)) as client:
        client.sendall(requests)
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while received.count(b"HTTP/1.1 201") < len(tools) or not received.endswith(b"}"):
            assert time.monotonic() < deadline
            received += client.recv(1 << 16)
    answered = [part.partition(b'"')[0].decode() for part in received.split(b'"tool_name":"')[1:]]
    assert answered == tools
