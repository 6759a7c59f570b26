"""A load of HTTP requests from one thread: a few microseconds each, so that the server is measured.

Connections are kept open, and each sends its next request when the answer to the last is there.
"""

from __future__ import annotations

import json
import select
import socket
import time
from array import array
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

CHUNK = 1 << 16
# Longer than any answer should take, also on a busy machine.
PATIENCE = 30.0

Ask = Callable[[], bytes]


@dataclass(slots=True)
class Answers:
    """What came back, and how long each answer took."""

    seconds: float = 0.0
    refused: int = 0
    took: array[float] = field(default_factory=lambda: array("d"))

    @property
    def rate(self) -> float:
        return len(self.took) / max(1e-9, self.seconds)

    def percentile(self, share: float) -> float:
        """Milliseconds that this share of the answers took at most."""
        ordered = sorted(self.took)
        return 1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


def request(port: int, method: str, path: str, body: Any = None) -> bytes:
    sent = b"" if body is None else json.dumps(body).encode()
    head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
    if sent:
        head += f"Content-Type: application/json\r\nContent-Length: {len(sent)}\r\n"
    return head.encode() + b"\r\n" + sent


def drive(port: int, ask: Ask, seconds: float, connections: int) -> Answers:
    """Send what `ask` makes as fast as answers come."""
    found = Answers()
    with select.epoll() as ready:
        callers = {one.number: one for one in (Caller(port, ready) for _ in range(connections))}
        started = time.perf_counter()
        for one in callers.values():
            one.send(ask())
        while (now := time.perf_counter()) < started + seconds:
            for number, _ in ready.poll(PATIENCE):
                if callers[number].heard(found):
                    callers[number].send(ask())
        found.seconds = now - started
        for one in callers.values():
            one.close()
    return found


class Caller:
    """One connection, with at most one request on its way."""

    def __init__(self, port: int, ready: select.epoll) -> None:
        self._port = port
        self._ready = ready
        self._kept, self._missing, self._since = b"", 0, 0.0
        self._socket = self._opened()
        self.number = self._socket.fileno()

    def _opened(self) -> socket.socket:
        made = socket.create_connection(("127.0.0.1", self._port), timeout=PATIENCE)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._ready.register(made.fileno(), select.EPOLLIN)
        return made

    def send(self, words: bytes, since: float | None = None) -> None:
        """`since` is when it should have been sent, if that is not now."""
        self._since = time.perf_counter() if since is None else since
        self._socket.sendall(words)

    def heard(self, found: Answers) -> bool:
        """Take in what came; whether that was the end of the answer."""
        some = self._socket.recv(CHUNK)
        if not some:
            raise ConnectionError(f"the server closed the connection after {self._kept!r}")
        if self._missing:
            self._missing -= len(some)
        else:
            self._begin(self._kept + some, found)
        done = not self._missing and not self._kept
        if done:
            found.took.append(time.perf_counter() - self._since)
        return done

    def _begin(self, some: bytes, found: Answers) -> None:
        head, blank, body = some.partition(b"\r\n\r\n")
        self._kept = b"" if blank else some
        if blank:
            found.refused += head[9:10] != b"2"
            length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
            self._missing = int(length or 0) - len(body)

    def close(self) -> None:
        self._socket.close()
