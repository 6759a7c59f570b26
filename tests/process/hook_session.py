"""The demo session with its own home folder, and real hook processes that run on it."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from holdfast import diagnostics
from holdfast.demo import DemoSession, Line, append_lines, load_demo
from holdfast.services.install.registration import hook_command
from holdfast.state.fold import advance, new_state
from holdfast.state.types import State
from holdfast.store import codec
from holdfast.store.protocols import CompactionRow, SessionRow
from holdfast.store.sqlite import SQLiteStore
from holdfast.transcript.decoder import decode
from holdfast.transcript.reader import read_lines

STARTED_AT = 1_760_000_000.0
HOOK_TIMEOUT_SECONDS = 30
AUTOSAVE_OFF = {
    "HOLDFAST_SUGGEST": "off",
    "HOLDFAST_SAVE_AT_REMAINING": "",
    "HOLDFAST_SAVE_FROM_TOKENS": "10000000",
    "HOLDFAST_SAVE_ON_GROWTH": "0",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class HookResult:
    """The exit code and the output of a hook process."""

    exit_code: int
    stdout: str
    stderr: str

    @property
    def is_silent(self) -> bool:
        """Whether the hook succeeded without any output."""
        return (self.exit_code, self.stdout, self.stderr) == (0, "", "")

    @property
    def brief(self) -> str:
        """The text that the host shows to the model; empty if there is none."""
        assert (self.exit_code, self.stderr) == (0, "")
        output = json.loads(self.stdout)["hookSpecificOutput"] if self.stdout else {}
        return str(output.get("additionalContext", ""))


@dataclass(slots=True, kw_only=True)
class HookSession:
    """A session of Claude Code with its hooks. Sessions with the same root share a store."""

    root: Path
    session_id: str = "s1"
    has_autosave: bool = False
    """Whether hooks save at thresholds and make suggestions, as they do by default."""
    demo: DemoSession = field(init=False)

    def __post_init__(self) -> None:
        self.demo = load_demo(str(self.root / "courier"), self.session_id, STARTED_AT)
        self.temporary.mkdir(parents=True, exist_ok=True)

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def temporary(self) -> Path:
        return self.root / "tmp"

    @property
    def database(self) -> Path:
        return self.home / "holdfast.db"

    @property
    def transcript(self) -> Path:
        return self.root / f"{self.session_id}.jsonl"

    @property
    def environment(self) -> dict[str, str]:
        environment = {"HOLDFAST_HOME": str(self.home), "TMPDIR": str(self.temporary), "PATH": ""}
        return environment if self.has_autosave else environment | AUTOSAVE_OFF

    def write(self, lines: list[Line]) -> None:
        """Append lines to the transcript."""
        append_lines(self.transcript, lines)

    def make_payload(self, event: str, **fields: Any) -> Line:
        """What the host writes to the stdin of a hook for this event."""
        return self.demo.hook_payload(event, str(self.transcript), **fields)

    def run_hook(self, event: str, **fields: Any) -> HookResult:
        """Run the installed command as the host does, with a payload for this event on stdin."""
        return self.send_payload(self.make_payload(event, **fields))

    def send_payload(
        self,
        payload: Line,
        *,
        command: str = "",
        environ: Mapping[str, str] | None = None,
        before_exec: Callable[[], None] | None = None,
    ) -> HookResult:
        """Run a hook with this payload as JSON on stdin."""
        stdin = json.dumps(payload).encode()
        return self.send_stdin(stdin, command=command, environ=environ, before_exec=before_exec)

    def send_stdin(
        self,
        stdin: bytes,
        *,
        command: str = "",
        environ: Mapping[str, str] | None = None,
        before_exec: Callable[[], None] | None = None,
    ) -> HookResult:
        """Run a hook with these bytes on stdin; `before_exec` runs in the child before the hook."""
        process = subprocess.run(
            shlex.split(command or hook_command()), input=stdin, capture_output=True,
            env={**self.environment, **(environ or {})}, timeout=HOOK_TIMEOUT_SECONDS, check=False,
            preexec_fn=before_exec,
        )  # fmt: skip
        return HookResult(
            exit_code=process.returncode,
            stdout=process.stdout.decode(),
            stderr=process.stderr.decode(),
        )

    def start_hook(self, event: str, **fields: Any) -> subprocess.Popen[bytes]:
        """Start a hook, write its payload and do not wait for it."""
        process = subprocess.Popen(
            shlex.split(hook_command()), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env=self.environment,
        )  # fmt: skip
        assert process.stdin is not None
        process.stdin.write(json.dumps(self.make_payload(event, **fields)).encode())
        process.stdin.close()
        process.stdin = None
        return process

    def run_hooks_concurrently(self, *events: str) -> list[HookResult]:
        return [wait_for_hook(process) for process in [self.start_hook(event) for event in events]]

    def run_until_compacted(self) -> HookResult:
        """Write the session, compact it, and return the result of the SessionStart hook."""
        self.run_hook("SessionStart", source="startup")
        self.write(self.demo.before)
        self.run_hook("Stop")
        self.run_hook("PreCompact")
        self.run_hook("SubagentStop", text=self.demo.summary)
        return self.run_hook("SessionStart", source="compact")

    @contextmanager
    def open_store(self) -> Iterator[SQLiteStore]:
        with closing(SQLiteStore(str(self.database))) as store:
            yield store

    def read_row(self) -> SessionRow:
        with self.open_store() as store:
            row = store.session(self.session_id)
        assert row is not None, f"the store has no session {self.session_id}"
        return row

    def list_compactions(self) -> list[CompactionRow]:
        with self.open_store() as store:
            return store.compactions(self.session_id)

    def list_receipts(self) -> list[str]:
        return [row["receipt"] for row in self.list_compactions()]

    def fold_transcript(self) -> State:
        """Fold the whole transcript in this process; return the state as it would be stored."""
        state = new_state()
        advance(state, decode(read_lines(str(self.transcript))))
        return codec.decode_state(codec.encode_state(state))

    def read_log(self) -> list[str]:
        """The lines of the log, and of the one that replaces it if the home is not writable."""
        paths = (str(self.home / "holdfast.log"), diagnostics.fallback_path(self.environment))
        return [line for path in paths for line in diagnostics.read_tail(path, 1000)]


def wait_for_hook(process: subprocess.Popen[bytes]) -> HookResult:
    stdout, stderr = process.communicate(timeout=HOOK_TIMEOUT_SECONDS)
    return HookResult(exit_code=process.returncode, stdout=stdout.decode(), stderr=stderr.decode())


def list_files(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))
