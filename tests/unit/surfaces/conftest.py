"""A terminal of its own for each test: home, project, store and PATH lie in one scratch folder."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from holdfast.actions.rehearse import Rehearsal, rehearse
from holdfast.index.database import Index
from holdfast.index.fill import Source, fill
from holdfast.index.sending import send
from holdfast.index.team import TeamIndex
from holdfast.store.postgres import PostgresStore
from holdfast.surfaces import cli
from tests.unit.index.transcripts import append, said

INHERITED = (
    "HOLDFAST_CLAUDE", "HOLDFAST_CODEX", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_STATE_HOME",
    "CLAUDE_CODE_SESSION_ID", "CODEX_SESSION_ID", "CODEX_THREAD_ID",
)  # fmt: skip
COLOURS = ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "TERM", "HOLDFAST_BRIEF_TOKENS")
# Sessions of a colleague: one of the same project, one of another.
THEIRS = "11111111-0000-4000-8000-00000000000a"
FOREIGN = "22222222-0000-4000-8000-00000000000b"
PYTHON = ("PYTHONUNBUFFERED", "PYTHONIOENCODING", "PYTHONUTF8")


@dataclass(frozen=True)
class Ran:
    """What a command printed, and how it ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Terminal:
    """Runs commands as a user in a project folder would."""

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
        for name in (*INHERITED, *COLOURS, *PYTHON):
            monkeypatch.delenv(name, raising=False)
        self.set(
            HOME=self.home,
            HOLDFAST_HOME=self.store,
            TMPDIR=self.temporary,
            PATH=f"{root / 'bin'}{os.pathsep}/usr/bin{os.pathsep}/bin",
        )
        # `tempfile` has made up its mind earlier.
        monkeypatch.setattr("tempfile.tempdir", str(self.temporary))
        monkeypatch.chdir(self.project)

    def set(self, **variables: object) -> None:
        for name, value in variables.items():
            self._patch.setenv(name, str(value))

    def go(self, folder: Path | str) -> None:
        self._patch.chdir(folder)

    def claude(self, version: str) -> Path:
        """Put a client of that version on the PATH."""
        program = self.root / "bin" / "claude"
        program.write_text(f"#!/bin/sh\necho '{version} (Claude Code)'\n", encoding="utf-8")
        program.chmod(0o755)
        return program

    def run(self, *argv: object) -> Ran:
        """One command in this process."""
        self._capsys.readouterr()
        try:
            code = cli.main([str(word) for word in argv])
        except SystemExit as end:
            code = int(end.code or 0)
        out, err = self._capsys.readouterr()
        return Ran(code, out, err)

    def process(
        self, *argv: object, stdin: bytes = b"", **variables: str
    ) -> subprocess.CompletedProcess[bytes]:
        """One command in a process of its own."""
        words: Sequence[str] = [sys.executable, "-m", "holdfast", *map(str, argv)]
        return subprocess.run(
            words, input=stdin, capture_output=True, check=False, env={**os.environ, **variables}
        )

    def everything(self) -> dict[str, bytes | None]:
        """Every file and folder, to see that nothing changed."""
        return {
            str(path): path.read_bytes() if path.is_file() else None
            for path in self.root.rglob("*")
        }


@pytest.fixture
def terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Terminal:
    return Terminal(tmp_path, monkeypatch, capsys)


@pytest.fixture(scope="session")
def rehearsal(tmp_path_factory: pytest.TempPathFactory) -> Rehearsal:
    """The example session, saved, compacted and restored once for all tests."""
    done = rehearse(str(tmp_path_factory.mktemp("rehearsal")), time.time())
    assert done.ok, done.steps
    return done


@pytest.fixture
def seasoned(terminal: Terminal, rehearsal: Rehearsal) -> Iterator[Terminal]:
    """A terminal in the example's project, with a store of its own that knows the session."""
    project = Path(rehearsal.example.session.project_dir)
    shutil.copytree(rehearsal.home, terminal.store)
    terminal.go(project)
    yield terminal
    # Notes stand in the project, which all tests share: the next one would find them.
    shutil.rmtree(project / ".holdfast", ignore_errors=True)


def send_as_colleague(url: str, index: Index) -> None:
    with closing(PostgresStore.at(url)) as store:
        for row in index.all("standings"):
            send(index, row, TeamIndex(store.database), row["project"], time.time())


@pytest.fixture
def colleague(tmp_path: Path, postgres_url: str) -> str:
    """Somebody else's machine, which has sent a session of the same project and one of another."""
    with Index(str(tmp_path / "theirs" / "recall.db")) as index:
        for session, project, text in (
            (THEIRS, "shared", "the obelisk stands at bin/obelisk.py"),
            (FOREIGN, "other", "an obelisk of another project"),
        ):
            path = tmp_path / f"{session}.jsonl"
            append(path, said(text), said("use full jitter", "assistant"))
            fill(index, Source(session, project, str(path)), time.time())
        send_as_colleague(postgres_url, index)
    return postgres_url


@pytest.fixture
def member(seasoned: Terminal, colleague: str, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.setattr("holdfast.actions.team_lookup.project_of_path", lambda *_: "shared")
    seasoned.set(HOLDFAST_DATABASE=colleague)
    return seasoned
