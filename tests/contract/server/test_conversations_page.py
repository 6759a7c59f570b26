"""The pages of conversations: figures, checkpoint versions, events and spend, safe to show."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.conversations.manager import SessionManager
from holdfast.conversations.summarizers import Price
from holdfast.errors import Forbidden
from holdfast.server.databases import Databases
from holdfast.server.project_scope import ProjectDatabases
from holdfast.server.web import conversations as page
from tests.contract.server.conftest import ApiClient
from tests.contract.server.test_work_page import (
    HOSTILE,
    LONG_TEXT,
    MAX_PAGE_BYTES,
    find_next,
    get_page,
)
from tests.unit.conversations.scripted_summarizer import LIMIT_TOKENS, ScriptedSummarizer, fill

PRICE = Price(model="small-model", input=1.0, output=5.0, most_output=1000)


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[SessionManager]:
    """A manager on the store file of the server."""
    summarizer = ScriptedSummarizer(cost=PRICE, replies=[{"completed": ["Read the tickets"]}])
    with SessionManager(
        tmp_path / "holdfast.db", limit=LIMIT_TOKENS, model="claude-x", summarizer=summarizer
    ) as opened:
        yield opened


def find_links(text: str) -> list[str]:
    return re.findall(r'<a href="(/conversations/[0-9a-f]+)"', text)


def test_a_conversation_is_shown_with_its_figures(
    sqlite_api: ApiClient, manager: SessionManager
) -> None:
    conversation = manager.get_or_create("support", "triage")
    conversation.set_agent_description("You sort tickets. " * 5)
    fill(conversation, LIMIT_TOKENS)
    conversation.build_request()
    conversation.update_checkpoint(completed=["Read the tickets"], blockers=["No export"])
    fill(conversation, int(LIMIT_TOKENS * 0.85))
    text = get_page(sqlite_api, "/conversations")
    assert "nearly full" in text
    (link,) = find_links(text)
    text = get_page(sqlite_api, link)
    preview = conversation.preview_request()
    for part in (
        "support/triage", "claude-x", "checkpoint 2", "1 compaction", "No export",
        f"agent description {preview.agent_description}", f"{preview.total:,} tokens, estimated",
        "small-model", "tokens reclaimed",
    ):  # fmt: skip
        assert part in text, part
    first = get_page(sqlite_api, f"{link}?version=1")
    assert "No export" not in first
    assert "Read the tickets" in first
    assert "by scripted from" in first
    get_page(sqlite_api, f"{link}?version=9", 404)
    get_page(sqlite_api, "/conversations/unknown", 404)


def test_pages_list_every_conversation(sqlite_api: ApiClient, manager: SessionManager) -> None:
    assert "SessionManager()" in get_page(sqlite_api, "/conversations")
    for number in range(page.PAGE_SIZE + 3):
        manager.get_or_create(f"c{number}").add_message("user", "hello")
    links: list[str] = []
    path = "/conversations"
    while path:
        text = get_page(sqlite_api, path)
        links += find_links(text)
        path = find_next(text)
    assert len(links) == len(set(links)) == page.PAGE_SIZE + 3


@pytest.mark.parametrize("text", [HOSTILE, LONG_TEXT], ids=["hostile", "long"])
def test_hostile_text_in_any_field_is_shown_as_text(
    sqlite_api: ApiClient, manager: SessionManager, text: str
) -> None:
    conversation = manager.get_or_create(text, text)
    conversation.set_agent_description(text)
    conversation.add_message("user", text)
    lists = ("completed", "in_progress", "pending", "blockers", "decisions", "constraints")
    conversation.update_checkpoint(**{name: [f"{name} {text}"] for name in lists})
    conversation._emit("compaction-error", {"error": text, "attempt": text})
    conversation._emit(text, {text: text})
    index = get_page(sqlite_api, "/conversations")
    (link,) = find_links(index)
    for shown in (index, get_page(sqlite_api, link)):
        assert "<script>alert" not in shown
        assert not set("\x1b\u202e\u2066\u200b") & set(shown)
        assert len(shown) < MAX_PAGE_BYTES
        if text is HOSTILE:
            assert "&lt;script&gt;alert(1)" in shown


def test_databases_of_one_project_have_no_conversations(databases: Databases) -> None:
    with pytest.raises(Forbidden, match="token for all projects"):
        ProjectDatabases(databases, "p1").open_conversations()


def test_a_server_of_a_team_says_where_conversations_are(api: ApiClient) -> None:
    response = api.client.get("/conversations")
    if type(api.databases).__name__ == "LocalDatabases":
        assert response.status_code == 200
    else:
        assert response.status_code == 404
        assert "stay on the machine of their agent" in response.text
