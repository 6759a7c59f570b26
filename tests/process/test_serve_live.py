"""Live events of a server process: a thousand clients, WebSockets, two servers, slow listeners."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from holdfast.ledger.actions import add_action
from holdfast.ledger.opening import local_ledger
from tests.process.serving import PATIENCE, Server, Start, read_event, wait_until_heard

LISTENERS = Path(__file__).parent / "listeners.py"
# Systems often allow no more than this to begin with.
FEW = """\
import os, resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (256, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
os.execv(sys.argv[1], sys.argv[1:])
"""
FEW_DESCRIPTORS = (sys.executable, "-c", FEW)
# Measured: 26 KB. More than this for each listener would be another design.
LISTENER_KB = 100


def opened(server: Server, query: str = "", **more: Any) -> ClientConnection:
    address = f"{server.url.replace('http', 'ws', 1)}/api/events/ws{query}"
    return connect(address, open_timeout=PATIENCE, **more)


def told(client: ClientConnection) -> Any:
    return json.loads(client.recv(timeout=PATIENCE))


def resident_kb(server: Server) -> int:
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))


@pytest.fixture
def server(tmp_path: Path, start: Start) -> Server:
    return start(tmp_path / "home", before=FEW_DESCRIPTORS)


@pytest.fixture
def listeners() -> Iterator[list[subprocess.Popen[str]]]:
    started: list[subprocess.Popen[str]] = []
    yield started
    for process in started:
        process.kill()
        with process:
            pass


def test_a_thousand_listeners_hear_each_event_once(
    server: Server, listeners: list[subprocess.Popen[str]]
) -> None:
    before = resident_kb(server)
    command = [sys.executable, str(LISTENERS), str(server.port), "1000", "5"]
    listeners.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
    output = listeners[0].stdout
    assert output is not None
    assert output.readline() == "listening\n"
    made = [server.post("/api/actions", tool_name="Read")["id"] for _ in range(5)]
    assert json.loads(output.readline()) == [[1000, made]]
    assert resident_kb(server) - before < 1000 * LISTENER_KB
    code, said = server.stop()
    assert code == 0
    assert "Traceback" not in said


def test_a_listener_that_does_not_read_slows_nobody_and_misses_nothing(
    server: Server, tmp_path: Path
) -> None:
    count = 5000
    before = resident_kb(server)
    with socket.socket() as slow, server.events() as quick:
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.connect(("127.0.0.1", server.port))
        slow.sendall(b"GET /api/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        slow.settimeout(PATIENCE)
        stream = slow.makefile("rb")
        wait_until_heard(stream)
        written = write_elsewhere(tmp_path / "home", count)
        heard = [json.loads(read_event(quick)["data"])["record_id"] for _ in range(count)]
        assert heard == written
        assert resident_kb(server) - before < 50_000, "what it does not take is not kept for it"
        assert server.get("/health")["status"] == "healthy"
        late = [json.loads(read_event(stream)["data"])["record_id"] for _ in range(count)]
        assert late == written


def write_elsewhere(home: Path, count: int) -> list[str]:
    """Many actions at once, as another process would."""
    ledger = local_ledger(str(home / "ledger.db"))
    with ledger.together():
        made = [
            str(add_action(ledger, 1.0, tool_name="Read", ident=f"a{number}")["id"])
            for number in range(count)
        ]
    ledger.database.close()
    return made


def test_what_one_server_writes_reaches_who_listens_to_another(
    postgres_url: str, tmp_path: Path, start: Start
) -> None:
    one, two = (start(tmp_path / name, database=postgres_url) for name in ("one", "two"))
    with two.events() as stream, opened(two) as client:
        wait_until_heard(stream)
        assert told(client)["kind"] == "listening"
        made = one.post("/api/actions", tool_name="Read")["id"]
        assert json.loads(read_event(stream)["data"])["record_id"] == made
        assert told(client)["record_id"] == made


def test_a_listener_hears_what_happens_after_a_restart_of_the_database(
    postgres: Any, postgres_url: str, tmp_path: Path, start: Start
) -> None:
    server = start(tmp_path / "home", database=postgres_url)
    with server.events() as stream:
        wait_until_heard(stream)
        postgres.restart()
        made = eventually(server)
        assert json.loads(read_event(stream)["data"])["record_id"] == made


def eventually(server: Server) -> str:
    for _ in range(100):
        try:
            return str(server.post("/api/actions", tool_name="Read")["id"])
        except OSError as problem:
            getattr(problem, "close", lambda: None)()
            time.sleep(0.2)
    raise AssertionError("the server did not recover")


# WebSockets


def test_a_web_socket_tells_the_same_and_goes_on_where_it_stopped(server: Server) -> None:
    with server.events() as stream, opened(server) as client:
        wait_until_heard(stream)
        first = told(client)
        assert first["kind"] == "listening"
        made = [server.post("/api/actions", tool_name=name)["id"] for name in ("a", "b", "c")]
        events = [told(client) for _ in made]
        assert events == [json.loads(read_event(stream)["data"]) for _ in made]
        assert [one["record_id"] for one in events] == made
        client.send("whatever a client says is ignored")
    with opened(server, f"?after={events[0]['event_id']}") as client:
        told(client)
        assert [told(client)["record_id"] for _ in made[1:]] == made[1:]
    with opened(server, f"?after={first['event_id']}&session_id=nobody") as client:
        told(client)
        server.post("/api/actions", tool_name="d", session_id="nobody")
        assert told(client)["session_id"] == "nobody", "what was not asked for is left out"


@pytest.mark.parametrize(("headers", "status"), [
    ({"Origin": "http://evil.example"}, 403),
    ({"Origin": "null"}, 403),
    ({"Origin": "http://127.0.0.1:1"}, 403),
    ({"Sec-Fetch-Site": "cross-site"}, 403),
    ({"Authorization": "Bearer nonsense"}, 401),
])  # fmt: skip
def test_another_site_s_page_opens_no_web_socket(
    server: Server, headers: dict[str, str], status: int
) -> None:
    with pytest.raises(InvalidStatus) as caught:
        opened(server, additional_headers=headers)
    assert caught.value.response.status_code == status
    assert json.loads(caught.value.response.body or b"")["status"] == status
    with urllib.request.urlopen(f"{server.url}/docs", timeout=PATIENCE) as page:
        cookie = page.headers["Set-Cookie"].partition(";")[0]
    own = {"Origin": server.url, "Cookie": cookie}
    with opened(server, additional_headers=own) as client:
        assert told(client)["kind"] == "listening"


def test_a_web_socket_by_another_name_is_refused(server: Server) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as client:
        client.sendall(
            b"GET /api/events/ws HTTP/1.1\r\nHost: evil.example\r\nUpgrade: websocket\r\n"
            b"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        )
        assert b" 421 " in client.makefile("rb").readline()


def test_from_elsewhere_a_web_socket_needs_a_token(tmp_path: Path, start: Start) -> None:
    made = subprocess.run(
        [sys.executable, "-m", "holdfast", "token", "new", "ci", "--scope", "read", "--json"],
        check=True, capture_output=True, text=True,
        env={**os.environ, "HOLDFAST_HOME": str(tmp_path / "home")},
    )  # fmt: skip
    server = start(tmp_path / "home", "--host", "0.0.0.0")
    server.url = server.url.replace("0.0.0.0", "127.0.0.1")
    with pytest.raises(InvalidStatus) as caught:
        opened(server)
    assert caught.value.response.status_code == 401
    bearer = {"Authorization": f"Bearer {json.loads(made.stdout)['token']}"}
    with opened(server, additional_headers=bearer) as client:
        assert told(client)["kind"] == "listening"


def test_a_stop_ends_every_listener_and_says_why(server: Server) -> None:
    with server.events() as stream, opened(server) as client:
        wait_until_heard(stream)
        told(client)
        server.process.send_signal(signal.SIGTERM)
        with pytest.raises(ConnectionClosed) as closed:
            client.recv(timeout=PATIENCE)
        assert closed.value.rcvd is not None
        assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (1001, "the server stops")
        assert b"data" not in stream.read(), "the stream ends as streams do, not in the middle"
    code, said = server.stop()
    assert code == 0
    lines = [json.loads(line) for line in said.splitlines()]
    assert {(one["path"], one["status"], one.get("code")) for one in lines} == {
        ("/api/events", 200, None), ("/api/events/ws", 101, 1001),
    }  # fmt: skip
