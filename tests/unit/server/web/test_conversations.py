"""How the page of a conversation words its warnings, events and checkpoint versions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.conversations.manager import SessionManager
from holdfast.conversations.store import ConversationStore
from holdfast.errors import NotFound
from holdfast.server.web import conversations
from holdfast.services import conversations as service
from tests.unit.conversations.scripted_summarizer import LIMIT_TOKENS, fill


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[SessionManager]:
    with SessionManager(tmp_path / "holdfast.db", limit=LIMIT_TOKENS) as opened:
        yield opened


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ConversationStore]:
    with service.open_conversations(str(tmp_path / "holdfast.db")) as opened:
        yield opened


def find(store: ConversationStore) -> service.ConversationFigures:
    return service.list_conversations(store, 1, 1.0)[0]


def test_a_warning_is_shown_only_near_the_limit(
    manager: SessionManager, store: ConversationStore
) -> None:
    conversation = manager.get_or_create("s1")
    shown = []
    for tokens in (100, int(LIMIT_TOKENS * 0.82), LIMIT_TOKENS):
        fill(conversation, tokens)
        shown.append(conversations.describe_warning(find(store)))
    assert shown[0] == ""
    assert shown[1].startswith("nearly full: compacted after ")
    assert shown[2] == "the next request compacts it"


def test_the_gauge_has_all_tokens_of_the_next_request(
    manager: SessionManager, store: ConversationStore
) -> None:
    conversation = manager.get_or_create("s1")
    conversation.set_agent_description("careful " * 10)
    conversation.set_project_context("a shop " * 10)
    conversation.update_checkpoint(pending=["x"])
    conversation.add_message("user", "hello")
    parts = conversations.to_parts(find(store))
    assert sum(tokens for _, tokens in parts) == conversation.preview_request().total
    assert all(tokens > 0 for _, tokens in parts)


def test_a_checkpoint_marks_what_is_new_in_its_version(
    manager: SessionManager, store: ConversationStore
) -> None:
    conversation = manager.get_or_create("s1")
    assert conversations.load_checkpoint(store, find(store), None) is None
    conversation.update_checkpoint(pending=["a", "b"])
    conversation.update_checkpoint(pending=["b"], completed=["a"])
    first = conversations.load_checkpoint(store, find(store), 1)
    newest = conversations.load_checkpoint(store, find(store), None)
    assert first is not None
    assert newest is not None
    assert dict(first.lists)["Pending"] == [("a", False), ("b", False)]
    assert dict(newest.lists)["Pending"] == [("b", False)]
    assert dict(newest.lists)["Completed"] == [("a", True)]
    with pytest.raises(NotFound):
        conversations.load_checkpoint(store, find(store), 7)


def test_every_version_is_listed_near_itself(
    manager: SessionManager, store: ConversationStore
) -> None:
    conversation = manager.get_or_create("s1")
    for number in range(30):
        conversation.update_checkpoint(pending=[f"step {number}"])
    for version in (1, 15, 29, 30):
        view = conversations.load_checkpoint(store, find(store), version)
        assert view is not None
        assert version in [one.version for one in view.versions]
        assert len(view.versions) <= conversations.SHOWN_VERSIONS


def test_events_are_worded_and_unknown_ones_are_listed_as_they_are() -> None:
    describe = conversations.describe_event
    assert describe("compaction-progress", {"attempt": 2, "summarizer": "m"}) == "attempt 2 with m"
    assert describe("limit-warning", {"tokens": 9000, "limit": 10000, "headroom": 0}) == (
        "9,000 of 10,000 tokens · left until a compaction: 0"
    )
    assert describe("compaction-error", {"error": "{no} braces"}) == "{no} braces"
    assert describe("new-kind", {"a": 1, "b{}": "x"}) == "a 1 b{} x"
    assert describe("new-kind", {}) == ""
