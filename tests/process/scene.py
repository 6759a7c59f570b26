"""The demo session with its own home folder, and real hook processes fired at it."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import time
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

STARTED = 1_760_000_000.0
PATIENCE = 30
QUIET = {
    "HOLDFAST_SUGGEST": "off",
    "HOLDFAST_SAVE_AT_REMAINING": "",
    "HOLDFAST_SAVE_FROM_TOKENS": "10000000",
    "HOLDFAST_SAVE_ON_GROWTH": "0",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fired:
    """What became of one hook process."""

    code: int
    out: str
    err: str

    @property
    def is_silent(self) -> bool:
        return (self.code, self.out, self.err) == (0, "", "")

    @property
    def brief(self) -> str:
        """The text that the host is told to show to the model, or nothing."""
        assert (self.code, self.err) == (0, "")
        told = json.loads(self.out)["hookSpecificOutput"] if self.out else {}
        return str(told.get("additionalContext", ""))


@dataclass(slots=True, kw_only=True)
class Scene:
    """One session of one user; every scene under the same root shares the store."""

    root: Path
    session: str = "s1"
    guarded: bool = False
    """Whether the guardian saves at thresholds and speaks up; it has tests of its own."""
    demo: DemoSession = field(init=False)

    def __post_init__(self) -> None:
        self.demo = load_demo(str(self.root / "courier"), self.session, STARTED)
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
        return self.root / f"{self.session}.jsonl"

    @property
    def environment(self) -> dict[str, str]:
        home = {"HOLDFAST_HOME": str(self.home), "TMPDIR": str(self.temporary), "PATH": ""}
        return home if self.guarded else home | QUIET

    def write(self, lines: list[Line]) -> None:
        append_lines(self.transcript, lines)

    def payload(self, event: str, **fields: Any) -> Line:
        return self.demo.hook_payload(event, str(self.transcript), **fields)

    def fire(self, event: str, **fields: Any) -> Fired:
        """One hook as the host starts it: the installed command and a payload on stdin."""
        return self.send(json.dumps(self.payload(event, **fields)).encode())

    def compacts(self) -> Fired:
        """PreCompact, and a host that then summarises for longer than indexing takes."""
        fired = self.fire("PreCompact")
        self.wait_for_names()
        return fired

    def wait_for_names(self) -> None:
        """Until the process that indexes them is done, however slow the machine is."""
        for _ in range(200):
            with self.store() as store:
                if store.mark(self.session, "names"):
                    return
            time.sleep(0.05)

    def send(
        self,
        raw: bytes,
        *,
        command: str = "",
        environ: Mapping[str, str] | None = None,
        before: Callable[[], None] | None = None,
    ) -> Fired:
        """Anything at all on stdin; `before` runs in the child, ahead of the hook."""
        done = subprocess.run(
            shlex.split(command or hook_command()), input=raw, capture_output=True,
            env={**self.environment, **(environ or {})}, timeout=PATIENCE, check=False,
            preexec_fn=before,
        )  # fmt: skip
        out, err = done.stdout.decode(), done.stderr.decode()
        return Fired(code=done.returncode, out=out, err=err)

    def start(self, event: str, **fields: Any) -> subprocess.Popen[bytes]:
        """A hook that has been told everything and is left to run."""
        running = subprocess.Popen(
            shlex.split(hook_command()), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env=self.environment,
        )  # fmt: skip
        assert running.stdin is not None
        running.stdin.write(json.dumps(self.payload(event, **fields)).encode())
        running.stdin.close()
        running.stdin = None
        return running

    def at_once(self, *events: str) -> list[Fired]:
        """These hooks, all running at the same time."""
        return [finished(process) for process in [self.start(event) for event in events]]

    def compacted(self) -> Fired:
        """The whole session up to a compaction; what SessionStart answered."""
        self.fire("SessionStart", source="startup")
        self.write(self.demo.before)
        self.fire("Stop")
        self.fire("PreCompact")
        self.fire("SubagentStop", text=self.demo.summary)
        return self.fire("SessionStart", source="compact")

    @contextmanager
    def store(self) -> Iterator[SQLiteStore]:
        with closing(SQLiteStore(str(self.database))) as store:
            yield store

    def row(self) -> SessionRow:
        with self.store() as store:
            found = store.session(self.session)
        assert found is not None, f"nothing is known of {self.session}"
        return found

    def compactions(self) -> list[CompactionRow]:
        with self.store() as store:
            return store.compactions(self.session)

    def receipts(self) -> list[str]:
        return [row["receipt"] for row in self.compactions()]

    def folded(self) -> State:
        """The whole transcript folded at once, as it would come out of the store."""
        state = new_state()
        advance(state, decode(read_lines(str(self.transcript))))
        return codec.decode_state(codec.encode_state(state))

    def log(self) -> list[str]:
        """Every line in the log and in the one that stands in for it."""
        files = (str(self.home / "holdfast.log"), diagnostics.fallback_path(self.environment))
        return [line for file in files for line in diagnostics.read_tail(file, 1000)]


def finished(process: subprocess.Popen[bytes]) -> Fired:
    out, err = process.communicate(timeout=PATIENCE)
    return Fired(code=process.returncode, out=out.decode(), err=err.decode())


def files(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))
