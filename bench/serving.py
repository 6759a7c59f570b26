"""Servers to be measured, and what they are measured by: their own CPU time and memory."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

# The same framework and the same server, with nothing to do.
HELLO = """\
import sys, uvicorn
from litestar import Litestar, get
@get("/hello")
async def hello() -> dict[str, str]:
    return {"hello": "world"}
uvicorn.run(Litestar([hello], openapi_config=None, logging_config=None), port=int(sys.argv[1]),
            log_level="critical")
"""


@contextmanager
def process(*argv: str, port: int, **environ: str) -> Iterator[psutil.Process]:
    """A Python process that listens on that port."""
    started = subprocess.Popen(
        [sys.executable, *argv], stderr=subprocess.DEVNULL, env={**os.environ, **environ}
    )
    try:
        _wait_for(port)
        yield psutil.Process(started.pid)
    finally:
        started.terminate()
        started.wait(20)


def script(text: str, port: int) -> tuple[str, ...]:
    return "-c", text, str(port)


@contextmanager
def holdfast(port: int, home: Path, url: str, workers: int = 1) -> Iterator[psutil.Process]:
    """`holdfast serve` on its own files, or on a team's database."""
    environ = {"HOLDFAST_HOME": str(home), "HOLDFAST_DATABASE": url}
    options = "--port", str(port), "--workers", str(workers)
    with process("-m", "holdfast", "serve", *options, port=port, **environ) as found:
        # It listens before its tables are migrated.
        urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=30).close()
        yield found


def _wait_for(port: int) -> None:
    for _ in range(600):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise TimeoutError(f"nothing listens on {port}")


@contextmanager
def postgres() -> Iterator[str]:
    """The address of an empty place in a PostgreSQL that is gone afterwards."""
    from tests.postgres import PostgresServer

    server = PostgresServer()
    try:
        with server.schema() as url:
            yield url
    finally:
        server.stop()


def cpu(server: psutil.Process) -> float:
    """Seconds of CPU that it and its workers have used; other work hardly moves this."""
    return sum(
        float(times.user + times.system)
        for times in (one.cpu_times() for one in (server, *server.children()))
    )


def memory(server: psutil.Process) -> float:
    """Resident megabytes."""
    return float(server.memory_info().rss) / (1 << 20)
