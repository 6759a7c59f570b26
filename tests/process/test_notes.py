"""Hooks write notes in projects that have a `.holdfast` folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast import trust

from .hook_session import HookSession


@pytest.fixture
def notes_folder(session: HookSession) -> Path:
    return Path(session.demo.project_dir, ".holdfast")


def test_notes_are_written_after_each_turn_if_the_project_has_the_folder(
    session: HookSession, notes_folder: Path
) -> None:
    session.write(session.demo.before)
    session.run_hook("Stop")
    assert not notes_folder.exists()
    notes_folder.mkdir(parents=True)
    assert session.run_hook("Stop").is_silent
    notes = notes_folder / "sessions" / "s1" / "notes.md"
    assert "- **Current item:** " in notes.read_text()
    notes.write_text(notes.read_text() + "mine\n")
    session.run_hook("PreCompact")
    assert "mine" in notes.read_text().splitlines()
    assert session.read_log() == []


def test_a_prompt_is_in_the_notes_before_the_agent_answers(
    session: HookSession, notes_folder: Path
) -> None:
    notes_folder.mkdir(parents=True)
    session.write(session.demo.before)
    key = "sk-ant-api03-" + "a1B2" * 12
    payload = session.make_payload("UserPromptSubmit") | {"prompt": f"Now do all of it, with {key}"}
    assert session.send_payload(payload).is_silent
    notes = (notes_folder / "sessions" / "s1" / "notes.md").read_text()
    assert "- **Active work:** “Now do all of it, with " in notes
    assert "(just asked)" in notes
    assert key not in notes
    payload["prompt"] = "<task-notification>an agent is done</task-notification>"
    session.send_payload(payload)
    assert "task-notification" not in (notes_folder / "sessions" / "s1" / "notes.md").read_text()


def test_progress_within_a_turn_is_in_the_notes_before_the_turn_ends(
    session: HookSession, notes_folder: Path
) -> None:
    notes_folder.mkdir(parents=True)
    session.write(session.demo.before)
    payload = session.make_payload("Stop") | {
        "hook_event_name": "PostToolUse",
        "tool_name": "TaskUpdate",
    }
    assert session.send_payload(payload).is_silent
    notes = (notes_folder / "sessions" / "s1" / "notes.md").read_text()
    assert "\n- commit " in notes
    assert "\n- done: " in notes


def test_notes_can_be_turned_off(session: HookSession, notes_folder: Path) -> None:
    notes_folder.mkdir(parents=True)
    (notes_folder / "settings.json").write_text('{"notes": false}')
    trust.trust(str(session.home), session.demo.project_dir)
    session.write(session.demo.before)
    session.run_hook("Stop")
    assert not (notes_folder / "sessions").exists()


def test_a_hook_that_cannot_write_notes_still_saves(
    session: HookSession, notes_folder: Path
) -> None:
    notes_folder.mkdir(parents=True)
    (notes_folder / "sessions").write_text("a file")
    session.write(session.demo.before)
    assert session.run_hook("Stop").is_silent
    assert session.read_row()["state"] == session.fold_transcript()
    assert "notes: " in session.read_log()[0]


def test_a_hook_of_a_sub_agent_writes_no_notes(session: HookSession, notes_folder: Path) -> None:
    notes_folder.mkdir(parents=True)
    session.write(session.demo.before)
    payload = session.make_payload("Stop") | {"agent_id": "a1", "agent_type": "Explore"}
    session.send_payload(payload)
    assert list(notes_folder.iterdir()) == []


def test_the_brief_reports_a_note_that_contradicts_the_summary(
    session: HookSession, notes_folder: Path
) -> None:
    notes_folder.mkdir(parents=True)
    session.write(session.demo.before)
    session.run_hook("Stop")
    notes = notes_folder / "sessions" / "s1" / "notes.md"
    notes.write_text(notes.read_text() + "5 attempts, not 8\n")
    session.run_hook("PreCompact")
    session.run_hook("SubagentStop", text="<summary>\nEach job gets 8 attempts.\n</summary>")
    brief = session.run_hook("SessionStart", source="compact").brief
    note = "- decided: “5 attempts, not 8” (notes.md)"
    assert f"{note}; the summary says “Each job gets 8 attempts.”" in brief
