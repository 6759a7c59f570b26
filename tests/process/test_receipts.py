"""The transcript proves how a brief arrived; where it did not, the next prompt brings it."""

from __future__ import annotations

import json

import pytest

from holdfast.demo import Line
from tests.process.aftermath import (
    after,
    attachment,
    of_an_old_client,
    once_more,
    saved_only,
    up_to_the_reply,
)

from .scene import Scene

# The receipt


def test_until_the_model_has_answered_a_receipt_is_pending(scene: Scene) -> None:
    scene.compacted()
    scene.write(up_to_the_reply(after(scene)))
    scene.fire("Stop")
    assert scene.receipts() == ["pending"]


@pytest.mark.parametrize(
    ("receipt", "copies", "length"),
    [("whole", 1, None), ("cut", 1, 2000), ("twice", 2, None), ("never", 0, None)],
)
def test_the_receipt_follows_the_transcript(
    scene: Scene, receipt: str, copies: int, length: int | None
) -> None:
    brief = scene.compacted().brief
    shown = attachment(scene, brief[:length])
    scene.write(after(scene, *[shown] * copies))
    assert scene.fire("Stop").is_silent
    assert scene.receipts() == [receipt]


def test_a_client_whose_transcript_shows_no_context_leaves_the_receipt_unproven(
    scene: Scene,
) -> None:
    scene.write(of_an_old_client(scene.demo.before))
    scene.fire("PreCompact", trigger="manual")
    assert scene.fire("SessionStart", source="compact").brief
    scene.write(of_an_old_client(after(scene)))
    scene.fire("Stop")
    assert scene.receipts() == ["unproven"]


def test_a_client_that_writes_the_text_itself_proves_it_too(scene: Scene) -> None:
    scene.write(of_an_old_client(scene.demo.before))
    scene.fire("PreCompact", trigger="manual")
    brief = scene.fire("SessionStart", source="compact").brief
    lines = of_an_old_client(after(scene))
    shown = {"role": "user", "content": f"<session-start-hook>{brief}</session-start-hook>"}
    reply = len(up_to_the_reply(lines))
    scene.write([*lines[:reply], {"type": "user", "message": shown}, *lines[reply:]])
    scene.fire("Stop")
    assert scene.receipts() == ["whole"]


@pytest.mark.parametrize("trigger", ["manual", "auto"])
def test_a_client_that_logs_the_brief_but_drops_it_gives_no_receipt(
    scene: Scene, trigger: str
) -> None:
    """2.0.14 leaves what a hook says after a manual compaction out of the conversation."""

    def old(lines: list[Line]) -> list[Line]:
        told = json.dumps(of_an_old_client(lines, "2.0.14"))
        found: list[Line] = json.loads(told.replace('"trigger": "auto"', f'"trigger": "{trigger}"'))
        return found

    def written(tag: str, brief: str) -> Line:
        shown = {"role": "user", "content": f"<{tag}>{brief}</{tag}>"}
        return {"type": "user", "version": "2.0.14", "message": shown}

    scene.write(old(scene.demo.before))
    scene.fire("PreCompact", trigger=trigger)
    brief = scene.fire("SessionStart", source="compact").brief
    lines = old(after(scene))
    reply = len(up_to_the_reply(lines))
    scene.write([*lines[:reply], written("session-start-hook", brief)])
    late = scene.fire("UserPromptSubmit", text="go on").brief
    assert bool(late) == (trigger == "manual")
    scene.write([written("user-prompt-submit-hook", late)] if late else [])
    scene.write(lines[reply:])
    requests = scene.row()["state"]["requests"]
    scene.fire("Stop")
    assert scene.receipts() == ["whole"]
    assert scene.row()["state"]["requests"] == requests, "a brief is not what the user said"
    assert scene.fire("UserPromptSubmit", text="and on").is_silent
    assert resumed_silently(scene)


def resumed_silently(scene: Scene) -> bool:
    """The transcript has the text itself, so the client replays it."""
    return scene.fire("SessionStart", source="resume").is_silent


