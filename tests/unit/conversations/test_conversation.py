"""Storing and reading messages of a conversation."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

import holdfast
from holdfast import processes
from holdfast.errors import BadSetting, InvalidInput
from holdfast.store import salvage
from tests.unit.conversations.scripted_summarizer import LIMIT_TOKENS, fill, message_texts

from .conftest import Make


def test_a_conversation_is_found_again_by_session_and_feature(manager: Make) -> None:
    manager().get_or_create("s1", "auth").add_message("user", "hello")
    reopened = manager()
    assert message_texts(reopened.get_or_create("s1", "auth")) == ["hello"]
    for session, feature in [("s1", ""), ("s1", "aut"), ("s10", "auth"), ("S1", "auth")]:
        assert message_texts(reopened.get_or_create(session, feature)) == []
    assert ("s1", "auth") in reopened.sessions()


def test_a_message_is_read_as_it_was_added(manager: Make) -> None:
    conversation = manager().get_or_create("s1")
    block = {
        "type": "tool_use",
        "id": "a",
        "name": "search",
        "input": {"größe": [1, None, "\ud83d"]},
    }
    assert conversation.add_message("assistant", [block, "lone \ud83d surrogate"]) == 1
    (message,) = conversation.messages()
    assert message.blocks == (block, {"type": "text", "text": "lone \ud83d surrogate"})


def test_twenty_threads_can_add_messages_concurrently(manager: Make) -> None:
    conversation = manager().get_or_create("s1")
    barrier = threading.Barrier(20)

    def add(number: int) -> None:
        barrier.wait()
        conversation.add_message("user", f"from {number}")

    threads = [threading.Thread(target=add, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(message_texts(conversation)) == sorted(f"from {number}" for number in range(20))
    assert [message.ordinal for message in conversation.messages()] == list(range(1, 21))


def test_an_archived_conversation_can_be_read_but_not_added_to(manager: Make) -> None:
    opened = manager()
    conversation = opened.get_or_create("s1")
    conversation.add_message("user", "hello")
    conversation.archive()
    assert opened.sessions() == []
    with pytest.raises(InvalidInput, match="archived"):
        conversation.add_message("user", "one more")
    assert message_texts(conversation) == ["hello"]
    conversation.reopen()
    assert conversation.add_message("user", "one more") == 2


def test_clearing_deletes_live_messages_and_keeps_the_checkpoint(manager: Make) -> None:
    conversation = manager(limit=LIMIT_TOKENS).get_or_create("s1")
    fill(conversation, LIMIT_TOKENS)
    conversation.force_compact()
    remaining = len(conversation.messages())
    assert conversation.clear_messages() == remaining
    assert conversation.preview_request().messages == 0
    assert conversation.checkpoint()
    assert conversation.add_message("user", "new start") == conversation.metrics().messages


def test_a_store_file_given_by_path_leaves_its_folder_unchanged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    with holdfast.SessionManager("agent.db") as opened:
        opened.get_or_create("s1").add_message("user", "hello")
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755
    assert stat.S_IMODE((tmp_path / "agent.db").stat().st_mode) == 0o600


@pytest.mark.parametrize("kind", [str, Path])
def test_a_postgresql_url_is_refused_as_a_store(
    kind: type[str] | type[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadSetting, match="not in PostgreSQL") as caught:
        holdfast.SessionManager(kind("postgresql://ada:hunter2@db.example.org/team"))
    assert "hunter2" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_conversation_continues_in_the_file_that_replaced_a_damaged_one(
    manager: Make, tmp_path: Path
) -> None:
    conversation = manager().get_or_create("s1")
    conversation.add_message("user", "one")
    path = str(tmp_path / "home" / "holdfast.db")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(processes, "start_process", lambda *_: 0)
        salvage.begin(path, os.stat(path).st_ino, "store", "malformed")
    conversation.add_message("user", "two")
    assert message_texts(manager().get_or_create("s1")) == ["one", "two"]
    salvage.OPEN_CONNECTIONS.pop().close()
