"""Requests a second of one server beside a hello of the same framework, and restores among few and
many actions, as ratios.

Hello and each request take turns, and the median of the rounds counts, because other programs use
the machine too.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections import defaultdict
from contextlib import ExitStack, closing
from pathlib import Path

import psycopg

from bench.serving import HELLO, cpu, holdfast, postgres, process, script
from bench.wrk import need_wrk, run_wrk
from holdfast.ledger.connect import open_local_ledger

CONNECTIONS = 8
REQUESTS = {
    "GET /health": "/health",
    "POST /api/actions": "action",
    "POST /api/compact/save (6 KB)": "save",
    "POST /api/compact/restore": "restore",
}
FEW_ACTIONS, MANY_ACTIONS = 1_000, 1_000_000
COLUMNS = (
    "id, project, session, subtask, tool_name, tool_type, input, output, file_paths, metadata,"
    " created_at, updated_at"
)
VALUES = "'', 'other', '', 'Read', 'builtin', 'null', 'null', '[]', '{}'"


def rate(port: int, kind: str, seconds: float) -> float:
    address = f"http://127.0.0.1:{port}"
    return run_wrk("one.lua", address, kind, connections=CONNECTIONS, seconds=seconds).rate


def measure(database: str, home: Path, url: str, args: argparse.Namespace) -> None:
    """Print the rates of one database, and how much a restore costs among many actions."""
    rates, shares = defaultdict(list), defaultdict(list)
    port = args.port + 1
    with ExitStack() as stack:
        stack.enter_context(process(*script(HELLO, args.port), port=args.port))
        server = stack.enter_context(holdfast(port, home, url, args.workers))
        add_actions(home, url, FEW_ACTIONS)
        for _ in range(args.rounds):
            hello = rate(args.port, "/hello", args.seconds)
            rates["hello"].append(hello)
            for title, kind in REQUESTS.items():
                rates[title].append(rate(port, kind, args.seconds))
                shares[title].append(100 * rates[title][-1] / hello)
        for title, some in rates.items():
            share = f"{statistics.median(shares[title]):>11.0f} %" if title in shares else ""
            print(f"{database:<12}{title:<34}{statistics.median(some):>10.0f}{share}", flush=True)
        costs = []
        for count in (FEW_ACTIONS, MANY_ACTIONS):
            add_actions(home, url, count)
            costs.append(statistics.median(restore_cost(server, port) for _ in range(args.rounds)))
    print(
        f"{database:<12}restore with {MANY_ACTIONS:,} actions instead of {FEW_ACTIONS:,}: "
        f"{costs[1] / costs[0]:.2f} × the CPU time",
        flush=True,
    )


def restore_cost(server: object, port: int) -> float:
    """Seconds of the server's CPU time per restore: other programs hardly change it."""
    before = cpu(server)  # type: ignore[arg-type]
    load = run_wrk(
        "one.lua", f"http://127.0.0.1:{port}", "restore", connections=CONNECTIONS, seconds=2
    )
    return (cpu(server) - before) / load.requests  # type: ignore[arg-type]


def add_actions(home: Path, url: str, count: int) -> None:
    """Insert so many actions of another session by SQL; those that are there already stay."""
    if url:
        with psycopg.connect(url, autocommit=True) as connection:
            statement = (
                f"INSERT INTO actions ({COLUMNS}) SELECT 'x' || n, {VALUES}, n, n "
                f"FROM generate_series(1, {count}) AS n ON CONFLICT (id) DO NOTHING"
            )
            connection.execute(statement.encode())
            # Otherwise autovacuum would run beside the measurement.
            connection.execute("VACUUM ANALYZE actions")
            connection.execute("CHECKPOINT")
        return
    with closing(open_local_ledger(str(home / "ledger.db")).database) as database:
        database.run(
            f"INSERT INTO actions ({COLUMNS}) WITH RECURSIVE c (n) AS "
            f"(SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < {count}) "
            f"SELECT 'x' || n, {VALUES}, n, n FROM c WHERE true ON CONFLICT (id) DO NOTHING"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=2.0, help="for each figure")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=1, help="processes of the server")
    parser.add_argument("--port", type=int, default=18471)
    args = parser.parse_args()
    need_wrk()
    print(f"{'database':<12}{'request':<34}{'a second':>10}{'of hello':>13}")
    with tempfile.TemporaryDirectory() as folder:
        measure("sqlite", Path(folder) / "home", "", args)
        with postgres() as url:
            measure("postgres", Path(folder) / "team", url, args)


if __name__ == "__main__":
    main()
