"""Codex's payloads in our words, and which host a payload is from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from holdfast import hosts
from holdfast.errors import HoldfastError
from holdfast.hosts import claude_code, codex

LOG = "/home/dev/.codex/sessions/2026/11/15/rollout-2026-11-15T19-55-36-01a1e0c7.jsonl"
COMMON = {"session_id": "01a1e0c7", "transcript_path": LOG, "cwd": "/srv/app"}
TURN = {**COMMON, "turn_id": "t1", "model": "gpt-5.5"}
START = {**COMMON, "hook_event_name": "SessionStart", "model": "gpt-5.5", "source": "compact"}
END = {**COMMON, "hook_event_name": "SessionEnd", "reason": "other"}
CLAUDE = {"session_id": "s1", "transcript_path": "/x/s1.jsonl", "hook_event_name": "SessionEnd"}


@pytest.mark.parametrize(
    "payload", [{**TURN, "hook_event_name": "PreCompact", "trigger": "auto"}, START, END]
)
def test_its_payloads_are_recognised(payload: dict[str, Any]) -> None:
    assert hosts.recognise(payload) is codex


def test_claude_code_s_are_not_taken_for_its() -> None:
    assert hosts.recognise(CLAUDE) is claude_code
    assert not codex.recognises(CLAUDE)


@pytest.mark.parametrize("payload", [{}, {"hook_event_name": 7}, {"session_id": "s1"}, TURN])
def test_what_no_host_sends_is_nobody_s(payload: dict[str, Any]) -> None:
    assert hosts.recognise(payload) is None


def test_fields_of_two_hosts_are_an_error_that_names_both() -> None:
    both = {**TURN, "hook_event_name": "Stop", "conversation_id": "c1"}
    with pytest.raises(HoldfastError, match="fields of Codex and of Cursor"):
        hosts.recognise(both)


def test_every_host_is_found_by_its_name() -> None:
    assert [host.NAME for host in hosts.every()] == [*hosts.HOSTS]
    assert hosts.named("nobody") is None


def test_a_compaction_is_a_call() -> None:
    call = codex.call({**TURN, "hook_event_name": "PreCompact", "trigger": "auto", "agent_id": "a"})
    assert (call.host, call.event, call.trigger) == ("codex", "PreCompact", "auto")
    assert (call.session, call.transcript, call.agent) == ("01a1e0c7", LOG, "a")


def test_a_sub_agent_without_a_type_is_no_compaction_here() -> None:
    told = {**TURN, "hook_event_name": "SubagentStop", "agent_type": ""}
    assert not codex.call(told).is_compaction_fork


def test_a_session_without_a_log_has_none() -> None:
    assert codex.call({**START, "transcript_path": None}).transcript == ""


def test_the_list_of_hooks_is_the_user_s_or_the_project_s(tmp_path: Path) -> None:
    assert codex.settings_path({"HOME": "/home/dev"}, None) == "/home/dev/.codex/hooks.json"
    assert codex.settings_path({"CODEX_HOME": "/c"}, None) == "/c/hooks.json"
    assert codex.settings_path({}, "/srv/app") == "/srv/app/.codex/hooks.json"
    assert not codex.is_installed({"CODEX_HOME": str(tmp_path)}, "")
    (tmp_path / "hooks.json").write_text(f'{{"hooks": "{claude_code.OURS}"}}')
    assert codex.is_installed({"CODEX_HOME": str(tmp_path)}, "")
