"""Turns of the real client against one scripted API, with no network but loopback.

``Conversation.say`` runs one ``claude -p`` per turn and resumes the session;
``Conversation.one_process`` keeps a single client open and feeds it line by line.
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
from .commands import CommandError, output_of
from .requirements import in_namespace_of, in_new_namespace
from .sandbox import Sandbox
from .scripted_api import Json

ROOT = Path(__file__).parents[2]
API_START_SECONDS = 10
TURN_SECONDS = 60
HEADLESS = ("--verbose", "--dangerously-skip-permissions", "--output-format", "stream-json")
MODEL = "claude-sonnet-4-5"
CONFINED = {
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
        """Every string of the body: a brief may stand anywhere, even inside a tool result."""
        return "\n".join(strings_in(self.body))


def strings_in(value: object) -> Iterator[str]:
    """Every string inside a JSON value, in order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from strings_in(inner)


@dataclass(slots=True, kw_only=True)
class Conversation:
    """One session of the client, one script, one namespace."""

    sandbox: Sandbox
    script: Json
    env: dict[str, str] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    """More words for the client's command line."""
    session_id: str = ""
    api: subprocess.Popen[bytes] = field(init=False)

    def __enter__(self) -> Self:
        script, errors = self.file("script.json"), self.file("api-stderr")
        script.write_text(json.dumps(self.script), encoding="utf-8")
        command = [sys.executable, "-m", self.api_module(), "--script", str(script)]
        command += ["--port-file", str(self.file("port")), "--record", str(self.file("requests"))]
        with errors.open("wb") as stderr:
            self.api = subprocess.Popen([*in_new_namespace(), *command], stderr=stderr, cwd=ROOT)
        deadline = time.monotonic() + API_START_SECONDS
        while not self.file("port").exists():
            if self.api.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise CommandError(f"the fake API did not start:\n{errors.read_text()}")
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
        """The module that plays the model."""
        return fake_messages_api.__name__

    def stop(self) -> None:
        """End the fake API, and the namespace with it."""
        self.api.terminate()
        self.api.wait(timeout=10)

    def file(self, name: str) -> Path:
        """A file of this conversation's own."""
        return self.sandbox.root / name

    def requests(self, kind: str | None = None) -> list[Request]:
        """What the fake API received so far: all of it, or one kind."""
        if not self.file("requests").exists():
            return []
        lines = map(json.loads, self.file("requests").read_text(encoding="utf-8").splitlines())
        received = [Request(**line) for line in lines]
        return [request for request in received if kind in (None, request.kind)]

    def say(self, prompt: str) -> list[Json]:
        """One turn in a process of its own; returns the lines the client printed."""
        resume = ("--resume", self.session_id) if self.session_id else ()
        printed = output_of(
            self.command("-p", prompt, *resume),
            seconds=TURN_SECONDS,
            cwd=self.sandbox.project,
            env=self.environment(),
        )
        lines = [json.loads(line) for line in printed.splitlines()]
        assert lines, "the client printed nothing"
        assert lines[-1]["type"] == "result", lines[-1]
        self.session_id = lines[-1]["session_id"]
        return lines

    @contextmanager
    def one_process(self) -> Iterator["OpenClient"]:
        """A single client for several turns, gone afterwards whatever happened."""
        with (
            self.file("client-stderr").open("w+") as errors,
            subprocess.Popen(
                self.command("-p", "--input-format", "stream-json"),
                cwd=self.sandbox.project,
                env=self.environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            ) as process,
        ):
            try:
                yield OpenClient(conversation=self, process=process, errors=errors)
                process.communicate(timeout=TURN_SECONDS)
            finally:
                process.kill()

    def command(self, *arguments: str) -> list[str]:
        """The client's command line, inside the namespace of the fake API."""
        client = [*in_namespace_of(self.api.pid), str(self.sandbox.claude)]
        return [*client, *arguments, *self.options, *HEADLESS, "--model", MODEL]

    def environment(self) -> dict[str, str]:
        """The client's whole environment."""
        url = f"http://127.0.0.1:{self.file('port').read_text()}"
        return self.sandbox.environment() | CONFINED | {"ANTHROPIC_BASE_URL": url} | self.env


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenClient:
    """A client that reads prompts from its standard input."""

    conversation: Conversation
    process: subprocess.Popen[str]
    errors: IO[str]

    def say(self, prompt: str) -> list[Json]:
        """One turn: the client folds a line that comes before the result into the same turn."""
        assert self.process.stdin is not None
        content = [{"type": "text", "text": prompt}]
        line = {"type": "user", "message": {"role": "user", "content": content}}
        self.process.stdin.write(json.dumps(line) + "\n")
        self.process.stdin.flush()
        return self.read_turn()

    def read_turn(self) -> list[Json]:
        """The lines up to and with the result; a client that hangs is killed."""
        assert self.process.stdout is not None
        lines: list[Json] = []
        alarm = threading.Timer(TURN_SECONDS, self.process.kill)
        alarm.start()
        try:
            for text in self.process.stdout:
                lines.append(json.loads(text))
                if lines[-1].get("type") == "result":
                    self.conversation.session_id = lines[-1]["session_id"]
                    return lines
        finally:
            alarm.cancel()
        self.errors.seek(0)
        raise CommandError(f"the client ended within a turn:\n{lines[-3:]}\n{self.errors.read()}")
