"""Notes are kept by hooks where a project wants them, and nowhere else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .scene import Scene


@pytest.fixture
def folder(scene: Scene) -> Path:
    return Path(scene.demo.project_dir, ".holdfast")


def test_notes_are_kept_after_each_turn_where_the_project_has_the_folder(
    scene: Scene, folder: Path
) -> None:
    scene.write(scene.demo.before)
    scene.fire("Stop")
    assert not folder.exists()
    folder.mkdir(parents=True)
    assert scene.fire("Stop").is_silent
    notes = folder / "sessions" / "s1" / "notes.md"
    assert "- **Current item:** " in notes.read_text()
    notes.write_text(notes.read_text() + "mine\n")
    scene.fire("PreCompact")
    assert "mine" in notes.read_text().splitlines()
    assert scene.log() == []


def test_a_prompt_is_in_the_notes_before_the_agent_begins(scene: Scene, folder: Path) -> None:
    folder.mkdir(parents=True)
    scene.write(scene.demo.before)
    key = "sk-ant-api03-" + "a1B2" * 12
    told = scene.payload("UserPromptSubmit") | {"prompt": f"Now do all of it, with {key}"}
    assert scene.send(json.dumps(told).encode()).is_silent
    notes = (folder / "sessions" / "s1" / "notes.md").read_text()
    assert "- **Active work:** “Now do all of it, with " in notes
    assert "(just asked)" in notes
    assert key not in notes
    told["prompt"] = "<task-notification>an agent is done</task-notification>"
    scene.send(json.dumps(told).encode())
    assert "task-notification" not in (folder / "sessions" / "s1" / "notes.md").read_text()


def test_progress_within_a_turn_is_in_the_notes_at_once(scene: Scene, folder: Path) -> None:
    folder.mkdir(parents=True)
    scene.write(scene.demo.before)
    told = scene.payload("Stop") | {"hook_event_name": "PostToolUse", "tool_name": "TaskUpdate"}
    assert scene.send(json.dumps(told).encode()).is_silent
    notes = (folder / "sessions" / "s1" / "notes.md").read_text()
    assert "\n- commit " in notes
    assert "\n- done: " in notes


def test_notes_can_be_turned_off(scene: Scene, folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "settings.json").write_text('{"notes": false}')
    scene.write(scene.demo.before)
    scene.fire("Stop")
    assert not (folder / "sessions").exists()


def test_notes_that_cannot_be_written_stop_nothing_else(scene: Scene, folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "sessions").write_text("a file")
    scene.write(scene.demo.before)
    assert scene.fire("Stop").is_silent
    assert scene.row()["state"] == scene.folded()
    assert "notes: " in scene.log()[0]


def test_the_notes_of_a_sub_agent_are_its_own(scene: Scene, folder: Path) -> None:
    folder.mkdir(parents=True)
    scene.write(scene.demo.before)
    told = scene.payload("Stop") | {"agent_id": "a1", "agent_type": "Explore"}
    scene.send(json.dumps(told).encode())
    assert list(folder.iterdir()) == []


def test_where_a_note_and_the_summary_disagree_the_brief_says_so(
    scene: Scene, folder: Path
) -> None:
    folder.mkdir(parents=True)
    scene.write(scene.demo.before)
    scene.fire("Stop")
    notes = folder / "sessions" / "s1" / "notes.md"
    notes.write_text(notes.read_text() + "5 attempts, not 8\n")
    scene.fire("PreCompact")
    scene.fire("SubagentStop", text="<summary>\nEach job gets 8 attempts.\n</summary>")
    brief = scene.fire("SessionStart", source="compact").brief
    told = "- decided: “5 attempts, not 8” (notes.md); the summary says “Each job gets 8 attempts.”"
    assert told in brief
