"""Live events of a server process: a thousand clients, two servers, slow listeners."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.ledger.actions import add_action
from holdfast.ledger.connect import open_local_ledger
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
    ledger = open_local_ledger(str(home / "ledger.db"))
    with ledger.transaction():
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
    with two.events() as stream:
        wait_until_heard(stream)
        made = one.post("/api/actions", tool_name="Read")["id"]
        assert json.loads(read_event(stream)["data"])["record_id"] == made


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


def test_a_stop_ends_every_stream_properly(server: Server) -> None:
    with server.events() as stream:
        wait_until_heard(stream)
        server.process.send_signal(signal.SIGTERM)
        assert b"data" not in stream.read(), "it ends as streams do, not in the middle"
    code, said = server.stop()
    assert code == 0
    lines = [json.loads(line) for line in said.splitlines()]
    assert [(one["path"], one["status"]) for one in lines] == [("/api/events", 200)]
