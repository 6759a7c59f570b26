"""Receipts: the transcript shows how a brief arrived. A lost one is sent with the next prompt."""

from __future__ import annotations

import json

import pytest

from holdfast.demo import Line

from .compaction_lines import (
    as_old_client,
    make_attachment,
    make_lines_after_compaction,
    save_before_compaction,
    take_before_reply,
    take_from_reply,
    with_new_uuids,
)
from .hook_session import HookSession

# Receipts


def test_a_receipt_is_pending_until_the_model_replies(session: HookSession) -> None:
    session.run_until_compacted()
    session.write(take_before_reply(make_lines_after_compaction(session)))
    session.run_hook("Stop")
    assert session.list_receipts() == ["pending"]


@pytest.mark.parametrize(
    ("receipt", "copies", "max_chars"),
    [("whole", 1, None), ("cut", 1, 2000), ("twice", 2, None), ("never", 0, None)],
)
def test_the_receipt_says_how_the_brief_is_in_the_transcript(
    session: HookSession, receipt: str, copies: int, max_chars: int | None
) -> None:
    brief = session.run_until_compacted().brief
    attachment = make_attachment(session, brief[:max_chars])
    session.write(make_lines_after_compaction(session, *[attachment] * copies))
    assert session.run_hook("Stop").is_silent
    assert session.list_receipts() == [receipt]


def test_the_receipt_is_unproven_if_the_client_does_not_record_context(
    session: HookSession,
) -> None:
    session.write(as_old_client(session.demo.before))
    session.run_hook("PreCompact", trigger="manual")
    assert session.run_hook("SessionStart", source="compact").brief
    session.write(as_old_client(make_lines_after_compaction(session)))
    session.run_hook("Stop")
    assert session.list_receipts() == ["unproven"]


def test_a_brief_recorded_as_a_user_message_has_the_receipt_whole(session: HookSession) -> None:
    session.write(as_old_client(session.demo.before))
    session.run_hook("PreCompact", trigger="manual")
    brief = session.run_hook("SessionStart", source="compact").brief
    lines = as_old_client(make_lines_after_compaction(session))
    message = {"role": "user", "content": f"<session-start-hook>{brief}</session-start-hook>"}
    session.write([*take_before_reply(lines), {"type": "user", "message": message}])
    session.write(take_from_reply(lines))
    session.run_hook("Stop")
    assert session.list_receipts() == ["whole"]


@pytest.mark.parametrize("trigger", ["manual", "auto"])
def test_a_client_that_records_the_brief_but_drops_it_gets_it_with_the_next_prompt(
    session: HookSession, trigger: str
) -> None:
    """Client 2.0.14 does not show the model the output of hooks after a manual compaction."""

    def as_client_2_0_14(lines: list[Line]) -> list[Line]:
        text = json.dumps(as_old_client(lines, "2.0.14"))
        text = text.replace('"trigger": "auto"', f'"trigger": "{trigger}"')
        old_lines: list[Line] = json.loads(text)
        return old_lines

    def make_hook_output(tag: str, brief: str) -> Line:
        message = {"role": "user", "content": f"<{tag}>{brief}</{tag}>"}
        return {"type": "user", "version": "2.0.14", "message": message}

    session.write(as_client_2_0_14(session.demo.before))
    session.run_hook("PreCompact", trigger=trigger)
    brief = session.run_hook("SessionStart", source="compact").brief
    lines = as_client_2_0_14(make_lines_after_compaction(session))
    session.write([*take_before_reply(lines), make_hook_output("session-start-hook", brief)])
    second_brief = session.run_hook("UserPromptSubmit", text="go on").brief
    assert bool(second_brief) == (trigger == "manual")
    if second_brief:
        session.write([make_hook_output("user-prompt-submit-hook", second_brief)])
    session.write(take_from_reply(lines))
    requests = session.read_row()["state"]["requests"]
    session.run_hook("Stop")
    assert session.list_receipts() == ["whole"]
    assert session.read_row()["state"]["requests"] == requests, "a brief is no request"
    assert session.run_hook("UserPromptSubmit", text="and on").is_silent
    # On resuming, the client replays the text from the transcript.
    assert session.run_hook("SessionStart", source="resume").is_silent


def test_the_brief_of_another_session_does_not_count(session: HookSession) -> None:
    session.run_until_compacted()
    attachment = make_attachment(session, "# Where (holdfast:0badcafe)\nof another session")
    session.write(make_lines_after_compaction(session, attachment))
    session.run_hook("Stop")
    assert session.list_receipts() == ["never"]


