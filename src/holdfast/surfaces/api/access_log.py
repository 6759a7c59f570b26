"""The access log as JSON lines, written beside the requests: who does not read it stops nobody."""

from __future__ import annotations

import json
import os
import select
import threading
from collections import deque
from collections.abc import Iterator
from typing import Any

MOST_WAITING = 10_000
CLOSE_SECONDS = 2.0
# What a pipe takes in one piece, whoever else writes to it.
PACKET = getattr(select, "PIPE_BUF", 512)


class AccessLog:
    """Lines for a file descriptor, by a thread of its own.

    A pipe that nobody empties makes every writer wait, and the event loop must not. What finds
    no room is counted instead, and the number is told when there is room again.
    """

    def __init__(self, descriptor: int, most: int = MOST_WAITING) -> None:
        self._descriptor = descriptor
        self._most = most
        self._lines: deque[dict[str, Any]] = deque()
        self._dropped = 0
        self._turn = threading.Condition()
        self._closing = False
        self._writer = threading.Thread(target=self._work, name="access log", daemon=True)
        self._writer.start()

    def __call__(self, request: dict[str, Any]) -> None:
        with self._turn:
            if len(self._lines) < self._most:
                self._lines.append(request)
            else:
                self._dropped += 1
            self._turn.notify()

    def close(self) -> None:
        """Write what waits, unless nobody takes it."""
        with self._turn:
            self._closing = True
            self._turn.notify()
        self._writer.join(CLOSE_SECONDS)

    def _work(self) -> None:
        try:
            while some := self._waiting():
                for packet in _packets([f"{json.dumps(one)}\n".encode() for one in some]):
                    self._write(packet)
        except OSError:
            # The reader is gone; there is nobody to tell.
            with self._turn:
                self._most = 0

    def _write(self, text: bytes) -> None:
        while text:
            text = text[os.write(self._descriptor, text) :]

    def _waiting(self) -> list[dict[str, Any]]:
        """All that waits; nothing when it is over."""
        with self._turn:
            self._turn.wait_for(lambda: self._lines or self._dropped or self._closing)
            some = list(self._lines)
            self._lines.clear()
            if self._dropped:
                some.append({"dropped": self._dropped})
                self._dropped = 0
            return some


def _packets(lines: list[bytes]) -> Iterator[bytes]:
    """Whole lines, as many as go at once: other workers write to the same pipe."""
    packet = b""
    for line in lines:
        if packet and len(packet) + len(line) > PACKET:
            yield packet
            packet = b""
        packet += line
    yield packet
