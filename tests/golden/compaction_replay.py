"""Replays a session log up to each of its compactions through real hook processes."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.hosts import claude_code, codex
from holdfast.hosts.base import Host
from holdfast.services.install.registration import InstallOptions, build_hook_entries
from tests.process.hook_session import HookResult, HookSession

BOUNDARY_TEXTS = (b'"compact_boundary"', b'"compacted"')
COMPACTED = ("compacted", None)
COMPACT_BOUNDARY = ("system", "compact_boundary")


@dataclass(frozen=True, slots=True, kw_only=True)
class Boundary:
    """The lines that a host writes for one compaction: from `start` up to, not including, `end`."""

    start: int
    end: int


def read_log(path: Path) -> list[bytes]:
    """Return the lines of a compressed log, each with its newline."""
    return gzip.decompress(path.read_bytes()).splitlines(keepends=True)


def find_boundaries(lines: list[bytes]) -> list[Boundary]:
    """Return the boundaries of a log in order. Claude Code's summary is the line after it."""
    boundaries = []
    for number, line in enumerate(lines):
        kind = _find_kind(line) if any(text in line for text in BOUNDARY_TEXTS) else None
        if kind == COMPACT_BOUNDARY:
            boundaries.append(Boundary(start=number, end=number + 2))
        elif kind == COMPACTED:
            boundaries.append(Boundary(start=number, end=number + 1))
    return boundaries


def _find_kind(line: bytes) -> tuple[Any, Any] | None:
    """Return type and subtype of a line, or None if it is not JSON: some logs are damaged."""
    try:
        entry = json.loads(line)
    except ValueError:
        return None
    return entry.get("type"), entry.get("subtype")


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionReplay:
    """One log that grows while its hooks run, with a store of its own."""

    session: HookSession
    host: Host = claude_code

    @property
    def log(self) -> Path:
        """The log. Codex is recognized by the name of its files."""
        prefix = "rollout-" if self.host is codex else ""
        return self.session.root / f"{prefix}{self.session.session_id}.jsonl"

    def append(self, lines: list[bytes]) -> None:
        with self.log.open("ab") as file:
            file.writelines(lines)

    def run_hook(self, event: str, **fields: Any) -> HookResult:
        """Run the command that `holdfast install` registers for this event."""
        payload = {
            "session_id": self.session.session_id, "transcript_path": str(self.log),
            "cwd": str(self.session.root), "hook_event_name": event, **fields,
        }  # fmt: skip
        (hook,) = build_hook_entries("", InstallOptions(), host=self.host)[event][0]["hooks"]
        return self.session.send_payload(payload, command=hook["command"])

    def compact(self, before: list[bytes], boundary: list[bytes], *, is_written: bool) -> str:
        """Write these lines, run the hooks of a compaction, and return the brief.

        The host writes the boundary before the hook that asks for the brief if `is_written`, else
        after it.
        """
        self.append(before)
        assert self.run_hook("PreCompact", trigger="auto").exit_code == 0
        if is_written:
            self.append(boundary)
        brief = self.run_hook("SessionStart", source="compact").brief
        if not is_written:
            self.append(boundary)
        return brief

    def replay(self, lines: list[bytes], boundaries: list[Boundary], *, is_written: bool) -> None:
        """Replay the log and check that each of its compactions gets a brief of its own."""
        position = 0
        for number, boundary in enumerate(boundaries, 1):
            brief = self.compact(
                lines[position : boundary.start],
                lines[boundary.start : boundary.end],
                is_written=is_written,
            )
            assert "holdfast:" in brief, f"compaction {number} (line {boundary.start + 1})"
            stored = [row["brief"] for row in self.session.list_compactions()]
            assert len(stored) == number, "each compaction has one row"
            assert stored[-1] == brief
            position = boundary.end
        assert self.session.read_log() == []
