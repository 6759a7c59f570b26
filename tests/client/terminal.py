"""The client's own terminal interface, under tmux: what a person sees."""

import json
import shlex
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from .commands import CommandError, output_of
from .conversation import CONFINED, MODEL, Conversation
from .requirements import in_namespace_of, missing

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

    def wait_for(self, words: str) -> str:
        """The screen once it shows these words."""
        deadline = time.monotonic() + PATIENCE
        while words not in (shown := self.text()):
            if time.monotonic() > deadline:
                raise CommandError(f"the screen never showed {words!r}:\n{shown}")
            time.sleep(0.1)
        return shown


@contextmanager
def screen(conversation: Conversation, *, columns: int) -> Iterator[Screen]:
    """The client, open in a terminal, past all its questions."""
    sandbox = conversation.sandbox
    tmux = shutil.which("tmux") or missing("tmux is not installed")
    project = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
    answers = {
        "hasCompletedOnboarding": True, "theme": "dark", "bypassPermissionsModeAccepted": True,
        "customApiKeyResponses": {"approved": [CONFINED["ANTHROPIC_API_KEY"]], "rejected": []},
        "projects": {str(sandbox.project): project},
    }  # fmt: skip
    (sandbox.config / ".claude.json").write_text(json.dumps(answers), encoding="utf-8")
    env = [f"{name}={value}" for name, value in conversation.environment().items()]
    client = [*in_namespace_of(conversation.api.pid), str(sandbox.claude), "--model", MODEL]
    client += ["--dangerously-skip-permissions"]
    words = (tmux, "-S", str(sandbox.root / "tmux"), "-f", "/dev/null")
    start = ["new-session", "-d", "-x", str(columns), "-y", "40", "-c", str(sandbox.project)]
    command = shlex.join(["env", "-i", "TERM=xterm-256color", *env, *client])
    output_of([*words, *start, command], seconds=10)
    try:
        yield Screen(tmux=words)
    finally:
        subprocess.run([*words, "kill-server"], check=False, capture_output=True)
