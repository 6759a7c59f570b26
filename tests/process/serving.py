"""`holdfast serve` as a process, with a small HTTP client for tests."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from tests.process.waiting import POLL_SECONDS, TIMEOUT_SECONDS, wait_until

Result = TypeVar("Result")


class Server:
    """`holdfast serve` on a free port."""

    def __init__(
        self,
        home: Path,
        *options: str,
        database: str = "",
        command_prefix: tuple[str, ...] = (),
    ) -> None:
        environ = {**os.environ, "HOLDFAST_HOME": str(home), "HOLDFAST_DATABASE": database}
        command = [sys.executable, "-m", "holdfast", "serve", "--port", "0", "--access-log"]
        self.process = subprocess.Popen(
            [*command_prefix, *command, *options], env=environ,
            stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        assert self.process.stderr is not None
        self.startup_stderr = ""
        while True:
            line = self.process.stderr.readline()
            assert line, f"the server did not start: {self.startup_stderr}"
            self.startup_stderr += line
            if " serves " in line:
                break
        self.url = line.split(" ")[0]
        self._stderr_lines: list[str] = []
        # Without a reader the pipe would be full after some hundred requests.
        self._reader = threading.Thread(target=self._read_stderr, daemon=True)
        self._reader.start()

    def _read_stderr(self) -> None:
        assert self.process.stderr is not None
        self._stderr_lines += self.process.stderr

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def get(self, path: str) -> Any:
        with urllib.request.urlopen(self.url + path, timeout=TIMEOUT_SECONDS) as response:
            return json.load(response)

    def post(self, path: str, /, **body: Any) -> Any:
        request = urllib.request.Request(
            self.url + path, json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:
            return json.load(response)

    def post_action(self) -> str:
        """Store an action and return its id."""
        return str(self.post("/api/actions", tool_name="Read")["id"])

    def open_events(self, last_event_id: str = "") -> Any:
        """Open the event stream; the response is a context manager."""
        headers = {"Last-Event-ID": last_event_id} if last_event_id else {}
        request = urllib.request.Request(f"{self.url}/api/events", headers=headers)
        return urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS)

    def wait_for_stderr(self, text: str) -> None:
        """Wait until a line after startup contains the text."""
        wait_until(
            lambda: any(text in line for line in tuple(self._stderr_lines)),
            f"no line on stderr contains {text!r}",
        )

    def stop(self) -> tuple[int, str]:
        """Send SIGTERM; return the exit code and what stderr contains after startup."""
        return self.stop_with(signal.SIGTERM)

    def stop_with(self, signal_number: int) -> tuple[int, str]:
        """Send the signal; return the exit code and what stderr contains after startup."""
        self.process.send_signal(signal_number)
        exit_code = self.process.wait(TIMEOUT_SECONDS)
        self._reader.join(TIMEOUT_SECONDS)
        assert self.process.stderr is not None
        self.process.stderr.close()
        return exit_code, "".join(self._stderr_lines)


Start = Callable[..., Server]


def find_link(server: Server) -> str:
    """The link that the server prints where the system does not tell which user calls."""
    server.wait_for_stderr("#code=")
    return next(word for line in server._stderr_lines for word in line.split() if "#code=" in word)


def retry_while_unavailable(request: Callable[[], Result]) -> Result:
    """Send a request again while the server answers 503 with Retry-After; else raise its error."""
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while True:
        try:
            return request()
        except urllib.error.HTTPError as error:
            error.close()
            may_retry = error.code == 503 and error.headers["Retry-After"]
            if not may_retry or time.monotonic() > deadline:
                raise
        time.sleep(POLL_SECONDS)


def read_line(stream: Any, *, deadline: float) -> str:
    """The next line of an event stream; fails if the stream ends or the deadline has passed.

    Keep-alive comments arrive without end, so the socket's timeout alone is not enough.
    """
    line: bytes = stream.readline()
    assert line, "the server closed the stream"
    assert time.monotonic() < deadline, "only keep-alive comments arrived"
    return line.decode().rstrip("\r\n")


def wait_until_subscribed(stream: Any) -> None:
    """Return when the server sends this stream every event from now on."""
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while read_line(stream, deadline=deadline) != ": listening":
        pass


def read_event(stream: Any) -> dict[str, str]:
    """The fields of the next event that has data."""
    fields: dict[str, str] = {}
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while True:
        line = read_line(stream, deadline=deadline)
        if not line and "data" in fields:
            return fields
        name, _, value = line.partition(": ")
        if name:
            fields[name] = value


def read_record_id(stream: Any) -> str:
    """The id of the row that the next event is about."""
    return str(json.loads(read_event(stream)["data"])["record_id"])
