"""Whether the server's memory stays where it is under load, on both stores at the same time.

Twenty agents for each ask as fast as they can, five minutes long unless told otherwise. The second
half is compared with the first, without its beginning.
"""

from __future__ import annotations

import argparse
import tempfile
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from statistics import linear_regression, mean

import psutil

from bench.crowd import Crowd
from bench.serving import holdfast, memory, postgres

AGENTS = 20
SAMPLES_A_SECOND = 2
# Pools fill and caches grow to their limits first.
WARM_UP = 0.2


class Watched:
    """One server, its load and its memory."""

    def __init__(self, store: str, port: int, server: psutil.Process) -> None:
        self.store = store
        self._port = port
        self._server = server
        self._samples: list[tuple[float, float]] = []
        self._answered = self._refused = 0

    def load(self, seconds: float) -> None:
        found = Crowd(self._port, AGENTS).as_fast_as_they_can(seconds)
        self._answered = sum(len(one.took) for one in found.values())
        self._refused = sum(one.refused for one in found.values())

    def look(self, at: float) -> None:
        self._samples.append((at, memory(self._server)))

    def show(self, seconds: float) -> None:
        warm = [(at, size) for at, size in self._samples if at >= WARM_UP * seconds]
        earlier = mean(size for at, size in warm if at < seconds / 2)
        later = mean(size for at, size in warm if at >= seconds / 2)
        slope = linear_regression(*zip(*warm, strict=True)).slope * 3600
        print(
            f"{self.store:<10}{self._answered:>10,}{self._refused:>9}{self._samples[0][1]:>10.1f}"
            f"{earlier:>10.1f}{later:>10.1f}{100 * (later / earlier - 1):>9.1f} %{slope:>10.1f}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--port", type=int, default=18491)
    args = parser.parse_args()
    heads = ("requests", "refused", "MB begin", "earlier", "later", "more", "MB/hour")
    print(f"{'store':<10}" + "".join(f"{one:>10}" for one in heads))
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        urls = {"sqlite": "", "postgres": stack.enter_context(postgres())}
        servers = [
            Watched(store, port, stack.enter_context(holdfast(port, Path(folder) / store, url)))
            for port, (store, url) in enumerate(urls.items(), args.port)
        ]
        _run(servers, args.seconds)
        for server in servers:
            server.show(args.seconds)


def _run(servers: list[Watched], seconds: float) -> None:
    loads = [threading.Thread(target=one.load, args=(seconds,)) for one in servers]
    started = time.perf_counter()
    for load in loads:
        load.start()
    while (now := time.perf_counter()) < started + seconds:
        for server in servers:
            server.look(now - started)
        time.sleep(1 / SAMPLES_A_SECOND)
    for load in loads:
        load.join()


if __name__ == "__main__":
    main()
