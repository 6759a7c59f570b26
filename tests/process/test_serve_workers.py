"""`holdfast serve --workers 2`: worker processes share requests, are restarted and end together."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import psutil
import pytest

from tests.process.serving import Server, Start, read_record_id, wait_until_subscribed
from tests.process.waiting import TIMEOUT_SECONDS, wait_until

# A worker with this many open connections takes part in serving.
MIN_CONNECTIONS = 4


@pytest.fixture
def server(start: Start, tmp_path: Path) -> Server:
    """A server with two workers."""
    started = start(tmp_path / "home", "--workers", "2")
    wait_until(lambda: len(list_workers(started)) == 2, "the second worker was not started")
    return started


def list_workers(server: Server) -> list[psutil.Process]:
    """The server's child processes without the resource tracker of `multiprocessing`."""
    return [child for child in psutil.Process(server.process.pid).children() if is_worker(child)]


def is_worker(process: psutil.Process) -> bool:
    with suppress(psutil.NoSuchProcess, psutil.ZombieProcess):
        return "spawn_main" in " ".join(process.cmdline())
    return False


def wait_until_ended(processes: list[psutil.Process]) -> bool:
    """Whether all of them end in time."""
    return not psutil.wait_procs(processes, timeout=TIMEOUT_SECONDS)[1]


def wait_for_restart(server: Server, before: list[psutil.Process]) -> list[psutil.Process]:
    """Wait until two workers run that are not the same two as before, and return them."""

    def find_new_workers() -> list[psutil.Process]:
        workers = list_workers(server)
        return workers if len(workers) == 2 and set(workers) != set(before) else []

    return wait_until(find_new_workers, "the worker was not restarted")


def test_both_workers_serve_one_store_and_stop_together(server: Server) -> None:
    workers = list_workers(server)
    deadline = time.monotonic() + TIMEOUT_SECONDS
    posted = 0
    with ExitStack() as connections:
        # One worker may be ready much earlier than the other.
        while min(len(worker.net_connections("tcp")) - 1 for worker in workers) < MIN_CONNECTIONS:
            assert time.monotonic() < deadline, "only one worker serves requests"
            connection = connections.enter_context(
                closing(
                    http.client.HTTPConnection("127.0.0.1", server.port, timeout=TIMEOUT_SECONDS)
                )
            )
            body = json.dumps({"tool_name": f"t{posted}", "session_id": "s"})
            connection.request("POST", "/api/actions", body, {"Content-Type": "application/json"})
            response = connection.getresponse()
            assert (response.status, bool(response.read())) == (201, True)
            posted += 1
        actions = server.get("/api/actions?session_id=s&limit=1000")["actions"]
    stored = {action["tool_name"] for action in actions}
    assert stored >= {f"t{number}" for number in range(min(posted, 900))}
    exit_code, stderr = server.stop()
    assert exit_code == 0
    assert wait_until_ended(workers)
    entries = [json.loads(line) for line in stderr.splitlines()]
    assert len([entry for entry in entries if entry["method"] == "POST"]) == posted


def test_ctrl_c_ends_all_workers(server: Server) -> None:
    workers = list_workers(server)
    assert server.stop_with(signal.SIGINT)[0] == 0
    assert wait_until_ended(workers)


def test_a_write_through_one_worker_reaches_subscribers_of_the_other(server: Server) -> None:
    with ExitStack() as open_streams:
        # With 16 streams it is very unlikely that one worker has all of them.
        streams = [open_streams.enter_context(server.open_events()) for _ in range(16)]
        for stream in streams:
            wait_until_subscribed(stream)
        action_id = server.post_action()
        assert [read_record_id(stream) for stream in streams] == [action_id] * 16


def test_a_worker_that_dies_is_restarted_and_no_acknowledged_write_is_lost(
    server: Server,
) -> None:
    workers = list_workers(server)
    acknowledged: list[str] = []
    deadline = time.monotonic() + TIMEOUT_SECONDS

    def post_with_retries() -> None:
        # The worker may die before it answers.
        while time.monotonic() < deadline:
            with suppress(OSError, http.client.HTTPException):
                acknowledged.append(server.post_action())
                return

    with ThreadPoolExecutor(8) as clients:
        writes = [clients.submit(post_with_retries) for _ in range(300)]
        workers[0].kill()
        for write in writes:
            write.result(TIMEOUT_SECONDS)
    assert len(acknowledged) == len(writes)
    workers_after = wait_for_restart(server, workers)
    assert workers[1] in workers_after, "the other worker was restarted too"
    stored: list[str] = []
    page_parameter = ""
    while True:
        response = server.get(f"/api/actions?limit=100{page_parameter}")
        stored += [action["id"] for action in response["actions"]]
        if not response["next"]:
            break
        page_parameter = f"&page={response['next']}"
    assert set(acknowledged) <= set(stored)
    exit_code, stderr = server.stop()
    assert exit_code == 0
    assert f"Child process [{workers[0].pid}] died" in stderr


def test_workers_end_when_their_parent_is_killed(server: Server) -> None:
    workers = list_workers(server)
    server.process.kill()
    assert wait_until_ended(workers)


def test_the_port_of_running_workers_is_reported_as_in_use(server: Server, tmp_path: Path) -> None:
    for options in (), ("--workers", "2"):
        result = subprocess.run(
            [sys.executable, "-m", "holdfast", "serve", "--port", str(server.port), *options],
            env={**os.environ, "HOLDFAST_HOME": str(tmp_path)}, capture_output=True, text=True,
            check=False, timeout=TIMEOUT_SECONDS,
        )  # fmt: skip
        assert result.returncode == 1
        assert "cannot be listened on" in result.stderr


@pytest.mark.parametrize("number", ["0", "-1", "65"])
def test_a_number_of_workers_out_of_range_is_refused(number: str) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "holdfast", "serve", "--workers", number],
        capture_output=True, text=True, check=False, timeout=TIMEOUT_SECONDS,
    )  # fmt: skip
    assert (result.returncode, result.stdout) == (1, "")
    assert "--workers takes a number from 1 to 64" in result.stderr
