"""A Codex session with real hooks.

Codex writes the compaction to its log before it runs the hooks, and passes them no summary.
"""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from holdfast import diagnostics
from holdfast.hosts import codex
from holdfast.services.install.registration import InstallOptions, build_hook_entries, hook_command
from holdfast.store.sqlite import SQLiteStore
from tests.unit import rollout_lines as lines

from .hook_session import AUTOSAVE_OFF, HOOK_TIMEOUT_SECONDS, HookResult

REQUEST = "Make the retry back off. Never touch the migrations folder."
SUMMARY = "They worked on payments."


def run_command(
    command: str, payload: dict[str, Any], home: Path, environ: Mapping[str, str] | None = None
) -> HookResult:
    """Run a hook's command with this payload on stdin."""
    process = subprocess.run(
        shlex.split(command), input=json.dumps(payload).encode(), capture_output=True,
        env={"HOLDFAST_HOME": str(home), "PATH": "", **(environ or {})},
        timeout=HOOK_TIMEOUT_SECONDS, check=False,
    )  # fmt: skip
    return HookResult(
        exit_code=process.returncode,
        stdout=process.stdout.decode(),
        stderr=process.stderr.decode(),
    )


@dataclass(slots=True, kw_only=True)
class CodexSession:
    root: Path

    @property
    def log(self) -> Path:
        return self.root / f"rollout-2026-01-05T10-00-00-{lines.SESSION}.jsonl"

    def write(self, *new_lines: lines.Line) -> None:
        """Append lines to the log."""
        with self.log.open("a", encoding="utf-8") as file:
            for line in new_lines:
                file.write(json.dumps(line, separators=(",", ":")) + "\n")

    def run_hook(self, event: str, **fields: Any) -> HookResult:
        payload = {
            "session_id": lines.SESSION, "transcript_path": str(self.log), "cwd": str(self.root),
            "hook_event_name": event, "model": lines.MODEL, **fields,
        }  # fmt: skip
        if event not in ("SessionStart", "SessionEnd"):
            payload["turn_id"] = "t1"
        (hook,) = build_hook_entries("", InstallOptions(), host=codex)[event][0]["hooks"]
        return run_command(hook["command"], payload, self.root / "home", AUTOSAVE_OFF)

    def write_first_turn(self) -> None:
        root = str(self.root)
        self.write(lines.meta(cwd=root), lines.turn(cwd=root), lines.prompt(REQUEST))
        self.write(*lines.apply_patch("*** Update File: src/retry.py", "@@", "+    return 2.0"))
        self.write(*lines.exec_command("python3 -m unittest", "AssertionError: 6.0 != 4.0\n", 1))
        self.write(lines.tokens(60_000))

    def compact(self, window: str = "w1") -> HookResult:
        """Run the hooks of a compaction in Codex's order; return the result of SessionStart."""
        assert self.run_hook("PreCompact", trigger="auto").is_silent
        self.write(lines.compacted(SUMMARY, lines.prompt(REQUEST), window=window))
        assert self.run_hook("PostCompact", trigger="auto").is_silent
        return self.run_hook("SessionStart", source="compact")

    def list_compactions(self) -> list[dict[str, Any]]:
        store = SQLiteStore(str(self.root / "home" / "holdfast.db"))
        try:
            return [dict(row) for row in store.compactions(lines.SESSION)]
        finally:
            store.close()


@pytest.fixture
def session(tmp_path: Path) -> CodexSession:
    started = CodexSession(root=tmp_path)
    assert started.run_hook("SessionStart", source="startup").is_silent
    started.write_first_turn()
    return started


def test_the_brief_contains_what_the_summary_left_out(session: CodexSession) -> None:
    brief = session.compact().brief
    assert "AssertionError: 6.0 != 4.0" in brief
    assert "src/retry.py" in brief
    assert "Compacted 2" not in brief
    # Codex keeps the user's prompts in the conversation, so the brief need not repeat them.
    assert "- “Make the retry back off" not in brief


def test_the_summary_is_read_from_the_log(session: CodexSession) -> None:
    session.compact()
    (row,) = session.list_compactions()
    assert row["summary"] == f"{SUMMARY}\n\n{REQUEST}"
    assert row["trigger_name"] == "auto"


