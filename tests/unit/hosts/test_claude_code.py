"""Claude Code's payloads are understood, and each version gets only the events it knows."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast import hosts
from holdfast.hosts import claude_code

# One name that is not among these silently disables every hook of the file on old clients.
KNOWN_TO_EVERY_VERSION = {
    *("PreToolUse", "PostToolUse", "Notification", "UserPromptSubmit", "SessionStart"),
    *("SessionEnd", "Stop", "SubagentStop", "PreCompact"),
}
COMMON = {"session_id": "s-1", "transcript_path": "/t/s-1.jsonl", "cwd": "/srv/app"}


def told(event: str, **fields: Any) -> dict[str, Any]:
    return {**COMMON, "hook_event_name": event, **fields}


@pytest.mark.parametrize("version", [None, (2, 0, 14), (2, 1, 50), (2, 1, 196)])
def test_an_old_or_unknown_client_gets_only_events_that_every_client_knows(
    version: tuple[int, ...] | None,
) -> None:
    assert claude_code.events_for(version) == [
        *("SessionStart", "UserPromptSubmit", "Stop", "SubagentStop", "PreCompact", "SessionEnd")
    ]
    assert set(claude_code.events_for(version)) <= KNOWN_TO_EVERY_VERSION


@pytest.mark.parametrize("version", [(2, 1, 197), (2, 1, 325), (2, 2, 0), (3, 0, 0)])
def test_a_newer_client_gets_newer_events_too(version: tuple[int, ...]) -> None:
    newer = set(claude_code.events_for(version)) - KNOWN_TO_EVERY_VERSION
    assert newer == {"PostCompact", "SubagentStart", "UserPromptExpansion"}


def test_an_event_is_never_taken_away_from_a_newer_client() -> None:
    versions = [(0,), (2, 0, 14), (2, 1, 50), (2, 1, 197), (2, 1, 325)]
    found = [set(claude_code.events_for(version)) for version in versions]
    assert all(older <= newer for older, newer in itertools.pairwise(found))


def test_a_compaction_is_told_with_its_source_and_trigger() -> None:
    start = claude_code.call(told("SessionStart", source="compact", model="m"))
    assert (start.event, start.source, start.session) == ("SessionStart", "compact", "s-1")
    assert (start.transcript, start.cwd, start.host) == ("/t/s-1.jsonl", "/srv/app", "claude-code")
    before = claude_code.call(told("PreCompact", trigger="manual", custom_instructions="keep X"))
    assert before.trigger == "manual"
    after = claude_code.call(told("PostCompact", trigger="auto", compact_summary="<summary>"))
    assert (after.trigger, after.summary) == ("auto", "<summary>")


def test_an_agent_without_a_type_is_the_fork_that_compacts() -> None:
    fork = claude_code.call(
        told("SubagentStop", agent_id="a1", agent_type="", last_assistant_message="the summary")
    )
    assert fork.is_compaction_fork
    assert fork.summary == "the summary"
    assert fork.agent == ""


@pytest.mark.parametrize(
    "fields",
    [
        {"agent_id": "a1", "agent_type": "Explore", "last_assistant_message": "found it"},
        {"agent_id": "a1", "last_assistant_message": "found it"},
    ],
)
def test_any_other_agent_is_a_sub_agent_and_its_words_are_no_summary(
    fields: dict[str, str],
) -> None:
    agent = claude_code.call(told("SubagentStop", **fields))
    assert not agent.is_compaction_fork
    assert agent.summary == ""
    assert agent.agent == "a1"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)
FIELDS = [*COMMON, "hook_event_name", "source", "trigger", "agent_id", "agent_type"]
FIELDS += ["compact_summary", "last_assistant_message", "something_new"]


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.sampled_from(FIELDS), json_values))
def test_a_field_of_the_wrong_type_is_as_good_as_none(payload: dict[str, Any]) -> None:
    call = claude_code.call(payload)
    for name in ("event", "session", "transcript", "cwd", "source", "trigger", "summary", "agent"):
        assert isinstance(getattr(call, name), str)
    sent = isinstance(payload.get("session_id"), str)
    named = isinstance(payload.get("hook_event_name"), str)
    assert claude_code.recognises(payload) == (sent and named)


def test_a_payload_tells_its_host() -> None:
    assert hosts.recognise(told("Stop")) is claude_code
    assert hosts.recognise({"session_id": "s-1"}) is None
    assert hosts.named("claude-code") is claude_code
    assert hosts.named("claude") is None


def test_context_is_json_that_names_its_event() -> None:
    text = '{"looks": "like JSON"}\n— é 😀 \ud83d'
    out = json.loads(claude_code.context("SessionStart", text))
    assert out == {
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
def test_the_settings_are_the_users_or_a_projects(
    environ: dict[str, str], project: str | None, local: bool, path: str
) -> None:
    assert claude_code.settings_path(environ, project, local) == path
