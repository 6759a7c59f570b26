"""Compaction of a conversation, with concurrent writers and with failures."""

from __future__ import annotations

import json
from typing import Any

import pytest

from holdfast.conversations import events
from holdfast.conversations.events import CompactionEvent
from holdfast.errors import CompactionFailed, NothingToCompact
from tests.unit.conversations.scripted_summarizer import (
    LIMIT_TOKENS,
    VALID_CHECKPOINT,
    ScriptedSummarizer,
    event_kinds,
    fill,
    message_texts,
    record_events,
)

from .api_rules import assert_anthropic_accepts, assert_openai_accepts, count_tokens, get_text
from .conftest import Make


def test_below_the_threshold_nothing_is_compacted(manager: Make) -> None:
    opened = manager(limit=LIMIT_TOKENS)
    recorded = record_events(opened)
    conversation = opened.get_or_create("s1")
    fill(conversation, LIMIT_TOKENS // 2)
    assert conversation.maybe_compact() is None
    assert recorded == []


def test_at_the_threshold_old_messages_become_a_checkpoint_and_recent_ones_stay(
    manager: Make,
) -> None:
    opened = manager(limit=LIMIT_TOKENS, keep_recent=6)
    recorded = record_events(opened)
    conversation = opened.get_or_create("s1")
    conversation.add_message("user", "Never push to main.")
    fill(conversation, LIMIT_TOKENS)
    before = message_texts(conversation)
    compaction = conversation.maybe_compact()
    assert compaction is not None
    assert message_texts(conversation) == before[-6:]
    assert compaction.messages == len(before) - 6
    assert compaction.tokens_reclaimed > 0.5 * compaction.tokens_before
    assert conversation.checkpoint().constraints == ("Never push to main.",)
    assert event_kinds(recorded) == [events.START, events.COMPLETE]
    assert recorded[0].detail["messages"] == compaction.messages
    assert recorded[0].detail["estimated_tokens"] >= LIMIT_TOKENS * 0.9
    assert recorded[1].detail == {
        "messages_compacted": compaction.messages, "tokens_reclaimed": compaction.tokens_reclaimed,
        "checkpoint_version": 1, "made_by": "rules",
    }  # fmt: skip
    assert len(conversation.messages(compacted=True)) == len(before), (
        "compacted messages are still stored"
    )


def test_a_compaction_never_separates_a_call_from_its_result(manager: Make) -> None:
    conversation = manager(limit=2000, keep_recent=3).get_or_create("s1")
    for number in range(120):
        ident = f"c{number}"
        call = {"type": "tool_use", "id": ident, "name": "look", "input": {"at": "x " * 20}}
        conversation.add_message("assistant", ["looking", call])
        conversation.add_message("user", "please wait")
        conversation.add_message("tool", "result " * 20, tool_call_id=ident)
        body = conversation.build_request()
        assert_anthropic_accepts(body)
        assert_openai_accepts(conversation.build_request("openai"))
        assert "no result was recorded" not in get_text(body)
        assert "earlier tool call" not in get_text(body)
    assert conversation.metrics().compactions > 2


def test_messages_added_during_a_compaction_are_kept(manager: Make) -> None:
    summarizer = ScriptedSummarizer()
    conversation = manager(limit=LIMIT_TOKENS, summarizer=summarizer).get_or_create("s1")
    summarizer.during_call = lambda: conversation.add_message("user", "wait, one more thing")
    fill(conversation, LIMIT_TOKENS)
    assert conversation.maybe_compact() is not None
    assert message_texts(conversation)[-1] == "wait, one more thing"
    assert conversation.checkpoint().completed == ("the summary",)


def test_a_forced_compaction_without_enough_messages_raises(manager: Make) -> None:
    conversation = manager(limit=LIMIT_TOKENS).get_or_create("s1")
    conversation.add_message("user", "hello")
    with pytest.raises(NothingToCompact):
        conversation.force_compact()
    fill(conversation, LIMIT_TOKENS // 2)
    version = conversation.force_compact().version
    assert conversation.metrics().checkpoint_version == version == 1


def test_a_compaction_that_saves_no_tokens_fails_with_an_event(manager: Make) -> None:
    opened = manager(limit=1000, threshold=0.05, keep_recent=1)
    recorded = record_events(opened)
    conversation = opened.get_or_create("s1")
    for number in range(3):
        conversation.add_message("user", f"Never touch the file number {number}.")
    before = message_texts(conversation)
    assert conversation.maybe_compact() is None
    assert event_kinds(recorded) == [events.START, events.ERROR]
    with pytest.raises(CompactionFailed, match="not be shorter"):
        conversation.force_compact()
    assert message_texts(conversation) == before


def test_a_checkpoint_changed_during_a_compaction_makes_it_fail(manager: Make) -> None:
    summarizer = ScriptedSummarizer()
    conversation = manager(limit=LIMIT_TOKENS, summarizer=summarizer).get_or_create("s1")
    fill(conversation, LIMIT_TOKENS)
    before = message_texts(conversation)
    summarizer.during_call = lambda: conversation.update_checkpoint(pending=["changed meanwhile"])
    with pytest.raises(CompactionFailed, match="come first"):
        conversation.force_compact()
    assert message_texts(conversation) == before
    assert conversation.checkpoint().pending == ("changed meanwhile",)


def test_messages_cleared_during_a_compaction_get_no_checkpoint(manager: Make) -> None:
    summarizer = ScriptedSummarizer()
    conversation = manager(limit=LIMIT_TOKENS, summarizer=summarizer).get_or_create("s1")
    fill(conversation, LIMIT_TOKENS)
    summarizer.during_call = conversation.clear_messages
    with pytest.raises(CompactionFailed, match="gone"):
        conversation.force_compact()
    assert conversation.checkpoints() == []


def test_a_lease_is_ignored_only_when_the_window_is_full(manager: Make) -> None:
    results: list[Any] = []
    summarizer = ScriptedSummarizer()
    conversation = manager(limit=LIMIT_TOKENS, summarizer=summarizer).get_or_create("s1")

    def compact_concurrently() -> None:
        second = manager(limit=LIMIT_TOKENS).get_or_create("s1")
        results.append(second.maybe_compact())
        fill(second, LIMIT_TOKENS + 100)
        results.append(second.maybe_compact())

    summarizer.during_call = compact_concurrently
    fill(conversation, int(LIMIT_TOKENS * 0.9))
    assert conversation.maybe_compact() is None, "the second manager has compacted it"
    first, second = results
    assert first is None
    assert second.made_by == "rules"
    assert conversation.metrics().compactions == 1


# Summarizers that fail


@pytest.mark.parametrize("reply", [
    RuntimeError("529 overloaded"), "", "I cannot help with that.", {"pending": 7}, {"x": 1},
])  # fmt: skip
def test_a_failing_summarizer_is_retried_before_rules_take_over(manager: Make, reply: Any) -> None:
    summarizer = ScriptedSummarizer(replies=[reply, reply])
    opened = manager(limit=LIMIT_TOKENS, summarizer=summarizer)
    recorded = record_events(opened)
    conversation = opened.get_or_create("s1")
    conversation.add_message("user", "Never push.")
    fill(conversation, LIMIT_TOKENS)
    compaction = conversation.maybe_compact()
    assert compaction is not None
    assert compaction.made_by == "rules"
    assert conversation.checkpoint().constraints == ("Never push.",)
    assert event_kinds(recorded) == [
        events.START, events.PROGRESS, events.ERROR, events.PROGRESS, events.ERROR, events.COMPLETE,
    ]  # fmt: skip
    assert summarizer.requests[1].complaint == recorded[2].detail["error"] != ""


def test_a_successful_retry_is_used(manager: Make) -> None:
    summarizer = ScriptedSummarizer(
        replies=["nothing", f"```json\n{json.dumps(VALID_CHECKPOINT)}\n```"]
    )
    conversation = manager(limit=LIMIT_TOKENS, summarizer=summarizer).get_or_create("s1")
    fill(conversation, LIMIT_TOKENS)
    compaction = conversation.maybe_compact()
    assert compaction is not None
    assert compaction.made_by == "scripted"


def test_a_failing_store_causes_an_event_and_loses_no_message(
    manager: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = manager(limit=LIMIT_TOKENS)
    conversation = opened.get_or_create("s1")
    fill(conversation, LIMIT_TOKENS)
    before = message_texts(conversation)
    recorded = record_events(opened)

    def fail(*args: Any, **kwargs: Any) -> int:
        raise OSError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr("holdfast.conversations.compaction._save", fail)
        assert conversation.maybe_compact() is None
        assert count_tokens(conversation.build_request()) <= LIMIT_TOKENS, (
            "the request fits without a compaction"
        )
    assert event_kinds(recorded) == [events.START, events.ERROR] * 2
    assert message_texts(conversation) == before
    assert conversation.maybe_compact() is not None, "the lease was released"


def test_a_failing_callback_does_not_disturb_the_conversation(manager: Make) -> None:
    opened = manager(limit=LIMIT_TOKENS)

    def fail(event: CompactionEvent) -> None:
        raise RuntimeError("callback failed")

    opened.on(fail)
    stream = opened.events()
    conversation = opened.get_or_create("s1")
    fill(conversation, LIMIT_TOKENS)
    assert conversation.maybe_compact() is not None
    stream.close()
    assert [event.kind for event in stream] == [events.START, events.COMPLETE]
