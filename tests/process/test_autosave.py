"""Threshold saves and suggestions, across processes; and what sub-agents are told."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from holdfast.services.compaction.inherited_rules import MAX_INHERITED_TOKENS
from holdfast.services.install.registration import statusline_command
from holdfast.tokens.estimate import estimate_tokens

from .scene import Scene


@pytest.fixture
def guarded(tmp_path: Path) -> Scene:
    return Scene(root=tmp_path, guarded=True)


def reasons(scene: Scene) -> list[str]:
    with scene.store() as store:
        return [row["reason"] for row in reversed(store.snapshots("s1"))]


def thresholds(scene: Scene) -> list[str]:
    return [reason for reason in reasons(scene) if reason.startswith("threshold: ")]


def turn_by_turn(scene: Scene) -> list[str]:
    """Fire Stop after every turn; what each said to the person."""
    said, start = [], 0
    for end in scene.demo.turn_ends:
        scene.write(scene.demo.before[start : end + 1])
        start = end + 1
        out = scene.fire("Stop").out
        said.append(json.loads(out)["systemMessage"] if out else "")
    scene.write(scene.demo.before[start:])
    return said


def gauge(scene: Scene, tokens: int, percent: float, **fields: Any) -> str:
    told = scene.payload("Stop") | {
        "context_window": {"total_input_tokens": tokens, "used_percentage": percent}, **fields
    }  # fmt: skip
    done = subprocess.run(
        shlex.split(statusline_command()), input=json.dumps(told).encode(), capture_output=True,
        env={**scene.environment, "NO_COLOR": "1", "COLUMNS": "200"}, check=True,
    )  # fmt: skip
    return done.stdout.decode()


def test_each_threshold_is_saved_once_by_many_hooks(guarded: Scene) -> None:
    turn_by_turn(guarded)
    saved = thresholds(guarded)
    assert saved
    assert len(saved) == len(set(saved))
    guarded.at_once("Stop", "Stop", "Stop", "Stop")
    guarded.at_once("Stop", "Stop", "Stop", "Stop")
    again = thresholds(guarded)
    assert len(again) == len(set(again)) <= len(saved) + 1


def test_a_compaction_resets_the_thresholds(guarded: Scene) -> None:
    turn_by_turn(guarded)
    before = thresholds(guarded)
    guarded.fire("PreCompact")
    guarded.fire("SessionStart", source="compact")
    gauge(guarded, 55_000, 27)
    assert thresholds(guarded) == [*before, "threshold: 50000 tokens"]


def test_the_status_line_saves_at_a_threshold(guarded: Scene) -> None:
    guarded.write(guarded.demo.before[:40])
    guarded.fire("Stop")
    assert thresholds(guarded) == []
    told = gauge(guarded, 61_000, 30.5)
    assert thresholds(guarded) == ["threshold: 60000 tokens"]
    assert "saved 0 s ago" in told
    gauge(guarded, 62_000, 31)
    gauge(guarded, 145_000, 72)
    gauge(guarded, 146_000, 73)
    assert thresholds(guarded) == ["threshold: 60000 tokens", "threshold: remaining 30 %"]
    with guarded.store() as store:
        assert store.snapshots("s1")[0]["state"] == guarded.row()["state"] == guarded.folded()


def test_a_status_line_of_a_session_that_no_hook_has_seen_saves_too(guarded: Scene) -> None:
    guarded.fire("SessionStart", source="startup")
    guarded.write(guarded.demo.before)
    gauge(guarded, 61_000, 30.5)
    assert thresholds(guarded) == ["threshold: 60000 tokens"]


def test_the_user_gets_one_suggestion_with_a_line_to_paste(guarded: Scene) -> None:
    said = [words for words in turn_by_turn(guarded) if words]
    assert said
    assert said[0].startswith("Holdfast: 5")
    assert "tool calls since the last compaction. A good moment for: /compact focus on " in said[0]
    assert guarded.fire("Stop").out == ""


def test_suggestions_can_be_turned_off(guarded: Scene) -> None:
    guarded.write(guarded.demo.before)
    raw = json.dumps(guarded.payload("Stop")).encode()
    assert guarded.send(raw, environ={"HOLDFAST_SUGGEST": "off"}).is_silent
    assert guarded.send(raw).is_silent, "it counts as said"


def test_edits_are_checked_with_guard_edits(guarded: Scene) -> None:
    guarded.write(guarded.demo.before)
    told = guarded.payload("Stop") | {"hook_event_name": "PostToolUse", "tool_name": "Edit"}
    assert "systemMessage" in guarded.send(json.dumps(told).encode()).out
    assert len(thresholds(guarded)) == 1


@pytest.mark.parametrize(
    "event", ["Stop", "PostToolUse", "PreCompact", "PostCompact", "SessionStart", "SessionEnd"]
)
def test_a_hook_inside_a_sub_agent_does_not_touch_its_parent(guarded: Scene, event: str) -> None:
    guarded.write(guarded.demo.before[:-20])
    guarded.fire("Stop")
    before, saved = guarded.row(), reasons(guarded)
    guarded.write(guarded.demo.before[-20:])
    told = guarded.payload("Stop") | {
        "hook_event_name": event, "agent_id": "a1", "agent_type": "Explore",
        "source": "compact", "trigger": "auto", "compact_summary": "of the sub-agent",
    }  # fmt: skip
    assert guarded.send(json.dumps(told).encode()).is_silent
    assert guarded.row() == before
    assert reasons(guarded) == saved
    assert guarded.compactions() == []


# Sub-agents


def start_agent(scene: Scene) -> str:
    told = scene.payload("Stop") | {
        "hook_event_name": "SubagentStart", "agent_id": "a1", "agent_type": "Explore"
    }  # fmt: skip
    return scene.send(json.dumps(told).encode()).brief


def test_a_sub_agent_gets_the_binding_rules_within_its_budget(guarded: Scene) -> None:
    guarded.write(guarded.demo.before)
    told = start_agent(guarded)
    assert "Never touch anything under migrations/" in told
    assert "They bind you too" in told
    assert 0 < estimate_tokens(told) <= MAX_INHERITED_TOKENS


def test_without_rules_a_sub_agent_gets_nothing(guarded: Scene) -> None:
    assert start_agent(guarded) == ""
    assert os.path.exists(guarded.database)


def test_a_long_session_keeps_only_the_last_of_them(guarded: Scene) -> None:
    turn_by_turn(guarded)
    guarded.fire("PreCompact")
    before = thresholds(guarded)
    assert len(before) > 3
    guarded.home.joinpath("settings.json").write_text('{"keep_snapshots": 2}')
    gauge(guarded, 190_000, 95)
    kept = thresholds(guarded)
    assert kept[-1].startswith("threshold: remaining")
    assert kept[-2:-1] == before[-1:]
    assert len(kept) <= 3, "the richest of all may be one more"
    assert "auto" in reasons(guarded), "the one before the compaction stays"
