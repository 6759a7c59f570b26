"""How many requests a second the server takes, beside what its own parts can do in the same run.

The ratios are to a "hello" of the same server, with and without its framework, and to one-row
inserts of the same driver (`bench/inserts.py`). All take turns, several times, and the median
counts, because other work on the machine comes and goes. The server's own CPU time for a request
depends on that the least.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections import defaultdict
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import psutil
import psycopg

from bench import inserts
from bench.agent_requests import ANOTHER, BODIES, jobs, other_sessions
from bench.load import drive, request
from bench.serving import BARE, HELLO, cpu, holdfast, postgres, process, script
from holdfast.ledger.opening import local_ledger

CONNECTIONS = 8
# How often it is looked at what a restore costs among few actions and among many.
LOOKS = 9
FRAMEWORK, SERVER = "GET hello, with the framework", "GET hello, without it"
Figures = dict[str, list[float]]
# A server's own folder, and its database, if that is not in there.
Place = tuple[Path, str]


def measured(
    server: psutil.Process, port: int, ask: Callable[[], bytes], seconds: float
) -> tuple[float, float]:
    """Requests a second, and the server's microseconds of CPU for each."""
    before = cpu(server)
    found = drive(port, ask, seconds, CONNECTIONS)
    if found.refused:
        raise RuntimeError(f"{found.refused} of {len(found.took)} requests were refused")
    return found.rate, 1e6 * (cpu(server) - before) / max(1, len(found.took))


class Table:
    """Figures of one store, taken in turns."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.rates: Figures = defaultdict(list)
        self.spent: Figures = defaultdict(list)
        self.of_hello: Figures = defaultdict(list)
        self.of_bare: Figures = defaultdict(list)
        self.of_inserts: Figures = defaultdict(list)

    def add(self, title: str, rate: float, spent: float) -> None:
        self.rates[title].append(rate)
        self.spent[title].append(spent)

    def compare(self, title: str, floor: float | None) -> None:
        """With what was last measured of the others."""
        rate = self.rates[title][-1]
        self.of_hello[title].append(100 * rate / self.rates[FRAMEWORK][-1])
        self.of_bare[title].append(100 * rate / self.rates[SERVER][-1])
        if floor is not None:
            self.of_inserts[title].append(100 * rate / floor)

    def show(self) -> None:
        for title in self.rates:
            told = [self._told(self.rates, title), self._told(self.spent, title)]
            for shares in (self.of_hello, self.of_bare, self.of_inserts):
                told.append(self._told(shares, title, " %"))
            print(f"{self.name:<10}{title:<32}{''.join(f'{one:>12}' for one in told)}", flush=True)

    @staticmethod
    def _told(figures: Figures, title: str, unit: str = "") -> str:
        some = [one for one in figures[title] if one]
        return f"{statistics.median(some):,.0f}{unit}" if some else "–"


def measure(name: str, place: Place, full: Place, insert: inserts.Insert, args: Any) -> None:
    """One store: everything by turns, and then a restore beside one among many more actions."""
    table, port = Table(name), args.port
    hello = request(port, "GET", "/hello")
    with ExitStack() as stack:
        framework = stack.enter_context(process(*script(HELLO, port), port=port))
        bare = stack.enter_context(process(*script(BARE, port + 1), port=port + 1))
        server = stack.enter_context(holdfast(port + 2, *place, args.workers))
        ways = jobs(port + 2)
        other_sessions(port + 2)
        for _ in range(args.rounds):
            table.add(FRAMEWORK, *measured(framework, port, lambda: hello, args.seconds))
            table.add(SERVER, *measured(bare, port + 1, lambda: hello, args.seconds))
            for title, ask in ways.items():
                floor = _floor(table, title, insert, args.seconds)
                table.add(title, *measured(server, port + 2, ask, args.seconds))
                table.compare(title, floor)
        table.show()
        with holdfast(port + 3, *full) as full_server:
            other_sessions(port + 3)
            more_actions(*full, args.actions)
            servers = (full_server, port + 3), (server, port + 2)
            ratio = statistics.median(_dearer(servers, args.seconds) for _ in range(LOOKS))
        told = f"restore with {args.actions:,} more actions stored"
        print(f"{name:<10}{told}: {ratio:.2f} × the CPU time", flush=True)


def _dearer(servers: tuple[tuple[psutil.Process, int], ...], seconds: float) -> float:
    """How many times the CPU time a restore takes the first of them. They take turns, because the
    machine is never the same for long.
    """
    spent = [measured(one, port, jobs(port)[ANOTHER], seconds)[1] for one, port in servers]
    return spent[0] / spent[1]


def _floor(table: Table, title: str, insert: inserts.Insert, seconds: float) -> float | None:
    if title not in BODIES:
        return None
    floor = inserts.rate(insert, BODIES[title], seconds)
    table.add(f"bare inserts ({len(BODIES[title]):,} bytes)", *floor)
    return floor[0]


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
            # Else the database would do so by itself in a while, beside what is measured.
            connection.execute("VACUUM ANALYZE actions")
            connection.execute("CHECKPOINT")
        return
    with closing(local_ledger(str(home / "ledger.db")).database) as database:
        database.run(
            f"INSERT INTO actions ({columns}) WITH RECURSIVE c (n) AS "
            f"(SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < {count}) "
            f"SELECT 'x' || n, {rest}, n, n FROM c WHERE true ON CONFLICT (id) DO NOTHING"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=2.0, help="for each figure")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--actions", type=int, default=1_000_000)
    parser.add_argument("--workers", type=int, default=1, help="processes of the server")
    parser.add_argument("--port", type=int, default=18471)
    args = parser.parse_args()
    heads = ("a second", "CPU µs", "of hello", "of bare", "of inserts")
    print(f"{'store':<10}{'request':<32}{''.join(f'{one:>12}' for one in heads)}")
    with tempfile.TemporaryDirectory() as folder:
        homes = [Path(folder) / name for name in ("home", "full", "team", "full team")]
        with inserts.sqlite_driver(Path(folder)) as insert:
            measure("sqlite", (homes[0], ""), (homes[1], ""), insert, args)
        with postgres() as url, postgres() as other, inserts.postgres_driver(url) as insert:
            measure("postgres", (homes[2], url), (homes[3], other), insert, args)


if __name__ == "__main__":
    main()
