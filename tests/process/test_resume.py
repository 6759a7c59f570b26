"""A session that is resumed or cleared: only what the host cannot show again is put back.

On resuming, the host replays its transcript from the last compaction on.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from holdfast.demo import Line

from .aftermath import after, attachment, cut, of_an_old_client, saved_only, up_to_the_reply
from .scene import Fired, Scene

RULE = "Never touch anything under migrations/"


def resumed(scene: Scene, source: str = "resume") -> Fired:
    return scene.fire("SessionStart", source=source)


@pytest.mark.parametrize("source", ["resume", "fork"])
def test_a_brief_that_never_arrived_is_put_back_on_resuming(scene: Scene, source: str) -> None:
    saved_only(scene)
    scene.write(up_to_the_reply(after(scene)))
    brief = resumed(scene, source).brief
    assert RULE in brief
    assert "After compaction 1, from" in brief
    # The host writes it down only with the first prompt, so it is not taken for lost.
    assert scene.fire("UserPromptSubmit", text="go on").is_silent
    scene.write(attachment(scene, brief))
    scene.write(after(scene)[len(up_to_the_reply(after(scene))) :])
    scene.fire("Stop")
    (row,) = scene.compactions()
    assert (row["delivered_by"], row["receipt"]) == ("SessionStart resume", "whole")
    assert resumed(scene).is_silent


def test_a_brief_that_was_lost_on_resuming_too_goes_with_the_next_prompt(scene: Scene) -> None:
    saved_only(scene)
    scene.write(up_to_the_reply(after(scene)))
    assert resumed(scene).brief
    scene.write(after(scene)[len(up_to_the_reply(after(scene))) :])
    assert RULE in scene.fire("UserPromptSubmit", text="go on").brief


def test_a_brief_that_the_host_replays_is_not_put_back_again(scene: Scene) -> None:
    brief = scene.compacted().brief
    scene.write(after(scene, attachment(scene, brief)))
    scene.fire("Stop")
    assert resumed(scene).is_silent


def test_a_session_that_was_never_compacted_is_replayed_whole_by_the_host(scene: Scene) -> None:
    scene.write(scene.demo.before)
    scene.fire("Stop")
    scene.fire("SessionEnd", reason="other")
    assert resumed(scene).is_silent


def test_a_client_that_does_not_replay_context_gets_the_brief_at_each_resume(scene: Scene) -> None:
    scene.write(of_an_old_client(scene.demo.before))
    scene.fire("PreCompact", trigger="manual")
    assert scene.fire("SessionStart", source="compact").brief
    scene.write(of_an_old_client(after(scene)))
    scene.fire("Stop")
    for _ in range(2):
        brief = resumed(scene).brief
        assert RULE in brief
        assert "After compaction 1, from" in brief
    assert scene.receipts() == ["pending"]


def test_what_was_saved_of_a_log_that_was_cut_is_put_back_once(scene: Scene) -> None:
    saved_only(scene)
    cut(scene)
    brief = resumed(scene).brief
    assert RULE in brief
    assert "After compaction" not in brief
    assert resumed(scene).is_silent
    assert [row["brief_id"] for row in scene.compactions()] == [None], "there is nothing to prove"


# What came in meanwhile


@pytest.fixture
def notes(scene: Scene) -> Path:
    """A project that keeps notes, and a session of it that has ended."""
    project = Path(scene.demo.project_dir)
    (project / ".holdfast").mkdir(parents=True)
    scene.write(scene.demo.before)
    scene.fire("Stop")
    scene.fire("SessionEnd", reason="other")
    return project / ".holdfast" / "sessions" / "s1" / "notes.md"


def test_notes_written_while_the_session_was_closed_are_shown_once(
    scene: Scene, notes: Path
) -> None:
    notes.write_text(notes.read_text() + "The bank allows five attempts.\n")
    told = resumed(scene).brief
    assert "- noted: “The bank allows five attempts.” (notes.md)" in told
    assert resumed(scene).is_silent


def test_resuming_without_news_adds_nothing(scene: Scene, notes: Path) -> None:
    assert resumed(scene).is_silent


def test_an_unanswered_prompt_is_reported_on_resuming(scene: Scene) -> None:
    like = next(line for line in scene.demo.before if line["type"] == "user")
    typed = "And keep the log short."
    queued = {
        "type": "queue-operation",
        "operation": "enqueue",
        "timestamp": like["timestamp"],
        "sessionId": like["sessionId"],
        "content": typed,
    }
    scene.write([*scene.demo.before, queued])
    scene.fire("Stop")
    told = resumed(scene).brief
    assert (
        f"- typed, and never given to the agent: “{typed}” (L{scene.row()['state']['lines']})"
        in told
    )


# Clearing


def cleared(scene: Scene, wanted: str, *, ended_by: str = "clear", client: str = "7") -> Fired:
    """The session ends as told, and another begins with `/clear`."""
    scene.write(scene.demo.before)
    environ = {"HOLDFAST_RESTORE_ON_CLEAR": wanted, "CLAUDE_PID": "7"}
    ends = json.dumps(scene.payload("SessionEnd", reason=ended_by)).encode()
    assert scene.send(ends, environ=environ).is_silent
    begins: Line = scene.payload("SessionStart", source="clear")
    begins |= {"session_id": "s2", "transcript_path": str(scene.root / "s2.jsonl")}
    return scene.send(json.dumps(begins).encode(), environ={**environ, "CLAUDE_PID": client})


def test_a_cleared_conversation_begins_with_nothing(scene: Scene) -> None:
    assert cleared(scene, "off").is_silent


def test_a_cleared_conversation_keeps_the_rules_if_a_setting_says_so(scene: Scene) -> None:
    told = cleared(scene, "rules").brief
    assert f"- “{RULE}" in told
    assert "The conversation was cleared." in told
    assert "# Where this session stands" not in told, "the rules and nothing else"


@pytest.mark.parametrize(("ended_by", "client"), [("other", "7"), ("clear", "8")])
def test_a_cleared_conversation_gets_no_rules_of_another_session(
    scene: Scene, ended_by: str, client: str
) -> None:
    assert cleared(scene, "rules", ended_by=ended_by, client=client).is_silent
