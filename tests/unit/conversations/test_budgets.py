"""Requests fit the context window, and previews predict their size."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.conversations.budget import PRESETS, find_window
from holdfast.conversations.truncate import RequestTooLarge
from holdfast.errors import InvalidInput
from tests.unit.conversations.scripted_summarizer import LIMIT_TOKENS, fill

from .api_rules import assert_anthropic_accepts, assert_openai_accepts, count_tokens, get_text
from .conftest import Make


def test_the_documented_thresholds_are_presets(manager: Make) -> None:
    assert PRESETS["guide"].trigger == 90_000
    assert PRESETS["claude-code"].trigger == 167_000
    assert manager().budget.trigger == 90_000
    assert manager(preset="claude-code").budget.trigger == 167_000
    assert manager(limit=50_000).budget.trigger == 45_000
    with pytest.raises(InvalidInput, match="no preset"):
        manager(preset="unknown")


@pytest.mark.parametrize(("model", "model_info", "window"), [
    ("claude-sonnet-5", None, 200_000),
    ("gpt-4o-mini", None, 128_000),
    ("unknown-model", None, 100_000),
    ("claude-x", {"id": "claude-x", "max_input_tokens": 1_000_000}, 1_000_000),
    ("local", {"id": "local", "meta": {"n_ctx": 8192}}, 8192),
    ("router", {"context_length": 65_536}, 65_536),
    ("invalid-info", {"context_length": "much"}, 100_000),
])  # fmt: skip
def test_the_window_comes_from_the_model_info_or_from_the_table(
    model: str, model_info: Any, window: int
) -> None:
    assert find_window(model, model_info) == window


@pytest.mark.parametrize("options", [{"limit": 10}, {"threshold": 1.5}, {"threshold": -1}])
def test_an_invalid_budget_is_refused(manager: Make, options: Any) -> None:
    with pytest.raises(InvalidInput):
        manager(**options)


def test_a_preview_is_the_sum_of_its_parts_and_bounds_the_request(manager: Make) -> None:
    conversation = manager(limit=LIMIT_TOKENS).get_or_create("s1")
    conversation.set_agent_description("You are careful. " * 20)
    conversation.set_project_context("A mail queue. " * 30)
    fill(conversation, LIMIT_TOKENS // 2)
    conversation.update_checkpoint(pending=["rotate the keys"])
    preview = conversation.preview_request(user_prompt="What now? " * 10)
    parts = (
        preview.agent_description, preview.project_context, preview.checkpoint, preview.messages,
        preview.user_prompt,
    )  # fmt: skip
    assert all(part > 0 for part in parts)
    assert preview.total == sum(parts)
    assert preview.headroom == LIMIT_TOKENS * 0.9 - preview.total
    body = conversation.build_request(user_prompt="What now? " * 10)
    assert preview.total * 0.7 < count_tokens(body) <= preview.total


def test_a_preview_queries_no_messages(manager: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = manager()
    conversation = opened.get_or_create("s1")
    fill(conversation, LIMIT_TOKENS)
    query_names: list[str] = []
    run_query = opened._store.all

    def record_query(name: str, **values: Any) -> list[dict[str, Any]]:
        query_names.append(name)
        return run_query(name, **values)

    monkeypatch.setattr(opened._store, "all", record_query)
    conversation.preview_request()
    assert set(query_names) == {"conversation", "checkpoint"}


def test_a_user_prompt_of_a_request_is_sent_and_not_stored(manager: Make) -> None:
    conversation = manager().get_or_create("s1")
    assert "What now?" in get_text(conversation.build_request(user_prompt="What now?"))
    assert conversation.messages() == []


def test_a_message_larger_than_the_window_is_truncated_only_in_the_request(manager: Make) -> None:
    conversation = manager(limit=LIMIT_TOKENS).get_or_create("s1")
    conversation.add_message("user", "Never push. Read the log.")
    call = {"type": "tool_use", "id": "a", "name": "read", "input": {}}
    conversation.add_message("assistant", [call])
    conversation.add_message("tool", f"BEGIN {'x y z ' * 20_000} END", tool_call_id="a")
    for api, assert_accepted in (
        ("anthropic", assert_anthropic_accepts),
        ("openai", assert_openai_accepts),
    ):
        body = conversation.build_request(api)
        assert_accepted(body)
        assert count_tokens(body) <= LIMIT_TOKENS
        assert "characters left out; message 3 has them" in get_text(body)
        assert "Never push." in get_text(body)
    assert len(conversation.messages()[-1].results[0]["content"]) > 100_000


def test_a_request_that_cannot_fit_is_an_error(manager: Make) -> None:
    conversation = manager(limit=1000).get_or_create("s1")
    conversation.set_agent_description("word " * 5000)
    conversation.add_message("user", "go on with it, please " * 20)
    with pytest.raises(RequestTooLarge, match="tokens at least"):
        conversation.build_request()
