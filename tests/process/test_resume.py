"""Resumed and cleared sessions get only what the host does not replay.

On resuming, the host replays its transcript from the last compaction on.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from .compaction_lines import (
    as_old_client,
    make_attachment,
    make_lines_after_compaction,
    save_before_compaction,
    take_before_reply,
    take_from_reply,
    truncate_transcript,
)
from .hook_session import HookResult, HookSession

RULE = "Never touch anything under migrations/"


def resume(session: HookSession, source: str = "resume") -> HookResult:
    return session.run_hook("SessionStart", source=source)


@pytest.mark.parametrize("source", ["resume", "fork"])
def test_a_brief_that_did_not_arrive_is_sent_on_resuming(session: HookSession, source: str) -> None:
    save_before_compaction(session)
    session.write(take_before_reply(make_lines_after_compaction(session)))
    brief = resume(session, source).brief
    assert RULE in brief
    assert "After compaction 1, from" in brief
    # The host records the brief only with the first prompt, so it does not count as lost yet.
    assert session.run_hook("UserPromptSubmit", text="go on").is_silent
    session.write(make_attachment(session, brief))
    session.write(take_from_reply(make_lines_after_compaction(session)))
    session.run_hook("Stop")
    (row,) = session.list_compactions()
    assert (row["delivered_by"], row["receipt"]) == ("SessionStart resume", "whole")
    assert resume(session).is_silent


def test_a_brief_that_is_lost_on_resuming_too_is_sent_with_the_next_prompt(
    session: HookSession,
) -> None:
    save_before_compaction(session)
    session.write(take_before_reply(make_lines_after_compaction(session)))
    assert resume(session).brief
    session.write(take_from_reply(make_lines_after_compaction(session)))
    assert RULE in session.run_hook("UserPromptSubmit", text="go on").brief


def test_a_brief_that_the_host_replays_is_not_sent_again(session: HookSession) -> None:
    brief = session.run_until_compacted().brief
    session.write(make_lines_after_compaction(session, make_attachment(session, brief)))
    session.run_hook("Stop")
    assert resume(session).is_silent


def test_a_session_without_a_compaction_gets_no_brief_on_resuming(
    session: HookSession,
) -> None:
    session.write(session.demo.before)
    session.run_hook("Stop")
    session.run_hook("SessionEnd", reason="other")
    assert resume(session).is_silent


def test_a_client_that_does_not_replay_context_gets_the_brief_at_every_resume(
    session: HookSession,
) -> None:
    session.write(as_old_client(session.demo.before))
    session.run_hook("PreCompact", trigger="manual")
    assert session.run_hook("SessionStart", source="compact").brief
    session.write(as_old_client(make_lines_after_compaction(session)))
    session.run_hook("Stop")
    for _ in range(2):
        brief = resume(session).brief
        assert RULE in brief
        assert "After compaction 1, from" in brief
    assert session.list_receipts() == ["pending"]


def test_a_session_whose_transcript_was_truncated_gets_its_saved_state_once(
    session: HookSession,
) -> None:
    save_before_compaction(session)
    truncate_transcript(session)
    brief = resume(session).brief
    assert RULE in brief
    assert "After compaction" not in brief
    assert resume(session).is_silent
    # The brief belongs to no compaction, so it gets no receipt.
    assert [row["brief_id"] for row in session.list_compactions()] == [None]


# Changes while the session was closed


@pytest.fixture
def notes(session: HookSession) -> Path:
    """The notes file of a session that has ended."""
    project = Path(session.demo.project_dir)
    (project / ".holdfast").mkdir(parents=True)
    session.write(session.demo.before)
    session.run_hook("Stop")
    session.run_hook("SessionEnd", reason="other")
    return project / ".holdfast" / "sessions" / "s1" / "notes.md"


def test_notes_written_while_the_session_was_closed_are_shown_once(
    session: HookSession, notes: Path
) -> None:
    notes.write_text(notes.read_text() + "The bank allows five attempts.\n")
    context = resume(session).brief
    assert "- noted: “The bank allows five attempts.” (notes.md)" in context
    assert resume(session).is_silent


@pytest.mark.usefixtures("notes")
def test_resuming_without_changes_adds_nothing(session: HookSession) -> None:
    assert resume(session).is_silent


def test_an_unanswered_prompt_is_reported_on_resuming(session: HookSession) -> None:
    template = next(line for line in session.demo.before if line["type"] == "user")
    prompt = "And keep the log short."
    queued = {
        "type": "queue-operation",
        "operation": "enqueue",
        "timestamp": template["timestamp"],
        "sessionId": template["sessionId"],
        "content": prompt,
    }
    session.write([*session.demo.before, queued])
    session.run_hook("Stop")
    line = session.read_row()["state"]["lines"]
    expected = f"- typed, and never given to the agent: “{prompt}” (L{line})"
    assert expected in resume(session).brief


# Cleared sessions


def clear(
    session: HookSession, setting: str, *, end_reason: str = "clear", client_pid: str = "7"
) -> HookResult:
    """End the session in the client with process id 7, and start another with `/clear`."""
    session.write(session.demo.before)
    environ = {"HOLDFAST_RESTORE_ON_CLEAR": setting, "CLAUDE_PID": "7"}
    end = session.make_payload("SessionEnd", reason=end_reason)
    assert session.send_payload(end, environ=environ).is_silent
    start = session.make_payload("SessionStart", source="clear")
    start |= {"session_id": "s2", "transcript_path": str(session.root / "s2.jsonl")}
    return session.send_payload(start, environ={**environ, "CLAUDE_PID": client_pid})


def test_a_cleared_conversation_gets_nothing_by_default(session: HookSession) -> None:
    assert clear(session, "off").is_silent


def test_a_cleared_conversation_keeps_the_rules_if_a_setting_says_so(session: HookSession) -> None:
    context = clear(session, "rules").brief
    assert f"- “{RULE}" in context
    assert "The conversation was cleared." in context
    assert "# Where this session stands" not in context, "only the rules are kept"


@pytest.mark.parametrize(("end_reason", "client_pid"), [("other", "7"), ("clear", "8")])
def test_a_cleared_conversation_gets_no_rules_of_another_session(
    session: HookSession, end_reason: str, client_pid: str
) -> None:
    assert clear(session, "rules", end_reason=end_reason, client_pid=client_pid).is_silent
