"""The access log: one JSON line for each request, never with a body or a query.

A thread writes the lines, so that a slow reader of the log does not delay requests.
"""

from __future__ import annotations

import json
import os
import select
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from holdfast.redaction import redact
from holdfast.server.http_rules import restore_slashes

if TYPE_CHECKING:
    from holdfast.server.http_rules import App, Message, Receive, Scope, Send

MAX_WAITING_LINES = 10_000
# How long `close` waits for the remaining lines.
CLOSE_SECONDS = 2.0
# A write of up to this size to a pipe is not mixed with the writes of other processes.
ATOMIC_WRITE_BYTES = getattr(select, "PIPE_BUF", 512)


class AccessLogMiddleware:
    """ASGI middleware that logs every request when it is over."""

    def __init__(self, app: App, log: Callable[[dict[str, Any]], None]) -> None:
        self._app = app
        self._log = log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        response: dict[str, Any] = {"status": 0, "bytes": 0}

        async def send_and_record(message: Message) -> None:
            _record(response, message)
            await send(message)

        try:
            await self._app(scope, receive, send_and_record)
        finally:
            client = scope.get("client")
            self._log({
                "at": round(time.time(), 3),
                "client": client[0] if client else None,
                "method": scope["method"],
                # A client may have sent a secret instead of an id.
                "path": redact(restore_slashes(scope["path"])),
                **response,
                "milliseconds": round((time.perf_counter() - started) * 1000, 1),
            })  # fmt: skip


def _record(response: dict[str, Any], message: Message) -> None:
    if message["type"] == "http.response.start":
        response["status"] = message["status"]
    elif message["type"] == "http.response.body":
        response["bytes"] += len(message.get("body", b""))


class AccessLog:
    """Writes lines to a file descriptor in a thread.

    Writing to a full pipe blocks, and the event loop must not block. If the queue is full, lines
    are dropped and counted, and the number is written as soon as possible.
    """

    def __init__(self, descriptor: int, max_lines: int = MAX_WAITING_LINES) -> None:
        self._descriptor = descriptor
        self._max_lines = max_lines
        self._lines: deque[dict[str, Any]] = deque()
        self._dropped = 0
        self._condition = threading.Condition()
        self._is_closing = False
        self._writer = threading.Thread(target=self._run, name="access log", daemon=True)
        self._writer.start()

    def __call__(self, line: dict[str, Any]) -> None:
        """Queue a line, or count it as dropped if the queue is full."""
        with self._condition:
            if len(self._lines) < self._max_lines:
                self._lines.append(line)
            else:
                self._dropped += 1
            self._condition.notify()

    def close(self) -> None:
        """Write the waiting lines, for at most CLOSE_SECONDS."""
        with self._condition:
            self._is_closing = True
            self._condition.notify()
        self._writer.join(CLOSE_SECONDS)

    def _run(self) -> None:
        try:
            while lines := self._take_lines():
                for chunk in _to_chunks([f"{json.dumps(line)}\n".encode() for line in lines]):
                    self._write(chunk)
        except OSError:
            # The reader is gone: drop all further lines.
            with self._condition:
                self._max_lines = 0

    def _write(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._descriptor, data) :]

    def _take_lines(self) -> list[dict[str, Any]]:
        """Wait for lines and return all of them; empty once the log is closed."""
        with self._condition:
            self._condition.wait_for(lambda: self._lines or self._dropped or self._is_closing)
            lines = list(self._lines)
            self._lines.clear()
            if self._dropped:
                lines.append({"dropped": self._dropped})
                self._dropped = 0
            return lines


def _to_chunks(lines: list[bytes]) -> Iterator[bytes]:
    """Yield whole lines, joined up to ATOMIC_WRITE_BYTES: other workers write to the same pipe."""
    chunk = b""
    for line in lines:
        if chunk and len(chunk) + len(line) > ATOMIC_WRITE_BYTES:
            yield chunk
            chunk = b""
        chunk += line
    yield chunk
