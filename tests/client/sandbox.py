"""One test's home, client configuration, Holdfast store and project under git."""

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from .commands import run_command
from .scripted_api import Json

BRANCH = "feature/retry"
PROJECT_FILES = {
    "README.md": "# Payments\n\nCharges cards, and tries again when the bank is away.\n",
    "migrations/0001_charges.sql": "create table charges (id integer primary key);\n",
    "src/retry.py": "def delay(attempt: int) -> float:\n    return 1.0\n",
    "test_retry.py": """\
import unittest

from src.retry import delay


class Retry(unittest.TestCase):
    def test_the_third_delay(self) -> None:
        self.assertEqual(delay(3), 4.0)
""",
}
COMMAND_TIMEOUT_SECONDS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Sandbox:
    """Everything the client and Holdfast may read or write, under one root."""

    root: Path
    client: Path

    @classmethod
    def create(cls, root: Path, client: Path) -> Self:
        """Create the folders, and a project with one commit on a feature branch."""
        sandbox = cls(root=root, client=client)
        for folder in (sandbox.home, sandbox.config, sandbox.temporary):
            folder.mkdir()
        for name, text in PROJECT_FILES.items():
            file = sandbox.project / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        sandbox.git("init", "--quiet", "--initial-branch", BRANCH)
        sandbox.git("add", ".")
        sandbox.git("commit", "--quiet", "--message", "Start")
        return sandbox

    @property
    def home(self) -> Path:
        """The user's home folder."""
        return self.root / "home"

    @property
    def config(self) -> Path:
        """The client's configuration folder, which also holds its transcripts."""
        return self.root / "config"

    @property
    def settings(self) -> Path:
        """The client's user settings."""
        return self.config / "settings.json"

    @property
    def project(self) -> Path:
        """The working tree the client runs in."""
        return self.root / "project"

    @property
    def temporary(self) -> Path:
        """The client's temporary files, so that they are deleted with the test."""
        return self.root / "tmp"

    def environment(self) -> dict[str, str]:
        """The whole environment of every command: only PATH is inherited."""
        return {
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "HOME": str(self.home),
            "TMPDIR": str(self.temporary),
            "CLAUDE_CODE_TMPDIR": str(self.temporary),
            "CLAUDE_CONFIG_DIR": str(self.config),
            "HOLDFAST_HOME": str(self.root / "holdfast"),
            "HOLDFAST_CLAUDE": str(self.client),
        }

    def git(self, *arguments: str) -> None:
        """Run git in the project, with an invented author."""
        identity = ("-c", "user.name=Dev", "-c", "user.email=dev@example.com")
        self.command("git", *identity, *arguments)

    def holdfast(self, *arguments: str) -> str:
        """Run a `holdfast` command in the project and return its stdout."""
        return self.command(sys.executable, "-m", "holdfast", *arguments)

    def status(self, session_id: str) -> Json:
        """What `holdfast status` reports for one session."""
        sessions = json.loads(self.holdfast("status", "--json"))["sessions"]
        matches: list[Json] = [session for session in sessions if session["id"] == session_id]
        assert len(matches) == 1, f"{session_id} is listed {len(matches)} times in {sessions}"
        return matches[0]

    def command(self, *arguments: str) -> str:
        """Run a command in the project and return its stdout."""
        env = self.environment()
        return run_command(
            arguments, timeout_seconds=COMMAND_TIMEOUT_SECONDS, cwd=self.project, env=env
        )

    def transcript(self, session_id: str) -> list[Json]:
        """The lines of a session's transcript."""
        (file,) = self.config.glob(f"projects/*/{session_id}.jsonl")
        return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
