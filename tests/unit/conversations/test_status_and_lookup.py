"""A conversation warns before its window is full, and an unknown conversation is an error."""

from __future__ import annotations

import pytest

from holdfast.conversations import events
from holdfast.errors import InvalidInput, NotFound
from tests.unit.conversations.scripted_summarizer import (
    LIMIT_TOKENS,
    event_kinds,
    fill,
    record_events,
)

from .conftest import Make

# 90 % of the threshold, which is 90 % of the window.
WARNING_TOKENS = int(LIMIT_TOKENS * 0.81)


def test_the_status_says_how_full_the_window_is(manager: Make) -> None:
    conversation = manager(limit=LIMIT_TOKENS).get_or_create("s1")
    assert conversation.status().level == "ok"
    fill(conversation, WARNING_TOKENS)
    status = conversation.status()
    assert status.level == "warning"
    assert (status.limit, status.trigger) == (LIMIT_TOKENS, int(LIMIT_TOKENS * 0.9))
    assert status.tokens == conversation.preview_request().total
    assert status.share == pytest.approx(status.tokens / LIMIT_TOKENS)
    assert "nearly full" in status.message
    fill(conversation, LIMIT_TOKENS)
    assert conversation.status().level == "full"
    conversation.force_compact()
    status = conversation.status()
    assert (status.level, status.compactions, status.checkpoint_version) == ("ok", 1, 1)


def test_the_prompt_of_the_next_request_counts_in_the_status(manager: Make) -> None:
    conversation = manager(limit=LIMIT_TOKENS).get_or_create("s1")
    assert conversation.status(user_prompt="word " * LIMIT_TOKENS).level == "full"


def test_a_warning_is_emitted_once_and_again_after_a_compaction(manager: Make) -> None:
    opened = manager(limit=LIMIT_TOKENS)
    recorded = record_events(opened)
    conversation = opened.get_or_create("s1")
    fill(conversation, WARNING_TOKENS)
    for _ in range(3):
        conversation.build_request()
        opened.get_or_create("s1").build_request()
    assert event_kinds(recorded) == [events.LIMIT_WARNING]
    detail = recorded[0].detail
    assert detail["level"] == "warning"
    assert detail["tokens"] + detail["headroom"] == detail["trigger"]
    fill(conversation, LIMIT_TOKENS)
    conversation.build_request()
    conversation.build_request()
    fill(conversation, WARNING_TOKENS)
    conversation.build_request()
    assert event_kinds(recorded) == [
        events.LIMIT_WARNING, events.START, events.COMPLETE, events.LIMIT_WARNING,
    ]  # fmt: skip


def test_a_full_window_that_cannot_be_compacted_is_a_warning_too(manager: Make) -> None:
    opened = manager(limit=LIMIT_TOKENS)
    recorded = record_events(opened)
    conversation = opened.get_or_create("s1")
    conversation.add_message("user", "word " * LIMIT_TOKENS)
    conversation.build_request()
    assert [event.detail["level"] for event in recorded] == ["full"]


def test_the_share_at_which_to_warn_can_be_set(manager: Make) -> None:
    conversation = manager(limit=LIMIT_TOKENS, warning=0.5).get_or_create("s1")
    fill(conversation, LIMIT_TOKENS // 2)
    assert conversation.status().level == "warning"
    with pytest.raises(InvalidInput, match="warning must be between 0 and 1"):
        manager(warning=1.5)


def test_a_conversation_that_exists_can_be_looked_up_also_when_archived(manager: Make) -> None:
    opened = manager()
    opened.get_or_create("s1", "auth").add_message("user", "hello")
    opened.get_or_create("s1", "auth").archive()
    assert opened.get("s1", "auth").messages()[0].text == "hello"


def test_an_unknown_session_is_an_error_that_names_similar_ones(manager: Make) -> None:
    opened = manager()
    with pytest.raises(NotFound, match="There is no session 'billing-1'") as caught:
        opened.get("billing-1")
    assert "the store is empty" in caught.value.hint
    for session in ("billing-11", "login"):
        opened.get_or_create(session)
    with pytest.raises(NotFound) as caught:
        opened.get("billing-1")
    assert caught.value.hint == "there are: 'billing-11'; `get_or_create` makes a new one"
    assert len(opened.sessions()) == 2, "a failed lookup creates nothing"


def test_an_unknown_feature_is_an_error_that_names_the_features(manager: Make) -> None:
    opened = manager()
    opened.get_or_create("s1", "auth")
    with pytest.raises(NotFound, match="Session 's1' does not have the feature 'aut'") as caught:
        opened.get("s1", "aut")
    assert caught.value.hint == "its features are: 'auth'"
    with pytest.raises(NotFound, match="does not have a conversation without a feature"):
        opened.get("s1")
