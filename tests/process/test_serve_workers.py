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

from holdfast.surfaces.api.workers import SOON_SECONDS
from tests.process.serving import PATIENCE, Server, Start, read_event, wait_until_heard

if not hasattr(os, "fork"):
    pytest.skip("this system cannot divide a process", allow_module_level=True)

MANY = 64


@pytest.fixture
def pair(start: Start, tmp_path: Path) -> Server:
    return start(tmp_path / "home", "--workers", "2")


def workers(server: Server) -> list[psutil.Process]:
    return children(server.process.pid)


def children(pid: int) -> list[psutil.Process]:
    """Those that serve, not what they start themselves."""
    mine = psutil.Process(pid).children()
    return [one for one in mine if one.status() != psutil.STATUS_ZOMBIE]


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
    assert len(both) == 2
    with ExitStack() as lines:
        some = [
            lines.enter_context(closing(line))
            for line, _ in zip(connected(pair), range(MANY), strict=False)
        ]
        for number, line in enumerate(some):
            body = json.dumps({"tool_name": f"t{number}", "session_id": "s"})
            line.request("POST", "/api/actions", body, {"Content-Type": "application/json"})
            answer = line.getresponse()
            assert (answer.status, bool(answer.read())) == (201, True)
        served = [len(one.net_connections("tcp")) - 1 for one in both]
        assert min(served) >= MANY / 8, served
        found = pair.get("/api/actions?session_id=s&limit=100")["actions"]
    assert {one["tool_name"] for one in found} == {f"t{number}" for number in range(MANY)}
    code, said = pair.stop()
    assert (code, gone(both)) == (0, True)
    logged = [json.loads(line) for line in said.splitlines()]
    assert len([one for one in logged if one["method"] == "POST"]) == MANY


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
    time.sleep(SOON_SECONDS)
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
    assert "Worker 1 of 2 was ended by signal 9 and was started again." in said


def test_one_that_dies_at_once_ends_the_server_and_is_told(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "holdfast", "serve", "--port", "0", "--workers", "2"]
    environ = {**os.environ, "HOLDFAST_HOME": str(tmp_path)}
    with subprocess.Popen(command, env=environ, stderr=subprocess.PIPE, text=True) as process:
        by = time.monotonic() + PATIENCE
        # Before it serves: how long that takes is the machine's matter.
        while len(both := children(process.pid)) < 2 and time.monotonic() < by:
            time.sleep(0.01)
        both[1].kill()
        said = process.communicate(timeout=PATIENCE)[1]
    assert (process.returncode, gone(both)) == (1, True)
    assert "error: A worker ended as soon as it was started: was ended by signal 9" in said
    assert "hint: " in said


def test_none_outlives_the_process_that_started_them(pair: Server) -> None:
    both = workers(pair)
    pair.process.kill()
    assert gone(both)


def test_a_token_may_ask_as_often_as_of_one_process(start: Start, tmp_path: Path) -> None:
    home = tmp_path / "home"
    made = subprocess.run(
        [sys.executable, "-m", "holdfast", "token", "new", "hasty"],
        env={**os.environ, "HOLDFAST_HOME": str(home)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    headers = {"Authorization": f"Bearer {made.stdout.strip()}"}
    server = start(home, "--workers", "2", "--rate", "10")
    begin, allowed = time.time(), 0
    for line, _ in zip(connected(server), range(100), strict=False):
        with closing(line):
            line.request("GET", "/stats", headers=headers)
            allowed += line.getresponse().status == 200
    # Twenty at once, and ten a second: two buckets would have let forty through.
    assert 20 <= allowed <= 21 + 10 * (time.time() - begin)


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
    assert "--workers is a number from 1 to 64" in done.stderr
