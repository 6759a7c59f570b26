"""The client's own terminal interface, under tmux: what a person sees."""

import json
import shlex
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from .commands import CommandError, output_of
from .conversation import CONFINED, MODEL, Conversation
from .requirements import in_namespace_of, missing
from .sandbox import Sandbox

PATIENCE = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """One tmux window of a given width with the client in it."""

    tmux: tuple[str, ...]

    def text(self) -> str:
        return output_of([*self.tmux, "capture-pane", "-p"], seconds=10)

    def type(self, words: str) -> None:
        output_of([*self.tmux, "send-keys", "-l", words], seconds=10)
        time.sleep(0.3)  # pasted and sent at once, the client takes Enter for a line break
        output_of([*self.tmux, "send-keys", "Enter"], seconds=10)

    def press_until(self, key: str, is_it: Callable[[str], bool]) -> str:
        """Press a key, again if nothing came of it: a screen that has just opened drops keys."""
        deadline = time.monotonic() + PATIENCE
        while not is_it(shown := self.text()):
            if time.monotonic() > deadline:
                raise CommandError(f"{key} never led to what was awaited:\n{shown}")
            output_of([*self.tmux, "send-keys", key], seconds=10)
            self._settle(shown, is_it)
        return shown

    def _settle(self, before: str, is_it: Callable[[str], bool]) -> None:
        """Wait a while for the screen to change."""
        for _ in range(50):
            time.sleep(0.1)
            shown = self.text()
            if is_it(shown) or (shown != before and "›" in shown):
                return

    def wait_for(self, words: str) -> str:
        """The screen once it shows these words."""
        return self.wait_until(lambda shown: words in shown, f"{words!r}")

    def wait_until(self, is_it: Callable[[str], bool], wanted: str = "what was awaited") -> str:
        """The screen once it is as wanted."""
        deadline = time.monotonic() + PATIENCE
        while not is_it(shown := self.text()):
            if time.monotonic() > deadline:
                raise CommandError(f"the screen never showed {wanted}:\n{shown}")
            time.sleep(0.1)
        return shown


@contextmanager
def screen(conversation: Conversation, *, columns: int) -> Iterator[Screen]:
    """The client, open in a terminal, past all its questions."""
    sandbox = conversation.sandbox
    project = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
    answers = {
        "hasCompletedOnboarding": True, "theme": "dark", "bypassPermissionsModeAccepted": True,
        "customApiKeyResponses": {"approved": [CONFINED["ANTHROPIC_API_KEY"]], "rejected": []},
        "projects": {str(sandbox.project): project},
    }  # fmt: skip
    (sandbox.config / ".claude.json").write_text(json.dumps(answers), encoding="utf-8")
    client = [*in_namespace_of(conversation.api.pid), str(sandbox.claude), "--model", MODEL]
    client += ["--dangerously-skip-permissions"]
    with opened(sandbox, client, conversation.environment(), columns=columns) as shown:
        yield shown


@contextmanager
def opened(
    sandbox: Sandbox, client: list[str], environ: dict[str, str], *, columns: int
) -> Iterator[Screen]:
    """Any client, open in a terminal in the project, gone afterwards whatever happened."""
    tmux = shutil.which("tmux") or missing("tmux is not installed")
    env = [f"{name}={value}" for name, value in environ.items()]
    words = (tmux, "-S", str(sandbox.root / "tmux"), "-f", "/dev/null")
    start = ["new-session", "-d", "-x", str(columns), "-y", "40", "-c", str(sandbox.project)]
    command = shlex.join(["env", "-i", "TERM=xterm-256color", *env, *client])
    output_of([*words, *start, command], seconds=10)
    try:
        yield Screen(tmux=words)
    finally:
        subprocess.run([*words, "kill-server"], check=False, capture_output=True)
