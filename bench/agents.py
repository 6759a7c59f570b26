"""A thousand agents on one server: at the pace of agents at work, and as fast as they can."""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path

from bench.crowd import Crowd, Found
from bench.load import Answers
from bench.serving import cpu, holdfast, memory, postgres


def show(store: str, way: str, found: Found, used: float, megabytes: float) -> None:
    whole = Answers(seconds=max(one.seconds for one in found.values()))
    for answers in found.values():
        whole.took.extend(answers.took)
        whole.refused += answers.refused
    for kind, answers in {**found, "all": whole}.items():
        shares = (answers.percentile(share) for share in (0.5, 0.95, 0.99, 1.0))
        told = "".join(f"{one:>9.1f}" for one in shares)
        print(f"{store:<10}{way:<14}{kind:<16}{answers.rate:>9.1f}{told}{answers.refused:>9}")
    print(
        f"{store:<10}{way:<14}the server: {100 * used / whole.seconds:.0f} % of a core, "
        f"{1e6 * used / max(1, len(whole.took)):.0f} µs for a request, {megabytes:.0f} MB",
        flush=True,
    )


def measure(store: str, home: Path, url: str, args: argparse.Namespace) -> None:
    with holdfast(args.port, home, url) as server:
        crowd = Crowd(args.port, args.agents)
        ways = {"at their pace": crowd.at_their_pace, "full speed": crowd.as_fast_as_they_can}
        for way, run in ways.items():
            before = cpu(server)
            found = run(args.seconds)
            show(store, way, found, cpu(server) - before, memory(server))
            time.sleep(1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--agents", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=60.0, help="for each way and store")
    parser.add_argument("--port", type=int, default=18481)
    args = parser.parse_args()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    heads = "".join(
        f"{one:>9}" for one in ("a second", "p50 ms", "p95", "p99", "longest", "refused")
    )
    print(f"{'store':<10}{'':<14}{'request':<16}{heads}")
    with tempfile.TemporaryDirectory() as folder:
        measure("sqlite", Path(folder) / "home", "", args)
        with postgres() as url:
            measure("postgres", Path(folder) / "team", url, args)


if __name__ == "__main__":
    main()
