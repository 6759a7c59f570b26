"""A thousand agents on one server, at the pace of agents at work: about 324 requests a second.

wrk has no fixed rate: 100 connections stand for the agents, and each pauses between an answer and
its next request. The rate that was reached is printed beside the latencies, and a hello of the same
framework at the same pace. Fails if the p99 on either database is 250 ms or more.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import psutil

from bench.serving import HELLO, cpu, holdfast, memory, postgres, process, script
from bench.wrk import need_wrk, run_wrk

RATE = 324
CONNECTIONS = 100
MAX_P99_MS = 250.0


def measure_hello(args: argparse.Namespace) -> None:
    """The same number of requests to a hello of the same framework: what the machine does now."""
    with process(*script(HELLO, args.port), port=args.port) as server:
        show("hello", server, args, "hello.lua")


def show(title: str, server: psutil.Process, args: argparse.Namespace, file: str) -> float:
    """Print the figures of one server; returns its p99 in milliseconds."""
    address = f"http://127.0.0.1:{args.port}"
    # The pause leaves some time for the answer itself.
    pause = f"{1000 * CONNECTIONS / args.rate - 5:.0f}"
    run_wrk(file, address, pause, connections=CONNECTIONS, seconds=3)
    before = cpu(server)
    load = run_wrk(file, address, pause, connections=CONNECTIONS, seconds=args.seconds)
    core = 100 * (cpu(server) - before) / load.seconds
    print(
        f"{title:<12}{load.rate:>11.0f}{load.p50:>11.1f}{load.p99:>11.1f}{load.longest:>11.1f}"
        f"{core:>9.0f} %{memory(server):>11.0f}",
        flush=True,
    )
    return load.p99


def measure(database: str, home: Path, url: str, args: argparse.Namespace) -> bool:
    """Print the figures of one database; whether its p99 is within the limit."""
    with holdfast(args.port, home, url, args.workers) as server:
        return show(database, server, args, "agents.lua") < MAX_P99_MS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rate", type=float, default=RATE, help="requests a second to aim at")
    parser.add_argument("--seconds", type=float, default=20.0, help="for each database")
    parser.add_argument("--workers", type=int, default=1, help="processes of the server")
    parser.add_argument("--port", type=int, default=18481)
    args = parser.parse_args()
    need_wrk()
    columns = ("requests/s", "p50 ms", "p99 ms", "longest", "of a core", "MB")
    print("1,000 agents" + "".join(f"{one:>11}" for one in columns))
    measure_hello(args)
    with tempfile.TemporaryDirectory() as folder:
        are_within = [measure("sqlite", Path(folder) / "home", "", args)]
        with postgres() as url:
            are_within.append(measure("postgres", Path(folder) / "team", url, args))
    if not all(are_within):
        sys.exit(f"p99 is {MAX_P99_MS:.0f} ms or more")


if __name__ == "__main__":
    main()
