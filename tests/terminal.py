"""A terminal for tests: home, project, store and PATH are in one temporary folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from holdfast import cli

HOST_VARIABLES = (
    "HOLDFAST_CLAUDE", "HOLDFAST_CODEX", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_STATE_HOME",
    "CLAUDE_CODE_SESSION_ID", "CODEX_SESSION_ID", "CODEX_THREAD_ID",
)  # fmt: skip
OUTPUT_VARIABLES = ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "TERM", "HOLDFAST_BRIEF_TOKENS")
PYTHON_VARIABLES = ("PYTHONUNBUFFERED", "PYTHONIOENCODING", "PYTHONUTF8")


@dataclass(frozen=True)
class CommandResult:
    """The exit code and the output of a command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Terminal:
    """Runs commands as a user in a project folder does."""

    def __init__(
        self, root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.root = root
        self._patch = monkeypatch
        self._capsys = capsys
        self.project = root / "project"
        self.home = root / "user"
        self.store = root / "store"
        self.temporary = root / "tmp"
        self.user_settings = self.home / ".claude" / "settings.json"
        for folder in (self.project, self.home, self.temporary, root / "bin"):
            folder.mkdir()
        for name in (*HOST_VARIABLES, *OUTPUT_VARIABLES, *PYTHON_VARIABLES):
            monkeypatch.delenv(name, raising=False)
        self.set_env(
            HOME=self.home,
            HOLDFAST_HOME=self.store,
            TMPDIR=self.temporary,
            PATH=f"{root / 'bin'}{os.pathsep}/usr/bin{os.pathsep}/bin",
        )
        # `tempfile` has cached the folder already.
        monkeypatch.setattr("tempfile.tempdir", str(self.temporary))
        monkeypatch.chdir(self.project)

    def set_env(self, **variables: object) -> None:
        for name, value in variables.items():
            self._patch.setenv(name, str(value))

    def change_folder(self, folder: Path | str) -> None:
        self._patch.chdir(folder)

    def install_fake_claude(self, version: str) -> Path:
        """Put a program on the PATH that reports this version, and return its path."""
        program = self.root / "bin" / "claude"
        program.write_text(f"#!/bin/sh\necho '{version} (Claude Code)'\n", encoding="utf-8")
        program.chmod(0o755)
        return program

    def run(self, *argv: object) -> CommandResult:
        """Run a command in this process."""
        self._capsys.readouterr()
        try:
            code = cli.main([str(word) for word in argv])
        except SystemExit as end:
            code = int(end.code or 0)
        out, err = self._capsys.readouterr()
        return CommandResult(code, out, err)

    def run_process(
        self, *argv: object, stdin: bytes = b"", **variables: str
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a command in a new process."""
        words: Sequence[str] = [sys.executable, "-m", "holdfast", *map(str, argv)]
        return subprocess.run(
            words, input=stdin, capture_output=True, check=False, env={**os.environ, **variables}
        )

    def read_all_files(self) -> dict[str, bytes | None]:
        """Return every file and folder, to check that nothing changed."""
        return {
            str(path): path.read_bytes() if path.is_file() else None
            for path in self.root.rglob("*")
        }
