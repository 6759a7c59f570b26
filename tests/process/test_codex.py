"""A session of Codex, hook by hook, as its client fires them: the boundary is in the log before
anybody is asked for a brief, and nobody tells the summary."""

from __future__ import annotations

import json
import shlex
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from holdfast import diagnostics
from holdfast.hosts import codex
from holdfast.services.install.registration import InstallOptions, build_hook_entries, hook_command
from holdfast.store.sqlite import SQLiteStore
from tests.unit import rollout_lines as lines

from .scene import PATIENCE, QUIET, Fired

REQUEST = "Make the retry back off. Never touch the migrations folder."
SUMMARY = "They worked on payments."


@dataclass(slots=True, kw_only=True)
class Session:
    root: Path
    written: list[lines.Line] = field(default_factory=list)

    @property
    def log(self) -> Path:
        return self.root / f"rollout-2026-01-05T10-00-00-{lines.SESSION}.jsonl"

    def write(self, *added: lines.Line) -> None:
        with self.log.open("a", encoding="utf-8") as file:
            for line in added:
                file.write(json.dumps(line, separators=(",", ":")) + "\n")

    def fire(self, event: str, **fields: Any) -> Fired:
        payload = {
            "session_id": lines.SESSION, "transcript_path": str(self.log), "cwd": str(self.root),
            "hook_event_name": event, "model": lines.MODEL, **fields,
        }  # fmt: skip
        if event not in ("SessionStart", "SessionEnd"):
            payload["turn_id"] = "t1"
        (hook,) = build_hook_entries("", InstallOptions(), host=codex)[event][0]["hooks"]
        done = subprocess.run(
            shlex.split(hook["command"]), input=json.dumps(payload).encode(), capture_output=True,
            env={"HOLDFAST_HOME": str(self.root / "home"), "PATH": "", **QUIET}, timeout=PATIENCE,
            check=False,
        )  # fmt: skip
        return Fired(code=done.returncode, out=done.stdout.decode(), err=done.stderr.decode())

    def begins(self) -> None:
        root = str(self.root)
        self.write(lines.meta(cwd=root), lines.turn(cwd=root), lines.prompt(REQUEST))
        self.write(*lines.patched("*** Update File: src/retry.py", "@@", "+    return 2.0"))
        self.write(*lines.ran("python3 -m unittest", "AssertionError: 6.0 != 4.0\n", 1))
        self.write(lines.tokens(60_000))

    def compacts(self, window: str = "w1") -> Fired:
        """What is answered to PreCompact, PostCompact and SessionStart, in the client's order."""
        assert self.fire("PreCompact", trigger="auto").is_silent
        self.write(lines.compacted(SUMMARY, lines.prompt(REQUEST), window=window))
        assert self.fire("PostCompact", trigger="auto").is_silent
        return self.fire("SessionStart", source="compact")

    def compactions(self) -> list[dict[str, Any]]:
        store = SQLiteStore(str(self.root / "home" / "holdfast.db"))
        try:
            return [dict(row) for row in store.compactions(lines.SESSION)]
        finally:
            store.close()


@pytest.fixture
def session(tmp_path: Path) -> Session:
    made = Session(root=tmp_path)
    assert made.fire("SessionStart", source="startup").is_silent
    made.begins()
    return made


def test_the_brief_holds_what_the_compaction_left_out(session: Session) -> None:
    brief = session.compacts().brief
    assert "AssertionError: 6.0 != 4.0" in brief
    assert "src/retry.py" in brief
    assert "Compacted 2" not in brief
    # What people said before, the client leaves in the conversation word for word.
    assert "- “Make the retry back off" not in brief


def test_the_summary_is_read_from_the_log(session: Session) -> None:
    session.compacts()
    (row,) = session.compactions()
    assert row["summary"] == f"{SUMMARY}\n\n{REQUEST}"
    assert row["trigger_name"] == "auto"


def test_the_receipt_is_what_the_client_wrote_down(session: Session) -> None:
    brief = session.compacts().brief
    session.write(lines.from_hook(brief), lines.reply("On it."), lines.tokens(5000))
    assert session.fire("Stop", stop_hook_active=False).is_silent
    assert [row["receipt"] for row in session.compactions()] == ["whole"]


