"""Runs the real client against a scripted API, with loopback as the only network.

``Conversation.send_prompt`` runs one ``claude -p`` per turn and resumes the session.
``Conversation.open_client`` keeps a single client process open for several turns.
"""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from . import fake_messages_api
from .commands import CommandError, run_command
from .requirements import join_namespace_command, new_namespace_command
from .sandbox import Sandbox
from .scripted_api import Json

ROOT = Path(__file__).parents[2]
API_START_TIMEOUT_SECONDS = 10
TURN_TIMEOUT_SECONDS = 60
HEADLESS = ("--verbose", "--dangerously-skip-permissions", "--output-format", "stream-json")
MODEL = "claude-sonnet-4-5"
CLIENT_ENV = {
    "ANTHROPIC_API_KEY": "sk-fake",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "IS_SANDBOX": "1",  # without it the client refuses to skip permissions for root
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request that the fake API received."""

    kind: str
    agent_id: str | None
    body: Json

    @property
    def text(self) -> str:
        """All strings of the body: a brief can be anywhere, even inside a tool result."""
        return "\n".join(iterate_strings(self.body))


def iterate_strings(value: object) -> Iterator[str]:
    """Every string inside a JSON value, in order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from iterate_strings(inner)


@dataclass(slots=True, kw_only=True)
class Conversation:
    """One session of the client, with its own script and network namespace."""

    sandbox: Sandbox
    script: Json
    env: dict[str, str] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    """More options for the client's command line."""
    session_id: str = ""
    api: subprocess.Popen[bytes] = field(init=False)

    def __enter__(self) -> Self:
        script, stderr_file = self.file("script.json"), self.file("api-stderr")
        script.write_text(json.dumps(self.script), encoding="utf-8")
        command = [sys.executable, "-m", self.api_module(), "--script", str(script)]
        command += ["--port-file", str(self.file("port")), "--record", str(self.file("requests"))]
        with stderr_file.open("wb") as stderr:
            self.api = subprocess.Popen(
                [*new_namespace_command(), *command], stderr=stderr, cwd=ROOT
            )
        deadline = time.monotonic() + API_START_TIMEOUT_SECONDS
        while not self.file("port").exists():
            if self.api.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise CommandError(f"the fake API did not start:\n{stderr_file.read_text()}")
            time.sleep(0.01)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def api_module(self) -> str:
        """The module that stands in for the model."""
        return fake_messages_api.__name__

    def stop(self) -> None:
        """Stop the fake API, which also ends the namespace."""
        self.api.terminate()
        self.api.wait(timeout=10)

    def file(self, name: str) -> Path:
        """The path of a file that belongs to this conversation."""
        return self.sandbox.root / name

    def requests(self, kind: str | None = None) -> list[Request]:
        """The requests that the fake API has received so far, all or of one kind."""
        if not self.file("requests").exists():
            return []
        lines = map(json.loads, self.file("requests").read_text(encoding="utf-8").splitlines())
        received = [Request(**line) for line in lines]
        return [request for request in received if kind in (None, request.kind)]

    def send_prompt(self, prompt: str) -> list[Json]:
        """Run one turn in a new process and return the JSON lines that the client printed."""
        resume = ("--resume", self.session_id) if self.session_id else ()
        stdout = run_command(
            self.command("-p", prompt, *resume),
            timeout_seconds=TURN_TIMEOUT_SECONDS,
            cwd=self.sandbox.project,
            env=self.environment(),
        )
        lines = [json.loads(line) for line in stdout.splitlines()]
        assert lines, "the client printed nothing"
        assert lines[-1]["type"] == "result", lines[-1]
        self.session_id = lines[-1]["session_id"]
        return lines

    @contextmanager
    def open_client(self) -> Iterator["OpenClient"]:
        """Start one client process for several turns, and always kill it at the end."""
        with (
            self.file("client-stderr").open("w+") as stderr,
            subprocess.Popen(
                self.command("-p", "--input-format", "stream-json"),
                cwd=self.sandbox.project,
                env=self.environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
            ) as process,
        ):
            try:
                yield OpenClient(conversation=self, process=process, stderr=stderr)
                process.communicate(timeout=TURN_TIMEOUT_SECONDS)
            finally:
                process.kill()

    def command(self, *arguments: str) -> list[str]:
        """The client's command line, inside the namespace of the fake API."""
        client = [*join_namespace_command(self.api.pid), str(self.sandbox.client)]
        return [*client, *arguments, *self.options, *HEADLESS, "--model", MODEL]

    def environment(self) -> dict[str, str]:
        """The client's whole environment."""
        url = f"http://127.0.0.1:{self.file('port').read_text()}"
        return self.sandbox.environment() | CLIENT_ENV | {"ANTHROPIC_BASE_URL": url} | self.env


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenClient:
    """A client that reads prompts from its standard input."""

    conversation: Conversation
    process: subprocess.Popen[str]
    stderr: IO[str]

    def send_prompt(self, prompt: str) -> list[Json]:
        """Send one prompt and wait for the result: the client would join two prompts in a row."""
        assert self.process.stdin is not None
        content = [{"type": "text", "text": prompt}]
        line = {"type": "user", "message": {"role": "user", "content": content}}
        self.process.stdin.write(json.dumps(line) + "\n")
        self.process.stdin.flush()
        return self.read_turn()

    def read_turn(self) -> list[Json]:
        """Return the lines up to the result; kill the client if that takes too long."""
        assert self.process.stdout is not None
        lines: list[Json] = []
        timer = threading.Timer(TURN_TIMEOUT_SECONDS, self.process.kill)
        timer.start()
        try:
            for text in self.process.stdout:
                lines.append(json.loads(text))
                if lines[-1].get("type") == "result":
                    self.conversation.session_id = lines[-1]["session_id"]
                    return lines
        finally:
            timer.cancel()
        self.stderr.seek(0)
        raise CommandError(f"the client ended during a turn:\n{lines[-3:]}\n{self.stderr.read()}")
