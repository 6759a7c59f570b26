"""The event stream of a server process: a thousand subscribers, two servers, slow readers."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

from holdfast.ledger.actions import add_action
from holdfast.ledger.connect import open_local_ledger
from tests.postgres import PostgresServer
from tests.process.serving import (
    Server,
    Start,
    read_record_id,
    retry_while_unavailable,
    wait_until_subscribed,
)
from tests.process.waiting import TIMEOUT_SECONDS

SUBSCRIBERS_PROGRAM = Path(__file__).parent / "event_subscribers.py"
# A soft limit that is common by default; the server has to raise it.
LIMIT_DESCRIPTORS = """\
import os, resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (256, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
os.execv(sys.argv[1], sys.argv[1:])
"""
WITH_FEW_DESCRIPTORS = (sys.executable, "-c", LIMIT_DESCRIPTORS)
# A subscriber takes 26 KB in practice; more than this would mean that events are copied for each.
MAX_SUBSCRIBER_KB = 100
MAX_UNREAD_EVENTS_KB = 50_000


def read_resident_kb(server: Server) -> int:
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))


@pytest.fixture
def server(tmp_path: Path, start: Start) -> Server:
    return start(tmp_path / "home", command_prefix=WITH_FEW_DESCRIPTORS)


@contextmanager
def run_subscribers(server: Server, subscribers: int, events: int) -> Iterator[IO[str]]:
    """Start a process with that many subscribers, and yield its stdout."""
    arguments = [str(number) for number in (server.port, subscribers, events)]
    command = [sys.executable, str(SUBSCRIBERS_PROGRAM), *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout
        finally:
            process.kill()


def test_a_thousand_subscribers_receive_each_event_once(server: Server) -> None:
    memory_before = read_resident_kb(server)
    with run_subscribers(server, 1000, events=5) as stdout:
        assert stdout.readline() == "listening\n"
        posted = [server.post_action() for _ in range(5)]
        assert json.loads(stdout.readline()) == [[1000, posted]]
        assert read_resident_kb(server) - memory_before < 1000 * MAX_SUBSCRIBER_KB
        exit_code, stderr = server.stop()
    assert exit_code == 0
    assert "Traceback" not in stderr


def test_a_subscriber_that_does_not_read_delays_no_other_and_misses_no_event(
    server: Server, tmp_path: Path
) -> None:
    count = 5000
    memory_before = read_resident_kb(server)
    with socket.socket() as slow_socket, server.open_events() as fast_stream:
        slow_socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow_socket.connect(("127.0.0.1", server.port))
        slow_socket.sendall(b"GET /api/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        slow_socket.settimeout(TIMEOUT_SECONDS)
        slow_stream = slow_socket.makefile("rb")
        wait_until_subscribed(slow_stream)
        written = write_actions_directly(tmp_path / "home", count)
        assert [read_record_id(fast_stream) for _ in range(count)] == written
        memory_growth = read_resident_kb(server) - memory_before
        assert memory_growth < MAX_UNREAD_EVENTS_KB, "unread events are kept in memory"
        assert server.get("/health")["status"] == "healthy"
        assert [read_record_id(slow_stream) for _ in range(count)] == written


def write_actions_directly(home: Path, count: int) -> list[str]:
    """Write actions to the database in one transaction, without the server."""
    ledger = open_local_ledger(str(home / "ledger.db"))
    with ledger.transaction():
        action_ids = [
            str(add_action(ledger, 1.0, tool_name="Read", ident=f"a{number}")["id"])
            for number in range(count)
        ]
    ledger.database.close()
    return action_ids


def test_a_write_through_one_server_reaches_subscribers_of_another(
    postgres_url: str, tmp_path: Path, start: Start
) -> None:
    one, two = (start(tmp_path / name, database=postgres_url) for name in ("one", "two"))
    with two.open_events() as stream:
        wait_until_subscribed(stream)
        action_id = one.post_action()
        assert read_record_id(stream) == action_id


def test_an_open_event_stream_continues_after_a_restart_of_the_database(
    postgres: PostgresServer, postgres_url: str, tmp_path: Path, start: Start
) -> None:
    server = start(tmp_path / "home", database=postgres_url)
    with server.open_events() as stream:
        wait_until_subscribed(stream)
        postgres.restart()
        action_id = retry_while_unavailable(server.post_action)
        assert read_record_id(stream) == action_id


def test_a_stopping_server_ends_event_streams_properly(server: Server) -> None:
    with server.open_events() as stream:
        wait_until_subscribed(stream)
        server.process.send_signal(signal.SIGTERM)
        # Raises `IncompleteRead` if the last chunk is missing.
        assert b"data" not in stream.read()
    exit_code, stderr = server.stop()
    assert exit_code == 0
    entries = [json.loads(line) for line in stderr.splitlines()]
    assert [(entry["path"], entry["status"]) for entry in entries] == [("/api/events", 200)]
