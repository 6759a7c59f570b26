"""What other processes can say of a conversation: its figures, checkpoints, events and costs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.conversations import events
from holdfast.conversations.manager import SessionManager
from holdfast.conversations.store import MAX_STORED_EVENTS, ConversationStore
from holdfast.conversations.summarizers import Price
from holdfast.errors import NotFound, StoreUnavailable
from holdfast.services import conversations as service
from tests.unit.conversations.scripted_summarizer import (
    LIMIT_TOKENS,
    ScriptedSummarizer,
    fill,
    record_events,
)

PRICE = Price(model="m", input=3.0, output=15.0, most_output=1000)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "holdfast.db"


@pytest.fixture
def store(path: Path) -> Iterator[ConversationStore]:
    with service.open_conversations(str(path)) as opened:
        yield opened


def find(store: ConversationStore, name: str) -> service.ConversationFigures:
    found = service.list_conversations(store, 100, time.time())
    return next(one for one in found if one.name == name)


def test_the_figures_are_those_of_the_agent_itself(path: Path, store: ConversationStore) -> None:
    with SessionManager(path, limit=LIMIT_TOKENS, model="claude-sonnet") as manager:
        conversation = manager.get_or_create("s1", "search")
        conversation.set_agent_description("You are careful. " * 20)
        conversation.set_project_context("A shop. " * 30)
        fill(conversation, LIMIT_TOKENS)
        conversation.force_compact()
        for tokens in (100, int(LIMIT_TOKENS * 0.83), LIMIT_TOKENS):
            fill(conversation, tokens)
            preview, status, metrics = (
                conversation.preview_request(), conversation.status(), conversation.metrics(),
            )  # fmt: skip
            found = find(store, "s1/search")
            assert (found.tokens.total, found.limit, found.trigger, found.level) == (
                preview.total, status.limit, status.trigger, status.level,
            )  # fmt: skip
            assert (found.tokens.agent_description, found.tokens.checkpoint) == (
                preview.agent_description, preview.checkpoint,
            )  # fmt: skip
            assert (found.compactions, found.checkpoint_version, found.tokens_reclaimed) == (
                metrics.compactions, metrics.checkpoint_version, metrics.tokens_reclaimed,
            )  # fmt: skip
            assert found.percent == pytest.approx(100 * status.share)
            assert found.tokens_left == max(0, preview.headroom)


def test_a_conversation_without_messages_has_no_known_limit(
    path: Path, store: ConversationStore
) -> None:
    with SessionManager(path) as manager:
        manager.get_or_create("s1")
    found = find(store, "s1")
    assert (found.limit, found.percent, found.tokens_left, found.level) == (None, None, None, "ok")


def test_reading_with_another_limit_does_not_change_the_limit(
    path: Path, store: ConversationStore
) -> None:
    with SessionManager(path, limit=50_000) as manager:
        manager.get_or_create("s1").add_message("user", "hello")
    with SessionManager(path, limit=2_000) as reader:
        reader.get("s1").status()
    assert find(store, "s1").limit == 50_000


def test_pages_list_every_conversation_once_and_the_latest_first(
    path: Path, store: ConversationStore
) -> None:
    with SessionManager(path) as manager:
        for number in range(7):
            manager.get_or_create(f"s{number}").add_message("user", "hello")
        manager.get_or_create("s3").archive()
    names: list[str] = []
    before = None
    while page := service.list_conversations(store, 3, 1.0, before):
        names += [one.name for one in page]
        before = (page[-1].updated_at, page[-1].id)
    assert names == [f"s{number}" for number in reversed(range(7))]
    assert find(store, "s3").archived_at


def test_versions_of_a_checkpoint_are_listed_and_read(path: Path, store: ConversationStore) -> None:
    with SessionManager(path) as manager:
        conversation = manager.get_or_create("s1")
        for number in range(1, 5):
            conversation.update_checkpoint(completed=[f"step {number}"])
    ident = find(store, "s1").id
    assert [one.version for one in service.list_versions(store, ident, 3)] == [4, 3, 2]
    assert [one.version for one in service.list_versions(store, ident, 3, before=2)] == [1]
    assert service.get_checkpoint(store, ident, 2).completed == ("step 2",)
    with pytest.raises(NotFound):
        service.get_checkpoint(store, ident, 9)
    with pytest.raises(NotFound, match="No conversation nothing"):
        service.get_conversation(store, "nothing", 1.0)


def test_a_damaged_checkpoint_is_shown_as_empty(path: Path, store: ConversationStore) -> None:
    with SessionManager(path) as manager:
        manager.get_or_create("s1").update_checkpoint(pending=["x"])
    ident = find(store, "s1").id
    store._connection.execute("UPDATE conversation_checkpoints SET content = '[1'")
    assert not service.get_checkpoint(store, ident, 1)


def test_events_are_stored_for_other_processes_without_secrets(
    path: Path, store: ConversationStore
) -> None:
    secret = "sk-ant-api03-" + "aB3dE6gH9" * 10
    broken = ScriptedSummarizer(replies=[RuntimeError(f"key {secret} refused")] * 2)
    with SessionManager(path, limit=LIMIT_TOKENS, summarizer=broken) as manager:
        conversation = manager.get_or_create("s1")
        fill(conversation, LIMIT_TOKENS)
        conversation.force_compact()
    found = service.list_events(store, find(store, "s1").id, 100)
    assert [event.kind for event in reversed(found)] == [
        events.START, events.PROGRESS, events.ERROR, events.PROGRESS, events.ERROR, events.COMPLETE,
    ]  # fmt: skip
    assert found[0].detail["checkpoint_version"] == 1
    assert secret not in str(found)
    assert "refused" in str(found)


def test_only_the_latest_events_are_kept(path: Path, store: ConversationStore) -> None:
    with SessionManager(path) as manager:
        manager.get_or_create("s1")
    ident = find(store, "s1").id
    for number in range(MAX_STORED_EVENTS + 5):
        store.add_event(ident, "limit-warning", {"tokens": number})
    found = service.list_events(store, ident, 1000)
    assert len(found) == MAX_STORED_EVENTS
    assert found[0].detail == {"tokens": MAX_STORED_EVENTS + 4}


def test_an_event_that_cannot_be_stored_still_reaches_listeners(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise StoreUnavailable("disk full")

    monkeypatch.setattr(ConversationStore, "add_event", refuse)
    with SessionManager(path, limit=LIMIT_TOKENS) as manager:
        recorded = record_events(manager)
        conversation = manager.get_or_create("s1")
        fill(conversation, LIMIT_TOKENS)
        conversation.build_request()
    assert [event.kind for event in recorded][-1] == events.COMPLETE


def test_the_costs_of_a_conversation_are_its_own(path: Path, store: ConversationStore) -> None:
    with SessionManager(
        path, limit=LIMIT_TOKENS, summarizer=ScriptedSummarizer(cost=PRICE)
    ) as manager:
        for name in ("s1", "s2"):
            conversation = manager.get_or_create(name)
            fill(conversation, LIMIT_TOKENS)
            conversation.force_compact()
    found = find(store, "s1")
    (expense,) = service.list_expenses_of(store, found, 10)
    assert (expense.session, expense.calls, expense.input_tokens) == ("s1", 1, 1000)
    assert found.dollars == pytest.approx(expense.dollars)
    assert expense.dollars > 0
    assert [one.session for one in service.list_expenses(store)] == ["s1", "s2"]


def test_a_running_compaction_is_visible_until_its_lease_ends(
    path: Path, store: ConversationStore
) -> None:
    seen = []
    summarizer = ScriptedSummarizer(during_call=lambda: seen.append(find(store, "s1")))
    with SessionManager(path, limit=LIMIT_TOKENS, summarizer=summarizer) as manager:
        conversation = manager.get_or_create("s1")
        fill(conversation, LIMIT_TOKENS)
        conversation.force_compact()
    assert [one.is_compacting for one in seen] == [True]
    assert not find(store, "s1").is_compacting
