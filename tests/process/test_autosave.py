"""Saves at thresholds and suggestions by real hooks, and the rules that sub-agents get."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from pathlib import Path

import pytest

from holdfast.services.compaction.inherited_rules import MAX_INHERITED_TOKENS
from holdfast.services.install.registration import statusline_command
from holdfast.tokens.estimate import estimate_tokens

from .hook_session import HookSession


@pytest.fixture
def session(tmp_path: Path) -> HookSession:
    return HookSession(root=tmp_path, has_autosave=True)


def list_reasons(session: HookSession) -> list[str]:
    with session.open_store() as store:
        return [row["reason"] for row in reversed(store.snapshots("s1"))]


def list_threshold_saves(session: HookSession) -> list[str]:
    return [reason for reason in list_reasons(session) if reason.startswith("threshold: ")]


def run_all_turns(session: HookSession) -> list[str]:
    """Run Stop after every turn; return the message that each showed to the user."""
    messages, start = [], 0
    for end in session.demo.turn_ends:
        session.write(session.demo.before[start : end + 1])
        start = end + 1
        stdout = session.run_hook("Stop").stdout
        messages.append(json.loads(stdout)["systemMessage"] if stdout else "")
    session.write(session.demo.before[start:])
    return messages


def run_statusline(session: HookSession, tokens: int, percent: float) -> str:
    payload = session.make_payload("Stop") | {
        "context_window": {"total_input_tokens": tokens, "used_percentage": percent}
    }  # fmt: skip
    process = subprocess.run(
        shlex.split(statusline_command()), input=json.dumps(payload).encode(), capture_output=True,
        env={**session.environment, "NO_COLOR": "1", "COLUMNS": "200"}, check=True,
    )  # fmt: skip
    return process.stdout.decode()


def test_concurrent_hooks_save_once_at_each_threshold(session: HookSession) -> None:
    run_all_turns(session)
    saved = list_threshold_saves(session)
    assert saved
    assert len(saved) == len(set(saved))
    session.run_hooks_concurrently("Stop", "Stop", "Stop", "Stop")
    session.run_hooks_concurrently("Stop", "Stop", "Stop", "Stop")
    saved_after = list_threshold_saves(session)
    assert len(saved_after) == len(set(saved_after)) <= len(saved) + 1


def test_a_compaction_resets_the_thresholds(session: HookSession) -> None:
    run_all_turns(session)
    before = list_threshold_saves(session)
    session.run_hook("PreCompact")
    session.run_hook("SessionStart", source="compact")
    run_statusline(session, 55_000, 27)
    assert list_threshold_saves(session) == [*before, "threshold: 50000 tokens"]


def test_the_status_line_saves_at_a_threshold(session: HookSession) -> None:
    session.write(session.demo.before[:40])
    session.run_hook("Stop")
    assert list_threshold_saves(session) == []
    line = run_statusline(session, 61_000, 30.5)
    assert list_threshold_saves(session) == ["threshold: 60000 tokens"]
    assert "saved 0 s ago" in line
    run_statusline(session, 62_000, 31)
    run_statusline(session, 145_000, 72)
    run_statusline(session, 146_000, 73)
    assert list_threshold_saves(session) == ["threshold: 60000 tokens", "threshold: remaining 30 %"]
    with session.open_store() as store:
        assert (
            store.snapshots("s1")[0]["state"]
            == session.read_row()["state"]
            == session.fold_transcript()
        )


def test_the_status_line_saves_a_session_that_no_hook_has_read(session: HookSession) -> None:
    session.run_hook("SessionStart", source="startup")
    session.write(session.demo.before)
    run_statusline(session, 61_000, 30.5)
    assert list_threshold_saves(session) == ["threshold: 60000 tokens"]


def test_the_user_gets_one_suggestion_with_a_line_to_paste(session: HookSession) -> None:
    messages = [message for message in run_all_turns(session) if message]
    assert messages
    assert messages[0].startswith("Holdfast: 5")
    expected = "tool calls since the last compaction. A good moment for: /compact focus on "
    assert expected in messages[0]
    assert session.run_hook("Stop").stdout == ""


def test_suggestions_can_be_turned_off(session: HookSession) -> None:
    session.write(session.demo.before)
    payload = session.make_payload("Stop")
    assert session.send_payload(payload, environ={"HOLDFAST_SUGGEST": "off"}).is_silent
    assert session.send_payload(payload).is_silent, "a suppressed suggestion is not made later"


def test_a_hook_after_an_edit_saves_and_suggests(session: HookSession) -> None:
    session.write(session.demo.before)
    payload = session.make_payload("Stop") | {"hook_event_name": "PostToolUse", "tool_name": "Edit"}
    assert "systemMessage" in session.send_payload(payload).stdout
    assert len(list_threshold_saves(session)) == 1


@pytest.mark.parametrize(
    "event", ["Stop", "PostToolUse", "PreCompact", "PostCompact", "SessionStart", "SessionEnd"]
)
def test_a_hook_inside_a_sub_agent_does_not_touch_its_parent(
    session: HookSession, event: str
) -> None:
    session.write(session.demo.before[:-20])
    session.run_hook("Stop")
    row, reasons = session.read_row(), list_reasons(session)
    session.write(session.demo.before[-20:])
    payload = session.make_payload("Stop") | {
        "hook_event_name": event, "agent_id": "a1", "agent_type": "Explore",
        "source": "compact", "trigger": "auto", "compact_summary": "of the sub-agent",
    }  # fmt: skip
    # A sub-agent that was compacted gets at least the rules of its session.
    assert bool(session.send_payload(payload).brief) == (event == "SessionStart")
    assert session.read_row() == row
    assert list_reasons(session) == reasons
    assert session.list_compactions() == []


# Sub-agents


def start_agent(session: HookSession) -> str:
    """Run SubagentStart and return the text that the sub-agent gets."""
    payload = session.make_payload("Stop") | {
        "hook_event_name": "SubagentStart", "agent_id": "a1", "agent_type": "Explore"
    }  # fmt: skip
    return session.send_payload(payload).brief


def test_a_sub_agent_gets_the_binding_rules_within_its_budget(session: HookSession) -> None:
    session.write(session.demo.before)
    rules = start_agent(session)
    assert "Never touch anything under migrations/" in rules
    assert "They bind you too" in rules
    assert 0 < estimate_tokens(rules) <= MAX_INHERITED_TOKENS


def test_without_rules_a_sub_agent_gets_nothing(session: HookSession) -> None:
    assert start_agent(session) == ""
    assert os.path.exists(session.database)


def test_a_long_session_keeps_only_its_last_threshold_saves(session: HookSession) -> None:
    run_all_turns(session)
    session.run_hook("PreCompact")
    before = list_threshold_saves(session)
    assert len(before) > 3
    session.home.joinpath("settings.json").write_text('{"keep_snapshots": 2}')
    run_statusline(session, 190_000, 95)
    kept = list_threshold_saves(session)
    assert kept[-1].startswith("threshold: remaining")
    assert kept[-2:-1] == before[-1:]
    assert len(kept) <= 3, "at most keep_snapshots and the most complete one"
    assert "auto" in list_reasons(session), "the snapshot of the compaction was deleted"
