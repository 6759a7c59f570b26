"""One host on a stage: its hooks run as it runs them, with a home and a project of their own."""

from __future__ import annotations

import json
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast import hosts
from holdfast.actions import install
from holdfast.hosts import hook_settings
from holdfast.hosts.base import Host
from holdfast.store.sqlite import SQLiteStore

from .kit import SAMPLES, Line, Sample, written

QUIET = {"HOLDFAST_SUGGEST": "off", "PATH": ""}


def staged(name: str, root: Path) -> Stage:
    assert name in SAMPLES, f"tests/contract/hosts/kit.py has no sample of {name}"
    host = hosts.named(name)
    assert host is not None
    (root / "project").mkdir()
    return Stage(root=root, host=host, sample=SAMPLES[name])


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One host with a home, a project, and a session that it keeps a log of."""

    root: Path
    host: Host
    sample: Sample

    @property
    def project(self) -> Path:
        return self.root / "project"

    @property
    def log(self) -> Path:
        return self.root / "user" / self.sample.log

    @property
    def environ(self) -> dict[str, str]:
        return {"HOME": str(self.root / "user"), "HOLDFAST_HOME": str(self.root / "holdfast")}

    def write(self, lines: list[Line]) -> None:
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("a", encoding="utf-8") as file:
            file.write(written(lines))

    def payload(self, moment: str) -> Line:
        common = self.sample.common(str(self.log), str(self.project))
        return {**common, **self.sample.moments[moment]}

    def fire(self, moment: str, **fields: Any) -> Line:
        """One hook as the host starts it: the command that it was given for this event."""
        payload = {**self.payload(moment), **fields}
        entries = install.entries("", install.Options(), host=self.host)
        (command,) = hook_settings.commands_in(entries[payload["hook_event_name"]])
        return self.run(command, payload)

    def run(self, command: str, payload: Line) -> Line:
        """Any command that a host was given."""
        done = subprocess.run(
            shlex.split(command), input=json.dumps(payload).encode(), capture_output=True,
            env={**self.environ, **QUIET}, check=False, timeout=30,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, b"")
        told: Line = json.loads(done.stdout) if done.stdout.startswith(b"{") else {}
        return told

    def install(self) -> None:
        """The hooks stand in the user's settings, as they do where a host runs them."""
        home, path = self.environ["HOLDFAST_HOME"], self.host.settings_path(self.environ, None)
        install.install(install.plan_install(path, "", home, host=self.host), home)

    def restore(self) -> str:
        """What the model is shown when the host asks for it, or reads it from its rules."""
        told = self.fire(self.sample.restores_with)
        if not self.host.RULES:
            return self.sample.shown(told)
        (file,) = (self.project / self.host.RULES).glob("*.mdc")
        return file.read_text(encoding="utf-8")

    def store(self) -> SQLiteStore:
        return SQLiteStore(str(self.root / "holdfast" / "holdfast.db"))
