"""Runs the real Codex against a scripted Responses API, with loopback as the only network.

``send_prompt`` runs one ``codex exec`` per turn. ``app_server`` keeps the client open and speaks
its JSON protocol, as editors do. ``terminal`` opens the client's terminal interface.
"""

import json
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from . import fake_responses_api
from .commands import CommandError, run_command
from .conversation import TURN_TIMEOUT_SECONDS, Conversation
from .requirements import join_namespace_command
from .scripted_api import Json
from .terminal import Screen, open_terminal

# The client knows the tools of this model offline: commands, and a separate tool for patches.
MODEL = "gpt-5.5"
AUTO_COMPACT_TOKENS = 50_000
# The client offers this newer model once, before it accepts any input.
NEWER_MODEL = "gpt-6-sol"
UUID_LENGTH = 36
HEADLESS = ("--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox")


@dataclass(slots=True, kw_only=True)
class CodexConversation(Conversation):
    """One session of Codex."""

    provider: str = "fake"
    """The display name of the model provider."""

    def api_module(self) -> str:
        """The module that stands in for the model."""
        return fake_responses_api.__name__

    def send_prompt(self, prompt: str) -> list[Json]:
        """Run one turn in a new process and return the JSON lines that the client printed."""
        resume = ("resume", self.session_id) if self.session_id else ()
        stdout = run_command(
            self.command("exec", *resume, *HEADLESS, prompt),
            timeout_seconds=TURN_TIMEOUT_SECONDS,
            cwd=self.sandbox.project,
            env=self.environment(),
        )
        lines: list[Json] = [json.loads(line) for line in stdout.splitlines()]
        assert lines[-1]["type"] == "turn.completed", lines[-1]
        self.session_id = next(line for line in lines if line["type"] == "thread.started")[
            "thread_id"
        ]
        return lines

    @contextmanager
    def app_server(self) -> Iterator["AppServer"]:
        """Start the client's app server, and always kill it at the end."""
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
                yield AppServer(conversation=self, process=process)
            finally:
                process.kill()

    @contextmanager
    def terminal(self) -> Iterator[Screen]:
        """Open the terminal interface, with the offer of a newer model already dismissed."""
        config = f'[notice.model_migrations]\n"{MODEL}" = "{NEWER_MODEL}"\n'
        (self.sandbox.config / "config.toml").write_text(config, encoding="utf-8")
        client = self.command(HEADLESS[-1])
        with open_terminal(self.sandbox, client, self.environment(), columns=120) as screen:
            yield screen
        (log,) = self.sandbox.config.glob("sessions/*/*/*/rollout-*.jsonl")
        self.session_id = log.stem[-UUID_LENGTH:]

    def command(self, *arguments: str) -> list[str]:
        """The client's command line, inside the namespace of the fake API."""
        url = f"http://127.0.0.1:{self.file('port').read_text()}/v1"
        config = {
            "model": MODEL,
            "model_provider": "fake",
            "model_auto_compact_token_limit": AUTO_COMPACT_TOKENS,
            "model_providers.fake.name": self.provider,
            "model_providers.fake.base_url": url,
            "model_providers.fake.wire_api": "responses",
            "model_providers.fake.env_key": "FAKE_KEY",
        }
        options = [
            word for name, value in config.items() for word in ("-c", f"{name}={json.dumps(value)}")
        ]
        client = [*join_namespace_command(self.api.pid), str(self.sandbox.client)]
        return [*client, *arguments[:1], *options, *arguments[1:]]

    def environment(self) -> dict[str, str]:
        """The client's whole environment."""
        return self.sandbox.environment() | {"FAKE_KEY": "fake"} | self.env


@dataclass(slots=True, kw_only=True)
class AppServer:
    """A running app server; requests and responses are JSON lines."""

    conversation: CodexConversation
    process: subprocess.Popen[str]
    last_request_id: int = field(default=0)

    def __post_init__(self) -> None:
        self.call("initialize", clientInfo={"name": "tests", "title": "tests", "version": "1"})
        self._write({"method": "initialized"})

    def hooks(self) -> list[Json]:
        """The hooks as the client lists them, with their trust status."""
        (listed,) = self.call("hooks/list", cwds=[str(self.conversation.sandbox.project)])["data"]
        hooks: list[Json] = listed["hooks"]
        return hooks

    def start_session(self) -> None:
        """Open a session that needs no approvals and has no sandbox."""
        folder = str(self.conversation.sandbox.project)
        thread = self.call(
            "thread/start", cwd=folder, approvalPolicy="never", sandbox="danger-full-access"
        )["thread"]
        self.conversation.session_id = thread["id"]

    def send_prompt(self, prompt: str) -> None:
        """Run one turn and wait for its end."""
        content = [{"type": "text", "text": prompt}]
        self.call("turn/start", threadId=self.conversation.session_id, input=content)
        self._read_until(_turn_ended)

    def compact(self) -> None:
        """Start a manual compaction and wait for its end."""
        self.call("thread/compact/start", threadId=self.conversation.session_id)
        self._read_until(_turn_ended)

    def call(self, method: str, **params: Any) -> Json:
        """Send a request and return the result of its response."""
        self.last_request_id += 1
        request_id = self.last_request_id
        self._write({"id": request_id, "method": method, "params": params})
        response = self._read_until(
            lambda line: line.get("id") == request_id and "method" not in line
        )
        assert "result" in response, response
        result: Json = response["result"]
        return result

    def _write(self, line: Json) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(line) + "\n")
        self.process.stdin.flush()

    def _read_until(self, condition: Callable[[Json], bool]) -> Json:
        """Read lines until one matches; kill the client if that takes too long."""
        assert self.process.stdout is not None
        timer = threading.Timer(TURN_TIMEOUT_SECONDS, self.process.kill)
        timer.start()
        try:
            for text in self.process.stdout:
                line: Json = json.loads(text)
                if condition(line):
                    return line
        finally:
            timer.cancel()
        raise CommandError("the client ended before it sent the expected line")


def _turn_ended(line: Json) -> bool:
    return line.get("method") == "turn/completed"