def test_the_brief_of_another_session_is_no_receipt(scene: Scene) -> None:
    scene.compacted()
    scene.write(after(scene, attachment(scene, "# Where (holdfast:0badcafe)\nof another session")))
    scene.fire("Stop")
    assert scene.receipts() == ["never"]


# The second chance


def test_a_prompt_brings_the_brief_when_no_session_start_came(scene: Scene) -> None:
    saved_only(scene)
    scene.write(up_to_the_reply(after(scene)))
    brief = scene.fire("UserPromptSubmit", text="go on").brief
    assert "Never touch anything under migrations/" in brief
    assert scene.fire("UserPromptSubmit", text="and on").is_silent, "exactly once"
    scene.write(attachment(scene, brief, "UserPromptSubmit"))
    scene.write(after(scene)[len(up_to_the_reply(after(scene))) :])
    assert scene.fire("UserPromptSubmit", text="further").is_silent
    (row,) = scene.compactions()
    assert (row["delivered_by"], row["receipt"]) == ("UserPromptSubmit", "whole")


def test_a_prompt_brings_it_also_when_the_agent_went_on_without(scene: Scene) -> None:
    saved_only(scene)
    scene.write(after(scene))
    assert scene.fire("Stop").is_silent
    assert scene.fire("UserPromptSubmit", text="go on").brief
    assert scene.fire("UserPromptSubmit", text="and on").is_silent


def test_a_prompt_brings_it_also_when_not_even_pre_compact_came(scene: Scene) -> None:
    scene.fire("SessionStart", source="startup")
    scene.write(scene.demo.before)
    scene.fire("Stop")
    scene.write(after(scene))
    assert scene.fire("UserPromptSubmit", text="go on").brief
    assert scene.fire("UserPromptSubmit", text="and on").is_silent


def test_a_brief_that_was_sent_and_dropped_is_sent_once_more(scene: Scene) -> None:
    assert scene.compacted().brief
    scene.write(after(scene))
    scene.fire("Stop")
    assert scene.receipts() == ["never"]
    brief = scene.fire("UserPromptSubmit", text="go on").brief
    assert brief
    assert scene.fire("UserPromptSubmit", text="and on").is_silent
    scene.write(attachment(scene, brief, "UserPromptSubmit"))
    scene.fire("Stop")
    assert scene.receipts() == ["whole"]


def test_a_brief_that_was_cut_is_sent_once_more(scene: Scene) -> None:
    brief = scene.compacted().brief
    scene.write(after(scene, attachment(scene, brief[:2000])))
    scene.fire("Stop")
    assert scene.receipts() == ["cut"]
    again = scene.fire("UserPromptSubmit", text="go on").brief
    assert again
    assert scene.fire("UserPromptSubmit", text="and on").is_silent
    scene.write(once_more(attachment(scene, again, "UserPromptSubmit")))
    scene.fire("Stop")
    assert scene.receipts() == ["whole"]


@pytest.mark.parametrize("answered", [False, True])
def test_a_brief_that_arrived_is_not_sent_again(scene: Scene, answered: bool) -> None:
    lines = after(scene, attachment(scene, scene.compacted().brief))
    scene.write(lines if answered else up_to_the_reply(lines))
    assert scene.fire("UserPromptSubmit", text="go on").is_silent


@pytest.mark.parametrize("answered", [False, True])
def test_a_client_whose_transcript_shows_no_context_gets_the_brief_once(
    scene: Scene, answered: bool
) -> None:
    scene.write(of_an_old_client(scene.demo.before))
    scene.fire("PreCompact", trigger="manual")
    assert scene.fire("SessionStart", source="compact").brief
    lines = of_an_old_client(after(scene))
    scene.write(lines if answered else up_to_the_reply(lines))
    assert scene.fire("UserPromptSubmit", text="go on").is_silent


@pytest.mark.parametrize("first", ["UserPromptSubmit", "SessionStart", "Stop"])
def test_a_session_first_seen_after_its_compaction_is_not_interrupted(
    scene: Scene, first: str
) -> None:
    scene.write(scene.demo.before + after(scene))
    assert scene.fire(first).is_silent
    assert scene.fire("UserPromptSubmit", text="go on").is_silent
    assert scene.compactions() == []
