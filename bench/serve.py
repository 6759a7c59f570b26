"""How many requests a second the server takes, beside what its own parts can do in the same run.

The ratios are to a bare "hello" of the same server stack and to one-row inserts of the same driver.
The server's own CPU time for each request is told too: other work on the machine hardly moves it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psutil
import psycopg

from holdfast.ledger.opening import local_ledger

CONNECTIONS = 8
ACTION = {"tool_name": "Write", "session_id": "s1", "file_paths": ["/app/a.php"], "exit_code": 0}
SNAPSHOT = {
    "session_id": "s1",
    "trigger": "auto",
    "context_summary": "Working on authentication",
    "key_decisions": [f"decision {number}: " + "x" * 60 for number in range(80)],
}
RESTORE = {"session_id": "s1", "agent_type": "orchestrator", "max_tokens": 2000}
HELLO = """\
import sys, uvicorn
from litestar import Litestar, get
@get("/hello")
async def hello() -> dict[str, str]:
    return {"hello": "world"}
uvicorn.run(Litestar([hello], openapi_config=None, logging_config=None), port=int(sys.argv[1]),
            log_level="critical")
"""
ROW = "(id TEXT PRIMARY KEY, session TEXT, body TEXT)"


@contextmanager
def process(*argv: str, port: int, **environ: str) -> Iterator[int]:
    """A server that answers on that port; yields its process id."""
    started = subprocess.Popen(
        [sys.executable, *argv], stderr=subprocess.DEVNULL, env={**os.environ, **environ}
    )
    try:
        for _ in range(600):
            try:
                asyncio.run(load(port, "GET", "/none", lambda: None, 0.0))
                break
            except OSError:
                time.sleep(0.05)
        yield started.pid
    finally:
        started.terminate()
        started.wait(20)


async def load(port: int, method: str, path: str, body: Callable[[], Any], seconds: float) -> float:
    """Requests a second over a few connections that are kept open."""
    end = time.perf_counter() + seconds
    started = time.perf_counter()
    done = await asyncio.gather(*(_one(port, method, path, body, end) for _ in range(CONNECTIONS)))
    return sum(done) / max(1e-9, time.perf_counter() - started)


async def _one(port: int, method: str, path: str, body: Callable[[], Any], end: float) -> int:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    done = 0
    while time.perf_counter() < end:
        given = body()
        sent = json.dumps(given).encode() if given is not None else b""
        head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
        if sent:
            head += f"Content-Type: application/json\r\nContent-Length: {len(sent)}\r\n"
        writer.write(head.encode() + b"\r\n" + sent)
        answer = await reader.readuntil(b"\r\n\r\n")
        assert answer[9:10] in b"24", answer
        length = answer.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
        await reader.readexactly(int(length))
        done += 1
    writer.close()
    await writer.wait_closed()
    return done


def rate(
    pid: int, port: int, method: str, path: str, body: Callable[[], Any], seconds: float
) -> tuple[float, float]:
    """Requests a second, and the server's microseconds of CPU for each."""
    before, started = cpu(pid), time.perf_counter()
    found = asyncio.run(load(port, method, path, body, seconds))
    spent = time.perf_counter() - started
    return found, 1e6 * (cpu(pid) - before) / max(1.0, found * spent)


def cpu(pid: int) -> float:
    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system)


def inserts(run: Callable[[str], object], seconds: float) -> float:
    """One row and one commit at a time."""
    end, done = time.perf_counter() + seconds, 0
    while time.perf_counter() < end:
        run(os.urandom(8).hex())
        done += 1
    return done / seconds


