"""How long it takes to find the user at the other end of a connection, among many connections."""

from __future__ import annotations

import resource
import socket
import statistics
import time
from contextlib import ExitStack

from holdfast.server.peer_user import LOOKUPS, Lookup

CONNECTIONS = (1, 1000, 5000)
ROUNDS = 200


def measure(lookup: Lookup, clients: list[socket.socket]) -> list[float]:
    """The microseconds of each lookup, fastest first."""
    times = []
    for number in range(ROUNDS):
        client = clients[number * 37 % len(clients)]
        ends = client.getsockname(), client.getpeername()
        before = time.perf_counter()
        lookup(*ends)
        times.append((time.perf_counter() - before) * 1e6)
    return sorted(times)


def main() -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    print(f"{'connections':<12}{'lookup':<18}{'median us':>12}{'p99 us':>12}")
    for count in CONNECTIONS:
        with ExitStack() as stack:
            listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
            clients = []
            for _ in range(count):
                clients.append(socket.create_connection(listener.getsockname()))
                stack.enter_context(clients[-1])
                stack.enter_context(listener.accept()[0])
            for lookup in LOOKUPS:
                times = measure(lookup, clients)
                p99 = times[ROUNDS * 99 // 100]
                print(
                    f"{count:<12}{lookup.__name__:<18}{statistics.median(times):>12.0f}{p99:>12.0f}"
                )


if __name__ == "__main__":
    main()
