"""Checkpoint versions, cost of summaries, metrics and export."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import holdfast
from holdfast.conversations import events
from holdfast.conversations.summarizers import Price
from holdfast.errors import InvalidInput
from tests.unit.conversations.scripted import GOOD, LIMIT, Scripted, fill, heard, kinds

from .api_rules import told
from .conftest import Make


def test_every_version_of_the_checkpoint_can_be_read(manager: Make) -> None:
    conversation = manager(limit=LIMIT).get_or_create("s1")
    assert not conversation.checkpoint()
    assert conversation.update_checkpoint(pending=["a"], constraints=["Never push."]) == 1
    assert conversation.update_checkpoint(pending=["b"]) == 2
    assert conversation.checkpoint(1).pending == ("a",)
    assert conversation.checkpoint().pending == ("b",)
    assert conversation.checkpoint().constraints == ("Never push.",)
    assert [row["made_by"] for row in conversation.checkpoints()] == ["caller", "caller"]
    assert "Never push." in told(conversation.build_request(user_prompt="hi"))


def test_only_lists_that_a_checkpoint_has_can_be_replaced(manager: Make) -> None:
    conversation = manager().get_or_create("s1")
    with pytest.raises(InvalidInput, match="no field 'wishes'"):
        conversation.update_checkpoint(wishes=["a pony"])
    assert conversation.checkpoints() == []
    conversation.update_checkpoint(inProgress=["a"])
    assert conversation.checkpoint().in_progress == ("a",)


PRICE = Price(model="m", input=10.0, output=50.0, most_output=1000)


def test_the_cost_of_a_summary_is_recorded(manager: Make) -> None:
    summarizer = Scripted(cost=PRICE)
    conversation = manager(limit=LIMIT, summarizer=summarizer).get_or_create("s1", "auth")
    fill(conversation, LIMIT)
    conversation.force_compact()
    # 1000 tokens in at 10 dollars a million and 100 out at 50.
    assert conversation.metrics().dollars == pytest.approx(0.015)


@pytest.mark.parametrize("ceiling", [{"per_session": 0.05}, {"per_day": 0.05}])
def test_above_the_ceiling_no_call_is_made_and_rules_take_over(
    manager: Make, ceiling: dict[str, float]
) -> None:
    summarizer = Scripted(cost=PRICE)
    spend = holdfast.Ceiling(**{"per_session": None, "per_day": None, **ceiling})
    made = manager(limit=LIMIT, summarizer=summarizer, spend=spend)
    found = heard(made)
    conversation = made.get_or_create("s1")
    by = []
    for _ in range(3):
        fill(conversation, LIMIT)
        by.append(conversation.force_compact().made_by)
    # One call may cost 0.09 dollars at most, so after 0.015 the next would be too much.
    assert by == ["rules"] * 3
    assert summarizer.works == []
    assert kinds(found).count(events.SPEND_REFUSED) == 3
    assert conversation.metrics().dollars == 0


def test_a_failed_call_is_charged_for_its_tokens(manager: Make) -> None:
    summarizer = Scripted(cost=PRICE, replies=[RuntimeError("cut"), GOOD])
    conversation = manager(limit=LIMIT, summarizer=summarizer).get_or_create("s1")
    fill(conversation, LIMIT)
    conversation.force_compact()
    assert conversation.metrics().dollars == pytest.approx(0.015)


def test_metrics_and_export_are_complete(manager: Make) -> None:
    conversation = manager(limit=LIMIT, keep_recent=4).get_or_create("s1", "auth")
    fill(conversation, LIMIT)
    done = conversation.force_compact()
    metrics = conversation.metrics()
    assert (metrics.compactions, metrics.live_messages) == (1, 4)
    assert metrics.messages == metrics.messages_compacted + 4
    assert metrics.tokens_reclaimed == done.tokens_reclaimed
    exported = json.loads(json.dumps(conversation.export()))
    assert len(exported["messages"]) == metrics.messages
    assert exported["checkpoints"][0]["content"] == conversation.checkpoint().as_dict()
    assert exported["metrics"]["compactions"] == 1


def test_secrets_are_never_written_to_disk(manager: Make, tmp_path: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    conversation = manager(limit=LIMIT).get_or_create("s1")
    conversation.set_agent_description(f"Your key is {token}.")
    conversation.set_project_context(f"The key is {token}.")
    conversation.add_message("user", f"Never print {token}.")
    conversation.update_checkpoint(pending=[f"rotate {token}"])
    raw = b"".join(file.read_bytes() for file in (tmp_path / "home").iterdir())
    assert b"[redacted:" in raw
    assert token.encode() not in raw


def test_the_public_names_exist_and_hooks_do_not_import_them() -> None:
    for name in holdfast.__all__:
        assert getattr(holdfast, name)
    with pytest.raises(AttributeError, match="nothing_like_it"):
        _ = holdfast.nothing_like_it
