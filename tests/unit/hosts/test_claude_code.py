"""Payloads of Claude Code are parsed, and each version gets only the events it supports."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast import hosts
from holdfast.hosts import claude_code

# An old client silently ignores all hooks of a file that contains any other event.
EVENTS_OF_EVERY_VERSION = {
    *("PreToolUse", "PostToolUse", "Notification", "UserPromptSubmit", "SessionStart"),
    *("SessionEnd", "Stop", "SubagentStop", "PreCompact"),
}
COMMON_FIELDS = {"session_id": "s-1", "transcript_path": "/t/s-1.jsonl", "cwd": "/srv/app"}


def payload_of(event: str, **fields: Any) -> dict[str, Any]:
    return {**COMMON_FIELDS, "hook_event_name": event, **fields}


@pytest.mark.parametrize("version", [None, (2, 0, 14), (2, 1, 50), (2, 1, 196)])
def test_an_old_or_unknown_client_gets_only_events_that_every_client_supports(
    version: tuple[int, ...] | None,
) -> None:
    assert claude_code.events_for(version) == [
        *("SessionStart", "UserPromptSubmit", "Stop", "SubagentStop", "PreCompact", "SessionEnd")
    ]
    assert set(claude_code.events_for(version)) <= EVENTS_OF_EVERY_VERSION


@pytest.mark.parametrize("version", [(2, 1, 197), (2, 1, 325), (2, 2, 0), (3, 0, 0)])
def test_a_newer_client_gets_new_events_too(version: tuple[int, ...]) -> None:
    new_events = set(claude_code.events_for(version)) - EVENTS_OF_EVERY_VERSION
    assert new_events == {"PostCompact", "SubagentStart", "UserPromptExpansion"}


def test_a_newer_client_gets_every_event_of_an_older_one() -> None:
    versions = [(0,), (2, 0, 14), (2, 1, 50), (2, 1, 197), (2, 1, 325)]
    events = [set(claude_code.events_for(version)) for version in versions]
    assert all(older <= newer for older, newer in itertools.pairwise(events))


def test_the_fields_of_compaction_events_are_parsed() -> None:
    start = claude_code.parse_payload(payload_of("SessionStart", source="compact", model="m"))
    assert (start.name, start.source, start.session_id) == ("SessionStart", "compact", "s-1")
    assert (start.transcript_path, start.cwd, start.host) == (
        "/t/s-1.jsonl",
        "/srv/app",
        "claude-code",
    )
    before = claude_code.parse_payload(
        payload_of("PreCompact", trigger="manual", custom_instructions="keep X")
    )
    assert before.trigger == "manual"
    after = claude_code.parse_payload(
        payload_of("PostCompact", trigger="auto", compact_summary="<summary>")
    )
    assert (after.trigger, after.summary) == ("auto", "<summary>")


def test_an_agent_without_a_type_is_the_fork_that_compacts() -> None:
    fork = claude_code.parse_payload(
        payload_of(
            "SubagentStop", agent_id="a1", agent_type="", last_assistant_message="the summary"
        )
    )
    assert fork.is_compaction_fork
    assert fork.summary == "the summary"
    assert fork.agent_id == ""


@pytest.mark.parametrize(
    "fields",
    [
        {"agent_id": "a1", "agent_type": "Explore", "last_assistant_message": "found it"},
        {"agent_id": "a1", "last_assistant_message": "found it"},
    ],
)
def test_the_last_message_of_an_ordinary_sub_agent_is_not_a_summary(
    fields: dict[str, str],
) -> None:
    agent = claude_code.parse_payload(payload_of("SubagentStop", **fields))
    assert not agent.is_compaction_fork
    assert agent.summary == ""
    assert agent.agent_id == "a1"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)
FIELDS = [*COMMON_FIELDS, "hook_event_name", "source", "trigger", "agent_id", "agent_type"]
FIELDS += ["compact_summary", "last_assistant_message", "something_new"]


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.sampled_from(FIELDS), json_values))
def test_a_field_of_the_wrong_type_counts_as_missing(payload: dict[str, Any]) -> None:
    event = claude_code.parse_payload(payload)
    for name in set(event.__slots__) - {"is_compaction_fork"}:
        assert isinstance(getattr(event, name), str)
    has_session = isinstance(payload.get("session_id"), str)
    has_event = isinstance(payload.get("hook_event_name"), str)
    assert claude_code.recognizes(payload) == (has_session and has_event)


def test_the_host_is_detected_from_the_payload() -> None:
    assert hosts.detect_host(payload_of("Stop")) is claude_code
    assert hosts.detect_host({"session_id": "s-1"}) is None
    assert hosts.find_host("claude-code") is claude_code
    assert hosts.find_host("claude") is None


def test_context_is_rendered_as_json_with_the_event_name() -> None:
    text = '{"looks": "like JSON"}\n— é 😀 \ud83d'
    output = json.loads(claude_code.render_context("SessionStart", text))
    assert output == {
        "hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": text}
    }


@pytest.mark.parametrize(
    ("environ", "project", "local", "path"),
    [
        ({"HOME": "/home/ada"}, None, False, "/home/ada/.claude/settings.json"),
        ({"HOME": "/h", "CLAUDE_CONFIG_DIR": "/cfg"}, None, False, "/cfg/settings.json"),
        ({"HOME": "/h", "CLAUDE_CONFIG_DIR": ""}, None, False, "/h/.claude/settings.json"),
        ({"CLAUDE_CONFIG_DIR": "/cfg"}, "/srv/app", False, "/srv/app/.claude/settings.json"),
        ({}, "/srv/app", True, "/srv/app/.claude/settings.local.json"),
    ],
)
def test_the_settings_file_is_that_of_the_user_or_the_project(
    environ: dict[str, str], project: str | None, local: bool, path: str
) -> None:
    assert claude_code.settings_path(environ, project, local) == path
