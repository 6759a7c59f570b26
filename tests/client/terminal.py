"""Drives the terminal interface of a client under tmux."""

import json
import shlex
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from .commands import CommandError, run_command
from .conversation import CLIENT_ENV, MODEL, Conversation
from .requirements import join_namespace_command, skip_or_fail
from .sandbox import Sandbox

SCREEN_TIMEOUT_SECONDS = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """A tmux window in which a client runs."""

    tmux: tuple[str, ...]

    def text(self) -> str:
        return run_command([*self.tmux, "capture-pane", "-p"], timeout_seconds=10)

    def type(self, text: str) -> None:
        run_command([*self.tmux, "send-keys", "-l", text], timeout_seconds=10)
        time.sleep(0.3)  # if Enter follows at once, the client takes it for a pasted line break
        run_command([*self.tmux, "send-keys", "Enter"], timeout_seconds=10)

    def press_until(self, key: str, condition: Callable[[str], bool]) -> str:
        """Press a key until the condition holds: a screen that has just opened drops keys."""
        deadline = time.monotonic() + SCREEN_TIMEOUT_SECONDS
        while not condition(screen_text := self.text()):
            if time.monotonic() > deadline:
                raise CommandError(f"pressing {key} had no effect:\n{screen_text}")
            run_command([*self.tmux, "send-keys", key], timeout_seconds=10)
            self._wait_for_change(screen_text, condition)
        return screen_text

    def _wait_for_change(self, before: str, condition: Callable[[str], bool]) -> None:
        """Wait up to five seconds for the screen to change."""
        for _ in range(50):
            time.sleep(0.1)
            screen_text = self.text()
            if condition(screen_text) or (screen_text != before and "›" in screen_text):
                return

    def wait_for(self, text: str) -> str:
        """Wait until the screen shows this text, and return the whole screen."""
        return self.wait_until(lambda screen_text: text in screen_text, f"{text!r}")

    def wait_until(
        self, condition: Callable[[str], bool], expected: str = "the expected text"
    ) -> str:
        """Wait until the screen fulfils the condition, and return the whole screen."""
        deadline = time.monotonic() + SCREEN_TIMEOUT_SECONDS
        while not condition(screen_text := self.text()):
            if time.monotonic() > deadline:
                raise CommandError(f"the screen never showed {expected}:\n{screen_text}")
            time.sleep(0.1)
        return screen_text


@contextmanager
def open_claude_code(conversation: Conversation, *, columns: int) -> Iterator[Screen]:
    """Open Claude Code in a terminal, with all its first-start questions answered."""
    sandbox = conversation.sandbox
    project = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
    config = {
        "hasCompletedOnboarding": True, "theme": "dark", "bypassPermissionsModeAccepted": True,
        "customApiKeyResponses": {"approved": [CLIENT_ENV["ANTHROPIC_API_KEY"]], "rejected": []},
        "projects": {str(sandbox.project): project},
    }  # fmt: skip
    (sandbox.config / ".claude.json").write_text(json.dumps(config), encoding="utf-8")
    client = [*join_namespace_command(conversation.api.pid), str(sandbox.client), "--model", MODEL]
    client += ["--dangerously-skip-permissions"]
    environment = conversation.environment()
    with open_terminal(sandbox, client, environment, columns=columns) as screen:
        yield screen


@contextmanager
def open_terminal(
    sandbox: Sandbox, client: list[str], environment: dict[str, str], *, columns: int
) -> Iterator[Screen]:
    """Open a client in a terminal in the project, and always close it at the end."""
    tmux = shutil.which("tmux") or skip_or_fail("tmux is not installed")
    env = [f"{name}={value}" for name, value in environment.items()]
    tmux_command = (tmux, "-S", str(sandbox.root / "tmux"), "-f", "/dev/null")
    start = ["new-session", "-d", "-x", str(columns), "-y", "40", "-c", str(sandbox.project)]
    command = shlex.join(["env", "-i", "TERM=xterm-256color", *env, *client])
    run_command([*tmux_command, *start, command], timeout_seconds=10)
    try:
        yield Screen(tmux=tmux_command)
    finally:
        subprocess.run([*tmux_command, "kill-server"], check=False, capture_output=True)
