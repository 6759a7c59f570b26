"""Several processes behind one address: shared out, started again, and gone together."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import psutil
import pytest

from tests.process.serving import PATIENCE, Server, Start, read_event, wait_until_heard


@pytest.fixture
def pair(start: Start, tmp_path: Path) -> Server:
    server = start(tmp_path / "home", "--workers", "2")
    by = time.monotonic() + PATIENCE
    while len(workers(server)) < 2:
        assert time.monotonic() < by, "no second worker was started"
        time.sleep(0.05)
    return server


def workers(server: Server) -> list[psutil.Process]:
    return children(server.process.pid)


def children(pid: int) -> list[psutil.Process]:
    """The processes that serve; `multiprocessing` starts one more, which tracks resources."""
    return [one for one in psutil.Process(pid).children() if is_worker(one)]


def is_worker(process: psutil.Process) -> bool:
    with suppress(psutil.NoSuchProcess, psutil.ZombieProcess):
        return "spawn_main" in " ".join(process.cmdline())
    return False


def gone(processes: list[psutil.Process]) -> bool:
    return not psutil.wait_procs(processes, timeout=PATIENCE)[1]


def eventually(server: Server, others: list[psutil.Process]) -> list[psutil.Process]:
    """Two workers that are not just those."""
    for _ in range(PATIENCE * 10):
        found = workers(server)
        if len(found) == 2 and set(found) != set(others):
            return found
        time.sleep(0.1)
    raise AssertionError("no worker was started again")


def connected(server: Server) -> Iterator[http.client.HTTPConnection]:
    while True:
        yield http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)


def test_both_serve_one_store_and_stop_together(pair: Server) -> None:
    both = workers(pair)
    by = time.monotonic() + PATIENCE
    made = 0
    with ExitStack() as lines:
        # One may be ready much earlier than the other.
        while min(len(one.net_connections("tcp")) - 1 for one in both) < 4:
            assert time.monotonic() < by, "only one of them serves"
            line = lines.enter_context(closing(next(connected(pair))))
            body = json.dumps({"tool_name": f"t{made}", "session_id": "s"})
            line.request("POST", "/api/actions", body, {"Content-Type": "application/json"})
            answer = line.getresponse()
            assert (answer.status, bool(answer.read())) == (201, True)
            made += 1
        found = pair.get("/api/actions?session_id=s&limit=1000")["actions"]
    assert {one["tool_name"] for one in found} >= {f"t{number}" for number in range(min(made, 900))}
    code, said = pair.stop()
    assert (code, gone(both)) == (0, True)
    logged = [json.loads(line) for line in said.splitlines()]
    assert len([one for one in logged if one["method"] == "POST"]) == made


def test_ctrl_c_ends_them_all(pair: Server) -> None:
    both = workers(pair)
    assert pair.end(signal.SIGINT)[0] == 0
    assert gone(both)


def test_what_happens_at_one_is_told_by_the_other(pair: Server) -> None:
    with ExitStack() as open_ones:
        # All of them at one worker has a chance of one in two to the sixteenth.
        listeners = [open_ones.enter_context(pair.events()) for _ in range(16)]
        for one in listeners:
            wait_until_heard(one)
        made = pair.post("/api/actions", tool_name="Read")["id"]
        heard = [json.loads(read_event(one)["data"])["record_id"] for one in listeners]
    assert heard == [made] * 16


def test_a_worker_that_dies_is_started_again_and_nothing_acknowledged_is_lost(
    pair: Server,
) -> None:
    both = workers(pair)
    told: list[str] = []
    by = time.monotonic() + PATIENCE

    def write(number: int) -> None:
        # Whoever was not answered does not know, and tries again.
        while time.monotonic() < by:
            with suppress(OSError, http.client.HTTPException):
                told.append(pair.post("/api/actions", tool_name=f"t{number}")["id"])
                return

    with ThreadPoolExecutor(8) as pool:
        writing = [pool.submit(write, number) for number in range(300)]
        both[0].kill()
        for one in writing:
            one.result(PATIENCE)
    assert len(told) == len(writing)
    now = eventually(pair, both)
    assert both[1] in now, "the other one went on"
    found: list[str] = []
    page = ""
    while True:
        answer = pair.get(f"/api/actions?limit=100{page}")
        found += [one["id"] for one in answer["actions"]]
        if not answer["next"]:
            break
        page = f"&page={answer['next']}"
    assert set(told) <= set(found)
    code, said = pair.stop()
    assert code == 0
    assert f"Child process [{both[0].pid}] died" in said


def test_none_outlives_the_process_that_started_them(pair: Server) -> None:
    both = workers(pair)
    pair.process.kill()
    assert gone(both)


def test_an_address_that_workers_have_is_taken(pair: Server, tmp_path: Path) -> None:
    for options in (), ("--workers", "2"):
        done = subprocess.run(
            [sys.executable, "-m", "holdfast", "serve", "--port", str(pair.port), *options],
            env={**os.environ, "HOLDFAST_HOME": str(tmp_path)}, capture_output=True, text=True,
            check=False, timeout=PATIENCE,
        )  # fmt: skip
        assert done.returncode == 1
        assert "cannot be listened on" in done.stderr


@pytest.mark.parametrize("number", ["0", "-1", "65"])
def test_how_many_has_limits(number: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "holdfast", "serve", "--workers", number],
        capture_output=True, text=True, check=False, timeout=PATIENCE,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (1, "")
    assert "--workers takes a number from 1 to 64" in done.stderr
