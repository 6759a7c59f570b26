"""`holdfast serve` as a process, and what tests ask of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

# Machines are busy; what does not come in this time does not come at all.
PATIENCE = 60


class Server:
    """`holdfast serve` on a port that the system chooses."""

    def __init__(
        self,
        home: Path,
        *options: str,
        database: str = "",
        before: tuple[str, ...] = (),
    ) -> None:
        environ = {**os.environ, "HOLDFAST_HOME": str(home), "HOLDFAST_DATABASE": database}
        command = [sys.executable, "-m", "holdfast", "serve", "--port", "0", "--access-log"]
        self.process = subprocess.Popen(
            [*before, *command, *options], env=environ,
            stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        assert self.process.stderr is not None
        self.said: list[str] = []
        while True:
            line = self.process.stderr.readline()
            assert line, self.said
            self.said.append(line)
            if " serves " in line:
                break
        self.url = line.split(" ")[0]
        self._rest: list[str] = []
        # A pipe that nobody reads is full after some hundred requests.
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        self._rest += self.process.stderr

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def get(self, path: str) -> Any:
        with urllib.request.urlopen(self.url + path, timeout=PATIENCE) as answer:
            return json.load(answer)

    def post(self, path: str, /, **body: Any) -> Any:
        request = urllib.request.Request(
            self.url + path, json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return json.load(answer)

    def events(self, last: str = "") -> Any:
        headers = {"Last-Event-ID": last} if last else {}
        request = urllib.request.Request(f"{self.url}/api/events", headers=headers)
        return urllib.request.urlopen(request, timeout=PATIENCE)

    def until_said(self, words: str) -> None:
        """On stderr, since it began to serve."""
        by = time.monotonic() + PATIENCE
        while not any(words in line for line in tuple(self._rest)):
            assert time.monotonic() < by, f"nobody said {words!r}"
            time.sleep(0.05)

    def stop(self) -> tuple[int, str]:
        return self.end(signal.SIGTERM)

    def end(self, sign: int) -> tuple[int, str]:
        """How it ended, and what it said until then."""
        self.process.send_signal(sign)
        code = self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        assert self.process.stderr is not None
        self.process.stderr.close()
        return code, "".join(self._rest)


Start = Callable[..., Server]


def next_line(stream: Any, *, by: float) -> str:
    """A stream that ends, or only shows that it is alive, must not be waited for without end."""
    line: bytes = stream.readline()
    assert line, "the server hung up"
    assert time.monotonic() < by, "nothing came but signs of life"
    return line.decode().rstrip("\r\n")


def wait_until_heard(stream: Any) -> None:
    """What happens from now on is told to this listener."""
    by = time.monotonic() + PATIENCE
    while next_line(stream, by=by) != ": listening":
        pass


def read_event(stream: Any) -> dict[str, str]:
    """The next event with data, by field."""
    found: dict[str, str] = {}
    by = time.monotonic() + PATIENCE
    while True:
        line = next_line(stream, by=by)
        if not line and "data" in found:
            return found
        name, _, value = line.partition(": ")
        if name:
            found[name] = value
