"""Runs the hooks of one host as the host does, with its own home folder and project."""

from __future__ import annotations

import json
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast import hosts
from holdfast.hosts import hook_settings
from holdfast.hosts.base import Host
from holdfast.services.install import registration
from holdfast.store.sqlite import SQLiteStore

from .kit import SAMPLES, Line, Sample, to_jsonl

QUIET_ENV = {"HOLDFAST_SUGGEST": "off", "PATH": ""}


def create_host_session(name: str, root: Path) -> HostSession:
    assert name in SAMPLES, f"tests/contract/hosts/kit.py has no sample of {name}"
    host = hosts.find_host(name)
    assert host is not None
    (root / "project").mkdir()
    return HostSession(root=root, host=host, sample=SAMPLES[name])


@dataclass(frozen=True, slots=True, kw_only=True)
class HostSession:
    """A host with a home folder, a project, and the transcript of one session."""

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
            file.write(to_jsonl(lines))

    def payload(self, event: str) -> Line:
        common = self.sample.common(str(self.log), str(self.project))
        return {**common, **self.sample.events[event]}

    def fire(self, event: str, **fields: Any) -> Line:
        """Run the command that is registered for this event and return its JSON output."""
        payload = {**self.payload(event), **fields}
        entries = registration.build_hook_entries("", registration.InstallOptions(), host=self.host)
        (command,) = hook_settings.entry_commands(entries[payload["hook_event_name"]])
        return self.run(command, payload)

    def announce_compaction(self) -> None:
        """Run the hook before a compaction, unless the host has none or restores with it."""
        if "save" in self.sample.events and self.sample.restores_with != "save":
            self.fire("save")

    def run(self, command: str, payload: Line) -> Line:
        """Run a hook command with this payload; return its JSON output, or {}."""
        completed = subprocess.run(
            shlex.split(command), input=json.dumps(payload).encode(), capture_output=True,
            env={**self.environ, **QUIET_ENV}, check=False, timeout=30,
        )  # fmt: skip
        assert (completed.returncode, completed.stderr) == (0, b"")
        output: Line = json.loads(completed.stdout) if completed.stdout.startswith(b"{") else {}
        return output

    def install(self) -> None:
        """Register the hooks in the user's settings."""
        home, path = self.environ["HOLDFAST_HOME"], self.host.settings_path(self.environ, None)
        registration.install(registration.plan_install(path, "", home, host=self.host), home)

    def restore(self) -> str:
        """Run the hook that restores; return the brief from its output or from the rules file."""
        output = self.fire(self.sample.restores_with)
        if not self.host.RULES_FOLDER:
            return self.sample.extract_brief(output)
        (file,) = (self.project / self.host.RULES_FOLDER).glob("*.mdc")
        return file.read_text(encoding="utf-8")

    def store(self) -> SQLiteStore:
        return SQLiteStore(str(self.root / "holdfast" / "holdfast.db"))
