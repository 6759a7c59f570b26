"""Compaction, also with concurrent writers and failures."""

from __future__ import annotations

import json
from typing import Any

import pytest

from holdfast.conversations import events
from holdfast.conversations.events import Event
from holdfast.errors import CompactionFailed, NothingToCompact
from tests.unit.conversations.scripted import GOOD, LIMIT, Scripted, fill, heard, kinds, texts

from .api_rules import assert_anthropic_accepts, assert_openai_accepts, tokens, told
from .conftest import Make


def test_below_the_threshold_nothing_happens(manager: Make) -> None:
    made = manager(limit=LIMIT)
    found = heard(made)
    conversation = made.get_or_create("s1")
    fill(conversation, LIMIT // 2)
    assert conversation.maybe_compact() is None
    assert found == []


def test_at_the_threshold_old_messages_become_a_checkpoint_and_recent_ones_stay(
    manager: Make,
) -> None:
    made = manager(limit=LIMIT, keep_recent=6)
    found = heard(made)
    conversation = made.get_or_create("s1")
    conversation.add_message("user", "Never push to main.")
    fill(conversation, LIMIT)
    before = texts(conversation)
    done = conversation.maybe_compact()
    assert done is not None
    assert texts(conversation) == before[-6:]
    assert done.messages == len(before) - 6
    assert done.tokens_reclaimed > 0.5 * done.tokens_before
    assert conversation.checkpoint().constraints == ("Never push to main.",)
    assert kinds(found) == [events.START, events.COMPLETE]
    assert found[0].detail["messages"] == done.messages
    assert found[0].detail["estimated_tokens"] >= LIMIT * 0.9
    assert found[1].detail == {
        "messages_compacted": done.messages, "tokens_reclaimed": done.tokens_reclaimed,
        "checkpoint_version": 1, "made_by": "rules",
    }  # fmt: skip
    assert len(conversation.messages(compacted=True)) == len(before), "nothing said is lost"


def test_a_compaction_never_separates_a_call_from_its_result(manager: Make) -> None:
    conversation = manager(limit=2000, keep_recent=3).get_or_create("s1")
    for number in range(120):
        ident = f"c{number}"
        call = {"type": "tool_use", "id": ident, "name": "look", "input": {"at": "x " * 20}}
        conversation.add_message("assistant", ["looking", call])
        conversation.add_message("user", "meanwhile")
        conversation.add_message("tool", "seen " * 20, tool_call_id=ident)
        body = conversation.build_request()
        assert_anthropic_accepts(body)
        assert_openai_accepts(conversation.build_request("openai"))
        assert "no result was recorded" not in told(body)
        assert "earlier tool call" not in told(body)
    assert conversation.metrics().compactions > 2


def test_messages_added_during_a_compaction_are_kept(manager: Make) -> None:
    summarizer = Scripted()
    conversation = manager(limit=LIMIT, summarizer=summarizer).get_or_create("s1")
    summarizer.meanwhile = lambda: conversation.add_message("user", "wait, one more thing")
    fill(conversation, LIMIT)
    assert conversation.maybe_compact() is not None
    assert texts(conversation)[-1] == "wait, one more thing"
    assert conversation.checkpoint().completed == ("the summary",)


def test_a_forced_compaction_succeeds_or_raises(manager: Make) -> None:
    conversation = manager(limit=LIMIT).get_or_create("s1")
    conversation.add_message("user", "hello")
    with pytest.raises(NothingToCompact):
        conversation.force_compact()
    fill(conversation, LIMIT // 2)
    version = conversation.force_compact().version
    assert conversation.metrics().checkpoint_version == version == 1


def test_a_compaction_that_saves_nothing_fails_with_an_event(manager: Make) -> None:
    made = manager(limit=1000, threshold=0.05, keep_recent=1)
    found = heard(made)
    conversation = made.get_or_create("s1")
    for number in range(3):
        conversation.add_message("user", f"Never touch the file number {number}.")
    before = texts(conversation)
    assert conversation.maybe_compact() is None
    assert kinds(found) == [events.START, events.ERROR]
    with pytest.raises(CompactionFailed, match="not be shorter"):
        conversation.force_compact()
    assert texts(conversation) == before


def test_a_second_concurrent_compaction_changes_nothing_and_raises(manager: Make) -> None:
    summarizer = Scripted()
    conversation = manager(limit=LIMIT, summarizer=summarizer).get_or_create("s1")
    fill(conversation, LIMIT)
    before = texts(conversation)
    summarizer.meanwhile = lambda: conversation.update_checkpoint(pending=["changed meanwhile"])
    with pytest.raises(CompactionFailed, match="come first"):
        conversation.force_compact()
    assert texts(conversation) == before
    assert conversation.checkpoint().pending == ("changed meanwhile",)


def test_messages_cleared_during_a_compaction_get_no_checkpoint(manager: Make) -> None:
    summarizer = Scripted()
    conversation = manager(limit=LIMIT, summarizer=summarizer).get_or_create("s1")
    fill(conversation, LIMIT)
    summarizer.meanwhile = conversation.clear_messages
    with pytest.raises(CompactionFailed, match="gone"):
        conversation.force_compact()
    assert conversation.checkpoints() == []


def test_a_leased_conversation_is_compacted_by_another_only_when_full(manager: Make) -> None:
    seen: list[Any] = []
    summarizer = Scripted()
    conversation = manager(limit=LIMIT, summarizer=summarizer).get_or_create("s1")

    def other() -> None:
        second = manager(limit=LIMIT).get_or_create("s1")
        seen.append(second.maybe_compact())
        fill(second, LIMIT + 100)
        seen.append(second.maybe_compact())

    summarizer.meanwhile = other
    fill(conversation, int(LIMIT * 0.9))
    assert conversation.maybe_compact() is None, "the other one came first"
    first, second = seen
    assert first is None
    assert second.made_by == "rules"
    assert conversation.metrics().compactions == 1


# Summarizers that fail


@pytest.mark.parametrize("reply", [
    RuntimeError("529 overloaded"), "", "I cannot help with that.", {"pending": 7}, {"x": 1},
])  # fmt: skip
def test_a_failing_summarizer_is_retried_before_rules_take_over(manager: Make, reply: Any) -> None:
    summarizer = Scripted(replies=[reply, reply])
    made = manager(limit=LIMIT, summarizer=summarizer)
    found = heard(made)
    conversation = made.get_or_create("s1")
    conversation.add_message("user", "Never push.")
    fill(conversation, LIMIT)
    done = conversation.maybe_compact()
    assert done is not None
    assert done.made_by == "rules"
    assert conversation.checkpoint().constraints == ("Never push.",)
    assert kinds(found) == [
        events.START, events.PROGRESS, events.ERROR, events.PROGRESS, events.ERROR, events.COMPLETE,
    ]  # fmt: skip
    assert summarizer.works[1].complaint == found[2].detail["error"] != ""


def test_a_successful_second_try_is_used(manager: Make) -> None:
    summarizer = Scripted(replies=["nothing", f"```json\n{json.dumps(GOOD)}\n```"])
    conversation = manager(limit=LIMIT, summarizer=summarizer).get_or_create("s1")
    fill(conversation, LIMIT)
    done = conversation.maybe_compact()
    assert done is not None
    assert done.made_by == "scripted"


def test_a_failing_store_causes_an_event_and_loses_no_message(
    manager: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = manager(limit=LIMIT)
    conversation = made.get_or_create("s1")
    fill(conversation, LIMIT)
    before = texts(conversation)
    found = heard(made)

    def fail(*args: Any, **kwargs: Any) -> int:
        raise OSError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr("holdfast.conversations.compaction._save", fail)
        assert conversation.maybe_compact() is None
        assert tokens(conversation.build_request()) <= LIMIT, "it fits all the same"
    assert kinds(found) == [events.START, events.ERROR] * 2
    assert texts(conversation) == before
    assert conversation.maybe_compact() is not None, "the lease was given back"


def test_a_failing_callback_does_not_disturb_the_conversation(manager: Make) -> None:
    made = manager(limit=LIMIT)

    def fail(event: Event) -> None:
        raise RuntimeError("not today")

    made.on(fail)
    stream = made.events()
    conversation = made.get_or_create("s1")
    fill(conversation, LIMIT)
    assert conversation.maybe_compact() is not None
    stream.close()
    assert [event.kind for event in stream] == [events.START, events.COMPLETE]