def test_a_brief_recorded_in_the_log_has_the_receipt_whole(session: CodexSession) -> None:
    brief = session.compact().brief
    session.write(lines.from_hook(brief), lines.reply("On it."), lines.tokens(5000))
    assert session.run_hook("Stop", stop_hook_active=False).is_silent
    assert [row["receipt"] for row in session.list_compactions()] == ["whole"]


def test_a_truncated_brief_has_the_receipt_cut(session: CodexSession) -> None:
    brief = session.compact().brief
    session.write(lines.from_hook(brief[:400]), lines.reply("On it."), lines.tokens(5000))
    session.run_hook("Stop", stop_hook_active=False)
    assert [row["receipt"] for row in session.list_compactions()] == ["cut"]


def test_a_brief_that_did_not_arrive_is_sent_once_with_the_next_prompt(
    session: CodexSession,
) -> None:
    session.compact()
    session.write(lines.reply("On it."), lines.tokens(5000))
    brief = session.run_hook("UserPromptSubmit", prompt="Go on.").brief
    assert "src/retry.py" in brief
    session.write(lines.prompt("Go on."), lines.from_hook(brief), lines.reply("Yes."))
    session.write(lines.tokens(6000))
    assert session.run_hook("UserPromptSubmit", prompt="And now?").is_silent
    assert [row["receipt"] for row in session.list_compactions()] == ["whole"]


def test_a_second_compaction_is_recorded_separately(session: CodexSession) -> None:
    first = session.compact().brief
    session.write(lines.from_hook(first), lines.reply("On it."), lines.tokens(60_000))
    second = session.compact("w2").brief
    assert "After compaction 2, from" in second
    session.write(lines.from_hook(second), lines.reply("Yes."), lines.tokens(5000))
    session.run_hook("Stop", stop_hook_active=False)
    assert [row["receipt"] for row in session.list_compactions()] == ["whole", "whole"]


def test_the_compaction_of_a_sub_agent_is_not_recorded_for_its_parent(
    session: CodexSession,
) -> None:
    assert session.run_hook("PreCompact", trigger="auto", agent_id="a1").is_silent
    assert session.list_compactions() == []


def test_a_hook_of_a_session_without_a_log_is_silent(tmp_path: Path) -> None:
    session = CodexSession(root=tmp_path)
    for event in codex.EVENTS:
        result = session.run_hook(event, transcript_path=None, trigger="auto", source="compact")
        assert result.is_silent, event


UNKNOWN_HOST_PAYLOADS = [
    ({"hook_event_name": "Stop", "colour": "red"}, "no host sends such a payload"),
    ({"hook_event_name": "Stop", "turn_id": "t", "conversation_id": "c"}, "Codex and of Cursor"),
]


@pytest.mark.parametrize(("payload", "message"), UNKNOWN_HOST_PAYLOADS)
def test_a_payload_of_an_unknown_host_is_logged_in_one_line(
    tmp_path: Path, payload: dict[str, Any], message: str
) -> None:
    assert run_command(hook_command(), payload, tmp_path).is_silent
    (line,) = read_log(tmp_path)
    assert message in line


CHANGED_FORMAT_PAYLOADS: list[tuple[dict[str, Any], str]] = [
    ({"hook_event_name": "Stop", "thread": "t"}, "Codex names no session"),
    ({"session_id": "s1", "hookEvent": "Stop"}, "Codex names no event (session_id, hookEvent)"),
]


@pytest.mark.parametrize(("payload", "message"), CHANGED_FORMAT_PAYLOADS)
def test_the_log_names_a_host_whose_payload_format_changed(
    tmp_path: Path, payload: dict[str, Any], message: str
) -> None:
    command = build_hook_entries("", InstallOptions(), host=codex)["Stop"][0]["hooks"][0]["command"]
    assert run_command(command, payload, tmp_path).is_silent
    (line,) = read_log(tmp_path)
    assert message in line


def read_log(home: Path) -> list[str]:
    return diagnostics.read_tail(str(home / "holdfast.log"), 100)