def test_a_truncated_brief_has_the_receipt_cut(session: Session) -> None:
    brief = session.compacts().brief
    session.write(lines.from_hook(brief[:400]), lines.reply("On it."), lines.tokens(5000))
    session.fire("Stop", stop_hook_active=False)
    assert [row["receipt"] for row in session.compactions()] == ["cut"]


def test_a_brief_that_did_not_arrive_comes_with_the_next_prompt_once(session: Session) -> None:
    session.compacts()
    session.write(lines.reply("On it."), lines.tokens(5000))
    late = session.fire("UserPromptSubmit", prompt="Go on.").brief
    assert "src/retry.py" in late
    session.write(lines.prompt("Go on."), lines.from_hook(late), lines.reply("Yes."))
    session.write(lines.tokens(6000))
    assert session.fire("UserPromptSubmit", prompt="And now?").is_silent
    assert [row["receipt"] for row in session.compactions()] == ["whole"]


def test_a_second_compaction_is_recorded_separately(session: Session) -> None:
    first = session.compacts().brief
    session.write(lines.from_hook(first), lines.reply("On it."), lines.tokens(60_000))
    second = session.compacts("w2").brief
    assert "After compaction 2, from" in second
    session.write(lines.from_hook(second), lines.reply("Yes."), lines.tokens(5000))
    session.fire("Stop", stop_hook_active=False)
    assert [row["receipt"] for row in session.compactions()] == ["whole", "whole"]


def test_a_sub_agent_s_compaction_is_not_its_parent_s(session: Session) -> None:
    assert session.fire("PreCompact", trigger="auto", agent_id="a1").is_silent
    assert session.compactions() == []


def test_a_session_that_keeps_no_log_gets_nothing_and_blocks_nothing(tmp_path: Path) -> None:
    session = Session(root=tmp_path)
    for event in codex.EVENTS:
        fired = session.fire(event, transcript_path=None, trigger="auto", source="compact")
        assert (fired.code, fired.out, fired.err) == (0, "", "")


STRANGE = [
    ({"hook_event_name": "Stop", "colour": "red"}, "no host sends such a payload"),
    ({"hook_event_name": "Stop", "turn_id": "t", "conversation_id": "c"}, "Codex and of Cursor"),
]


@pytest.mark.parametrize(("payload", "words"), STRANGE)
def test_a_payload_of_no_known_host_is_logged_in_one_line(
    tmp_path: Path, payload: dict[str, Any], words: str
) -> None:
    fired, told = sent(tmp_path, payload, hook_command())
    assert fired.is_silent
    (line,) = told
    assert words in line


CHANGED: list[tuple[dict[str, Any], str]] = [
    ({"hook_event_name": "Stop", "thread": "t"}, "Codex names no session"),
    ({"session_id": "s1", "hookEvent": "Stop"}, "Codex names no event (session_id, hookEvent)"),
]


@pytest.mark.parametrize(("payload", "words"), CHANGED)
def test_a_host_that_changed_its_format_is_named(
    tmp_path: Path, payload: dict[str, Any], words: str
) -> None:
    command = build_hook_entries("", InstallOptions(), host=codex)["Stop"][0]["hooks"][0]["command"]
    fired, told = sent(tmp_path, payload, command)
    assert fired.is_silent
    (line,) = told
    assert words in line


def sent(home: Path, payload: dict[str, Any], command: str) -> tuple[Fired, list[str]]:
    """What a hook did with this payload, and the lines of its log."""
    done = subprocess.run(
        shlex.split(command), input=json.dumps(payload).encode(), capture_output=True,
        env={"HOLDFAST_HOME": str(home), "PATH": ""}, timeout=PATIENCE, check=False,
    )  # fmt: skip
    fired = Fired(code=done.returncode, out=done.stdout.decode(), err=done.stderr.decode())
    return fired, diagnostics.read_tail(str(home / "holdfast.log"), 100)