def sqlite_inserts(folder: Path, seconds: float) -> float:
    with closing(sqlite3.connect(folder / "plain.db", isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(f"CREATE TABLE plain {ROW}")
        body = json.dumps(ACTION)
        statement = "INSERT INTO plain VALUES (?, 's1', ?)"
        return inserts(lambda name: connection.execute(statement, (name, body)), seconds)


def postgres_inserts(url: str, seconds: float) -> float:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE TABLE plain {ROW}")
        body = json.dumps(ACTION)
        statement = "INSERT INTO plain VALUES (%s, 's1', %s)"
        return inserts(lambda name: connection.execute(statement, (name, body)), seconds)


def more_actions(home: Path, url: str, count: int) -> None:
    """So many stored actions of other sessions, put in at once."""
    columns = (
        "id, project, session, subtask, tool_name, tool_type, input, output, file_paths, metadata,"
        " created_at, updated_at"
    )
    rest = "'', 'other', '', 'Read', 'builtin', 'null', 'null', '[]', '{}'"
    if url:
        with psycopg.connect(url, autocommit=True) as connection:
            statement = (
                f"INSERT INTO actions ({columns}) SELECT 'x' || n, {rest}, n, n "
                f"FROM generate_series(1, {count}) AS n ON CONFLICT (id) DO NOTHING"
            )
            connection.execute(statement.encode())
        return
    with closing(local_ledger(str(home / "ledger.db")).database) as database:
        database.run(
            f"INSERT INTO actions ({columns}) WITH RECURSIVE c (n) AS "
            f"(SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < {count}) "
            f"SELECT 'x' || n, {rest}, n, n FROM c WHERE true ON CONFLICT (id) DO NOTHING"
        )


def measure(name: str, home: Path, url: str, floor: float, hello: float, args: Any) -> None:
    seconds, port = args.seconds, args.port + 1
    number = iter(range(10**9))
    jobs: dict[str, tuple[str, str, Callable[[], Any]]] = {
        "GET /health": ("GET", "/health", lambda: None),
        "POST actions": ("POST", "/api/actions", lambda: ACTION),
        "POST compact/save (7 KB)": (
            "POST", "/api/compact/save", lambda: {**SNAPSHOT, "number": next(number)},
        ),
        "POST compact/restore": ("POST", "/api/compact/restore", lambda: RESTORE),
    }  # fmt: skip
    with process(
        "-m", "holdfast", "serve", "--port", str(port), port=port, HOLDFAST_HOME=str(home),
        HOLDFAST_DATABASE=url,
    ) as pid:  # fmt: skip
        for title, job in jobs.items():
            found = rate(pid, port, *job, seconds)
            report(name, title, found, hello, floor if "health" not in title else 0.0)
        _, few = rate(pid, port, *jobs["POST compact/restore"], seconds)
        more_actions(home, url, args.actions)
        _, many = rate(pid, port, *jobs["POST compact/restore"], seconds)
        told = f"restore with {args.actions:,} more actions stored"
        print(f"{name:<10}{told}: {many / few:.2f} × the CPU time", flush=True)


def report(name: str, title: str, found: tuple[float, float], hello: float, floor: float) -> None:
    driver = f"{100 * found[0] / floor:>11.0f} %" if floor else f"{'–':>13}"
    spent = f"{found[1]:>10.0f}" if found[1] else f"{'–':>10}"
    share = f"{100 * found[0] / hello:>11.0f} %"
    print(f"{name:<10}{title:<28}{found[0]:>10.0f}{spent}{share}{driver}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--actions", type=int, default=1_000_000)
    parser.add_argument("--port", type=int, default=38471)
    args = parser.parse_args()
    from tests.postgres import Server

    server = Server()
    heads = ("a second", "CPU µs", "of hello", "of inserts")
    print(f"{'store':<10}{'request':<28}{heads[0]:>10}{heads[1]:>10}{heads[2]:>13}{heads[3]:>13}")
    try:
        with tempfile.TemporaryDirectory() as folder:
            with process("-c", HELLO, str(args.port), port=args.port) as pid:
                bare = rate(pid, args.port, "GET", "/hello", lambda: None, args.seconds)
            report("–", "GET hello, bare", bare, bare[0], 0.0)
            floor = sqlite_inserts(Path(folder), args.seconds)
            report("sqlite", "one-row inserts, bare", (floor, 0.0), bare[0], floor)
            measure("sqlite", Path(folder) / "home", "", floor, bare[0], args)
            with server.schema() as url:
                floor = postgres_inserts(url, args.seconds)
                report("postgres", "one-row inserts, bare", (floor, 0.0), bare[0], floor)
                measure("postgres", Path(folder) / "team", url, floor, bare[0], args)
    finally:
        server.stop()


if __name__ == "__main__":
    main()
