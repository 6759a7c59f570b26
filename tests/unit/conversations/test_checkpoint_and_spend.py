"""Checkpoint versions, costs of summaries, metrics and export."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import holdfast
from holdfast.conversations import events
from holdfast.conversations.summarizers import Price
from holdfast.errors import InvalidInput
from tests.unit.conversations.scripted_summarizer import (
    LIMIT_TOKENS,
    VALID_CHECKPOINT,
    ScriptedSummarizer,
    event_kinds,
    fill,
    record_events,
)

from .api_rules import get_text
from .conftest import Make


def test_every_version_of_the_checkpoint_can_be_read(manager: Make) -> None:
    conversation = manager(limit=LIMIT_TOKENS).get_or_create("s1")
    assert not conversation.checkpoint()
    assert conversation.update_checkpoint(pending=["a"], constraints=["Never push."]) == 1
    assert conversation.update_checkpoint(pending=["b"]) == 2
    assert conversation.checkpoint(1).pending == ("a",)
    assert conversation.checkpoint().pending == ("b",)
    assert conversation.checkpoint().constraints == ("Never push.",)
    assert [row["made_by"] for row in conversation.checkpoints()] == ["caller", "caller"]
    assert "Never push." in get_text(conversation.build_request(user_prompt="hi"))


def test_updating_an_unknown_field_is_refused(manager: Make) -> None:
    conversation = manager().get_or_create("s1")
    with pytest.raises(InvalidInput, match="no field 'wishes'"):
        conversation.update_checkpoint(wishes=["a pony"])
    assert conversation.checkpoints() == []
    conversation.update_checkpoint(inProgress=["a"])
    assert conversation.checkpoint().in_progress == ("a",)


PRICE = Price(model="m", input=10.0, output=50.0, most_output=1000)


def test_the_cost_of_a_summary_is_recorded(manager: Make) -> None:
    summarizer = ScriptedSummarizer(cost=PRICE)
    conversation = manager(limit=LIMIT_TOKENS, summarizer=summarizer).get_or_create("s1", "auth")
    fill(conversation, LIMIT_TOKENS)
    conversation.force_compact()
    # 1000 input tokens at 10 dollars per million, and 100 output tokens at 50.
    assert conversation.metrics().dollars == pytest.approx(0.015)


@pytest.mark.parametrize("limits", [{"per_session": 0.05}, {"per_day": 0.05}])
def test_above_the_cost_limit_no_model_is_called_and_rules_summarize(
    manager: Make, limits: dict[str, float]
) -> None:
    summarizer = ScriptedSummarizer(cost=PRICE)
    spend = holdfast.Ceiling(**{"per_session": None, "per_day": None, **limits})
    opened = manager(limit=LIMIT_TOKENS, summarizer=summarizer, spend=spend)
    recorded = record_events(opened)
    conversation = opened.get_or_create("s1")
    made_by = []
    for _ in range(3):
        fill(conversation, LIMIT_TOKENS)
        made_by.append(conversation.force_compact().made_by)
    # A call may cost up to 0.09 dollars, which is above the limit of 0.05.
    assert made_by == ["rules"] * 3
    assert summarizer.requests == []
    assert event_kinds(recorded).count(events.SPEND_REFUSED) == 3
    assert conversation.metrics().dollars == 0


def test_a_failed_call_costs_nothing_and_its_retry_is_recorded(manager: Make) -> None:
    summarizer = ScriptedSummarizer(
        cost=PRICE, replies=[RuntimeError("connection lost"), VALID_CHECKPOINT]
    )
    conversation = manager(limit=LIMIT_TOKENS, summarizer=summarizer).get_or_create("s1")
    fill(conversation, LIMIT_TOKENS)
    conversation.force_compact()
    assert conversation.metrics().dollars == pytest.approx(0.015)


def test_metrics_and_export_include_compacted_messages(manager: Make) -> None:
    conversation = manager(limit=LIMIT_TOKENS, keep_recent=4).get_or_create("s1", "auth")
    fill(conversation, LIMIT_TOKENS)
    compaction = conversation.force_compact()
    metrics = conversation.metrics()
    assert (metrics.compactions, metrics.live_messages) == (1, 4)
    assert metrics.messages == metrics.messages_compacted + 4
    assert metrics.tokens_reclaimed == compaction.tokens_reclaimed
    exported = json.loads(json.dumps(conversation.export()))
    assert len(exported["messages"]) == metrics.messages
    assert exported["checkpoints"][0]["content"] == conversation.checkpoint().as_dict()
    assert exported["metrics"]["compactions"] == 1


def test_secrets_are_never_written_to_disk(manager: Make, tmp_path: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    conversation = manager(limit=LIMIT_TOKENS).get_or_create("s1")
    conversation.set_agent_description(f"Your key is {token}.")
    conversation.set_project_context(f"The key is {token}.")
    conversation.add_message("user", f"Never print {token}.")
    conversation.update_checkpoint(pending=[f"rotate {token}"])
    raw = b"".join(file.read_bytes() for file in (tmp_path / "home").iterdir())
    assert b"[redacted:" in raw
    assert token.encode() not in raw


def test_the_public_names_exist_and_unknown_ones_raise() -> None:
    for name in holdfast.__all__:
        assert getattr(holdfast, name)
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = holdfast.no_such_name