# Lost briefs


def test_the_next_prompt_delivers_the_brief_if_session_start_did_not_run(
    session: HookSession,
) -> None:
    save_before_compaction(session)
    session.write(take_before_reply(make_lines_after_compaction(session)))
    brief = session.run_hook("UserPromptSubmit", text="go on").brief
    assert "Never touch anything under migrations/" in brief
    assert session.run_hook("UserPromptSubmit", text="and on").is_silent, "the brief was sent twice"
    session.write(make_attachment(session, brief, "UserPromptSubmit"))
    session.write(take_from_reply(make_lines_after_compaction(session)))
    assert session.run_hook("UserPromptSubmit", text="further").is_silent
    (row,) = session.list_compactions()
    assert (row["delivered_by"], row["receipt"]) == ("UserPromptSubmit", "whole")


def test_the_next_prompt_delivers_the_brief_if_the_model_has_replied_without_it(
    session: HookSession,
) -> None:
    save_before_compaction(session)
    session.write(make_lines_after_compaction(session))
    assert session.run_hook("Stop").is_silent
    assert session.run_hook("UserPromptSubmit", text="go on").brief
    assert session.run_hook("UserPromptSubmit", text="and on").is_silent


def test_the_next_prompt_delivers_the_brief_if_precompact_did_not_run(session: HookSession) -> None:
    session.run_hook("SessionStart", source="startup")
    session.write(session.demo.before)
    session.run_hook("Stop")
    session.write(make_lines_after_compaction(session))
    assert session.run_hook("UserPromptSubmit", text="go on").brief
    assert session.run_hook("UserPromptSubmit", text="and on").is_silent


def test_a_brief_that_did_not_arrive_is_sent_once_more(session: HookSession) -> None:
    assert session.run_until_compacted().brief
    session.write(make_lines_after_compaction(session))
    session.run_hook("Stop")
    assert session.list_receipts() == ["never"]
    brief = session.run_hook("UserPromptSubmit", text="go on").brief
    assert brief
    assert session.run_hook("UserPromptSubmit", text="and on").is_silent
    session.write(make_attachment(session, brief, "UserPromptSubmit"))
    session.run_hook("Stop")
    assert session.list_receipts() == ["whole"]


def test_a_brief_that_was_cut_is_sent_once_more(session: HookSession) -> None:
    brief = session.run_until_compacted().brief
    session.write(make_lines_after_compaction(session, make_attachment(session, brief[:2000])))
    session.run_hook("Stop")
    assert session.list_receipts() == ["cut"]
    second_brief = session.run_hook("UserPromptSubmit", text="go on").brief
    assert second_brief
    assert session.run_hook("UserPromptSubmit", text="and on").is_silent
    session.write(with_new_uuids(make_attachment(session, second_brief, "UserPromptSubmit")))
    session.run_hook("Stop")
    assert session.list_receipts() == ["whole"]


@pytest.mark.parametrize("has_reply", [False, True])
def test_a_brief_that_arrived_is_not_sent_again(session: HookSession, has_reply: bool) -> None:
    brief = session.run_until_compacted().brief
    lines = make_lines_after_compaction(session, make_attachment(session, brief))
    session.write(lines if has_reply else take_before_reply(lines))
    assert session.run_hook("UserPromptSubmit", text="go on").is_silent


@pytest.mark.parametrize("has_reply", [False, True])
def test_a_client_that_does_not_record_context_gets_the_brief_once(
    session: HookSession, has_reply: bool
) -> None:
    session.write(as_old_client(session.demo.before))
    session.run_hook("PreCompact", trigger="manual")
    assert session.run_hook("SessionStart", source="compact").brief
    lines = as_old_client(make_lines_after_compaction(session))
    session.write(lines if has_reply else take_before_reply(lines))
    assert session.run_hook("UserPromptSubmit", text="go on").is_silent


@pytest.mark.parametrize("first_event", ["UserPromptSubmit", "SessionStart", "Stop"])
def test_a_session_first_read_after_its_compaction_gets_no_brief(
    session: HookSession, first_event: str
) -> None:
    session.write(session.demo.before + make_lines_after_compaction(session))
    assert session.run_hook(first_event).is_silent
    assert session.run_hook("UserPromptSubmit", text="go on").is_silent
    assert session.list_compactions() == []
