"""Turns of the real Codex against one scripted Responses API, with no network but loopback.

``say`` runs one ``codex exec`` per turn; ``server`` keeps the client open behind its own protocol,
which is how editors drive it; ``terminal`` is what a person sees.
"""

import json
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from . import fake_responses_api
from .commands import CommandError, output_of
from .conversation import TURN_SECONDS, Conversation
from .requirements import in_namespace_of
from .scripted_api import Json
from .terminal import Screen, opened

# One whose tools the client knows offline: commands, and patches as a tool of their own.
MODEL = "gpt-5.5"
COMPACTS_AT = 50_000
# A newer model, which the client offers once, before anything can be typed.
ANNOUNCED = "gpt-6-sol"
UUID_LENGTH = 36
HEADLESS = ("--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox")


@dataclass(slots=True, kw_only=True)
class CodexConversation(Conversation):
    """One session of Codex."""

    provider: str = "fake"
    """What the provider of the model calls itself."""

    def api_module(self) -> str:
        """The module that plays the model."""
        return fake_responses_api.__name__

    def say(self, prompt: str) -> list[Json]:
        """One turn in a process of its own; returns the lines the client printed."""
        words = ("resume", self.session_id) if self.session_id else ()
        printed = output_of(
            self.command("exec", *words, *HEADLESS, prompt),
            seconds=TURN_SECONDS,
            cwd=self.sandbox.project,
            env=self.environment(),
        )
        lines: list[Json] = [json.loads(line) for line in printed.splitlines()]
        assert lines[-1]["type"] == "turn.completed", lines[-1]
        self.session_id = next(line for line in lines if line["type"] == "thread.started")[
            "thread_id"
        ]
        return lines

    @contextmanager
    def server(self) -> Iterator["Server"]:
        """The client behind its own protocol, gone afterwards whatever happened."""
        with subprocess.Popen(
            self.command("app-server"),
            cwd=self.sandbox.project,
            env=self.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as process:
            try:
                yield Server(conversation=self, process=process)
            finally:
                process.kill()

    @contextmanager
    def terminal(self) -> Iterator[Screen]:
        """The client's own interface, as it opens for somebody who was here before."""
        known = f'[notice.model_migrations]\n"{MODEL}" = "{ANNOUNCED}"\n'
        (self.sandbox.config / "config.toml").write_text(known, encoding="utf-8")
        client = self.command(HEADLESS[-1])
        with opened(self.sandbox, client, self.environment(), columns=120) as screen:
            yield screen
        (log,) = self.sandbox.config.glob("sessions/*/*/*/rollout-*.jsonl")
        self.session_id = log.stem[-UUID_LENGTH:]

    def command(self, *arguments: str) -> list[str]:
        """The client's command line, inside the namespace of the fake API."""
        url = f"http://127.0.0.1:{self.file('port').read_text()}/v1"
        given = {
            "model": MODEL,
            "model_provider": "fake",
            "model_auto_compact_token_limit": COMPACTS_AT,
            "model_providers.fake.name": self.provider,
            "model_providers.fake.base_url": url,
            "model_providers.fake.wire_api": "responses",
            "model_providers.fake.env_key": "FAKE_KEY",
        }
        settings = [word for name, value in given.items() for word in ("-c", told(name, value))]
        client = [*in_namespace_of(self.api.pid), str(self.sandbox.claude)]
        return [*client, *arguments[:1], *settings, *arguments[1:]]

    def environment(self) -> dict[str, str]:
        """The client's whole environment."""
        return self.sandbox.environment() | {"FAKE_KEY": "fake"} | self.env


def told(name: str, value: Any) -> str:
    return f"{name}={json.dumps(value)}"


@dataclass(slots=True, kw_only=True)
class Server:
    """A client that is spoken to in JSON, line by line."""

    conversation: CodexConversation
    process: subprocess.Popen[str]
    calls: int = field(default=0)

    def __post_init__(self) -> None:
        self.call("initialize", clientInfo={"name": "tests", "title": "tests", "version": "1"})
        self._write({"method": "initialized"})

    def hooks(self) -> list[Json]:
        """The hooks as the client itself sees them."""
        (listed,) = self.call("hooks/list", cwds=[str(self.conversation.sandbox.project)])["data"]
        found: list[Json] = listed["hooks"]
        return found

    def begin(self) -> None:
        """Open a session that may do everything."""
        folder = str(self.conversation.sandbox.project)
        thread = self.call(
            "thread/start", cwd=folder, approvalPolicy="never", sandbox="danger-full-access"
        )["thread"]
        self.conversation.session_id = thread["id"]

    def say(self, prompt: str) -> None:
        """One turn, to its end."""
        words = [{"type": "text", "text": prompt}]
        self.call("turn/start", threadId=self.conversation.session_id, input=words)
        self._until(_turn_ended)

    def compact(self) -> None:
        """Compact now, as a person asks for it."""
        self.call("thread/compact/start", threadId=self.conversation.session_id)
        self._until(_turn_ended)

    def call(self, method: str, **given: Any) -> Json:
        """Ask for one thing and wait for its answer."""
        self.calls += 1
        number = self.calls
        self._write({"id": number, "method": method, "params": given})
        answer = self._until(lambda line: line.get("id") == number and "method" not in line)
        assert "result" in answer, answer
        result: Json = answer["result"]
        return result

    def _write(self, line: Json) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(line) + "\n")
        self.process.stdin.flush()

    def _until(self, is_it: Callable[[Json], bool]) -> Json:
        """Read to that line; a client that hangs is killed."""
        assert self.process.stdout is not None
        alarm = threading.Timer(TURN_SECONDS, self.process.kill)
        alarm.start()
        try:
            for text in self.process.stdout:
                line: Json = json.loads(text)
                if is_it(line):
                    return line
        finally:
            alarm.cancel()
        raise CommandError("the client ended before it had answered")


def _turn_ended(line: Json) -> bool:
    return line.get("method") == "turn/completed"
