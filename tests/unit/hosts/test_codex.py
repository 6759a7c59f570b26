"""Payloads of Codex are parsed, and the host of a payload is detected."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from holdfast import hosts
from holdfast.errors import HoldfastError
from holdfast.hosts import claude_code, codex
from holdfast.services.install.registration import hook_command

TRANSCRIPT = "/home/dev/.codex/sessions/2026/11/15/rollout-2026-11-15T19-55-36-01a1e0c7.jsonl"
COMMON_FIELDS = {"session_id": "01a1e0c7", "transcript_path": TRANSCRIPT, "cwd": "/srv/app"}
TURN_FIELDS = {**COMMON_FIELDS, "turn_id": "t1", "model": "gpt-5.5"}
SESSION_START = {
    **COMMON_FIELDS,
    "hook_event_name": "SessionStart",
    "model": "gpt-5.5",
    "source": "compact",
}
SESSION_END = {**COMMON_FIELDS, "hook_event_name": "SessionEnd", "reason": "other"}
CLAUDE_PAYLOAD = {
    "session_id": "s1",
    "transcript_path": "/x/s1.jsonl",
    "hook_event_name": "SessionEnd",
}


@pytest.mark.parametrize(
    "payload",
    [
        {**TURN_FIELDS, "hook_event_name": "PreCompact", "trigger": "auto"},
        SESSION_START,
        SESSION_END,
    ],
)
def test_payloads_of_codex_are_recognised(payload: dict[str, Any]) -> None:
    assert hosts.detect_host(payload) is codex


def test_payloads_of_claude_code_are_not_recognised_as_codex() -> None:
    assert hosts.detect_host(CLAUDE_PAYLOAD) is claude_code
    assert not codex.recognizes(CLAUDE_PAYLOAD)


@pytest.mark.parametrize("payload", [{}, {"hook_event_name": 7}, {"session_id": "s1"}, TURN_FIELDS])
def test_a_payload_that_no_host_sends_has_no_host(payload: dict[str, Any]) -> None:
    assert hosts.detect_host(payload) is None


def test_fields_of_two_hosts_are_an_error_that_names_both() -> None:
    payload = {**TURN_FIELDS, "hook_event_name": "Stop", "conversation_id": "c1"}
    with pytest.raises(HoldfastError, match="fields of Codex and of Cursor"):
        hosts.detect_host(payload)


def test_every_host_is_found_by_its_name() -> None:
    assert [host.NAME for host in hosts.all_hosts()] == [*hosts.HOSTS]
    assert hosts.find_host("unknown") is None


def test_the_fields_of_a_compaction_are_parsed() -> None:
    event = codex.parse_payload(
        {**TURN_FIELDS, "hook_event_name": "PreCompact", "trigger": "auto", "agent_id": "a"}
    )
    assert (event.host, event.name, event.trigger) == ("codex", "PreCompact", "auto")
    assert (event.session_id, event.transcript_path, event.agent_id) == (
        "01a1e0c7",
        TRANSCRIPT,
        "a",
    )


def test_a_sub_agent_of_codex_without_a_type_is_not_a_compaction() -> None:
    payload = {**TURN_FIELDS, "hook_event_name": "SubagentStop", "agent_type": ""}
    assert not codex.parse_payload(payload).is_compaction_fork


def test_a_missing_transcript_path_is_empty() -> None:
    assert codex.parse_payload({**SESSION_START, "transcript_path": None}).transcript_path == ""


def test_the_hook_file_is_that_of_the_user_or_the_project(tmp_path: Path) -> None:
    assert codex.settings_path({"HOME": "/home/dev"}, None) == "/home/dev/.codex/hooks.json"
    assert codex.settings_path({"CODEX_HOME": "/c"}, None) == "/c/hooks.json"
    assert codex.settings_path({}, "/srv/app") == "/srv/app/.codex/hooks.json"
    assert not codex.is_installed({"CODEX_HOME": str(tmp_path)}, "")
    hook = {"hooks": [{"type": "command", "command": hook_command()}]}
    (tmp_path / "hooks.json").write_text(json.dumps({"hooks": {"PreCompact": [hook]}}))
    assert codex.is_installed({"CODEX_HOME": str(tmp_path)}, "")
