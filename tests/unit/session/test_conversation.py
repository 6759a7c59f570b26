"""A conversation: nothing said is lost, and no request is larger than its window."""

from __future__ import annotations

import json
import stat
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.errors import BadSetting, BadUsage, CompactionFailed, NothingToCompact
from holdfast.session import events
from holdfast.session.budget import PRESETS, window_of
from holdfast.session.conversation import Conversation
from holdfast.session.events import Event
from holdfast.session.fit import RequestTooLarge
from holdfast.session.summarizers import Price, Reply, Usage, Work

from .api_rules import assert_anthropic_accepts, assert_openai_accepts, tokens, told
from .conftest import Make

GOOD = {"completed": ["the summary"], "in_progress": [], "pending": []}
LIMIT = 4000


@dataclass
class Scripted:
    """A summarizer that says what it is told to say, and may do something meanwhile."""

    replies: list[Any] = field(default_factory=list)
    meanwhile: Any = None
    cost: Price | None = None
    name: str = "scripted"
    works: list[Work] = field(default_factory=list)

    def summarize(self, work: Work) -> Reply:
        self.works.append(work)
        if self.meanwhile:
            self.meanwhile()
        reply = self.replies.pop(0) if self.replies else GOOD
        if isinstance(reply, Exception):
            raise reply
        usage = Usage(model="m", input_tokens=1000, output_tokens=100)
        return reply if isinstance(reply, Reply) else Reply(content=reply, usage=usage)

    def price(self) -> Price | None:
        return self.cost


def fill(conversation: Conversation, tokens: int, word: str = "filler") -> None:
    while conversation.preview_request().total < tokens:
        conversation.add_message("user", f"{word} " * 30)
        conversation.add_message("assistant", "noted " * 30)


def texts(conversation: Conversation) -> list[str]:
    return [message.text for message in conversation.messages()]


def heard(manager: holdfast.SessionManager) -> list[Event]:
    found: list[Event] = []
    manager.on(found.append)
    return found


def kinds(found: list[Event]) -> list[str]:
    return [event.kind for event in found]


# Messages


def test_a_conversation_is_found_again_by_session_and_feature(manager: Make) -> None:
    manager().get_or_create("s1", "auth").add_message("user", "hello")
    again = manager()
    assert texts(again.get_or_create("s1", "auth")) == ["hello"]
    for session, feature in [("s1", ""), ("s1", "aut"), ("s10", "auth"), ("S1", "auth")]:
        assert texts(again.get_or_create(session, feature)) == []
    assert ("s1", "auth") in again.sessions()


def test_a_message_comes_back_as_it_was_added(manager: Make) -> None:
    conversation = manager().get_or_create("s1")
    block = {"type": "tool_use", "id": "a", "name": "look", "input": {"größe": [1, None, "\ud83d"]}}
    assert conversation.add_message("assistant", [block, "half \ud83d a pair"]) == 1
    (message,) = conversation.messages()
    assert message.blocks == (block, {"type": "text", "text": "half \ud83d a pair"})


def test_twenty_threads_that_add_at_once_lose_nothing(manager: Make) -> None:
    conversation = manager().get_or_create("s1")
    line = threading.Barrier(20)

    def add(number: int) -> None:
        line.wait()
        conversation.add_message("user", f"from {number}")

    threads = [threading.Thread(target=add, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(texts(conversation)) == sorted(f"from {number}" for number in range(20))
    assert [message.ordinal for message in conversation.messages()] == list(range(1, 21))


def test_an_archived_conversation_can_be_read_but_not_added_to(manager: Make) -> None:
    made = manager()
    conversation = made.get_or_create("s1")
    conversation.add_message("user", "hello")
    conversation.archive()
    assert made.sessions() == []
    with pytest.raises(BadUsage, match="archived"):
        conversation.add_message("user", "one more")
    assert texts(conversation) == ["hello"]
    conversation.reopen()
    assert conversation.add_message("user", "one more") == 2


def test_clearing_deletes_what_is_in_no_checkpoint_yet(manager: Make) -> None:
    conversation = manager(limit=LIMIT).get_or_create("s1")
    fill(conversation, LIMIT)
    conversation.force_compact()
    left = len(conversation.messages())
    assert conversation.clear_messages() == left
    assert conversation.preview_request().messages == 0
    assert conversation.checkpoint()
    assert conversation.add_message("user", "afresh") == conversation.metrics().messages


def test_a_store_of_ones_own_leaves_its_folder_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    with holdfast.SessionManager("agent.db") as made:
        made.get_or_create("s1").add_message("user", "hello")
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755
    assert stat.S_IMODE((tmp_path / "agent.db").stat().st_mode) == 0o600


# Budgets


@pytest.mark.parametrize("kind", [str, Path])
def test_a_postgresql_address_is_refused_as_a_store_and_makes_no_folder(
    kind: type[str] | type[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadSetting, match="not in PostgreSQL") as caught:
        holdfast.SessionManager(kind("postgresql://ada:hunter2@db.example.org/team"))
    assert "hunter2" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_both_documented_thresholds_are_presets(manager: Make) -> None:
    assert PRESETS["guide"].trigger == 90_000
    assert PRESETS["claude-code"].trigger == 167_000
    assert manager().budget.trigger == 90_000
    assert manager(preset="claude-code").budget.trigger == 167_000
    assert manager(limit=50_000).budget.trigger == 45_000
    with pytest.raises(BadUsage, match="no preset"):
        manager(preset="nobody's")


@pytest.mark.parametrize(("model", "told", "window"), [
    ("claude-sonnet-5", None, 200_000),
    ("gpt-4o-mini", None, 128_000),
    ("nobody-knows", None, 100_000),
    ("claude-x", {"id": "claude-x", "max_input_tokens": 1_000_000}, 1_000_000),
    ("local", {"id": "local", "meta": {"n_ctx": 8192}}, 8192),
    ("router", {"context_length": 65_536}, 65_536),
    ("liar", {"context_length": "much"}, 100_000),
])  # fmt: skip
def test_a_window_is_what_the_provider_says_or_what_is_known(
    model: str, told: Any, window: int
) -> None:
    assert window_of(model, told) == window


@pytest.mark.parametrize("options", [{"limit": 10}, {"threshold": 1.5}, {"threshold": -1}])
def test_a_budget_that_makes_no_sense_is_refused(manager: Make, options: Any) -> None:
    with pytest.raises(BadUsage):
        manager(**options)


def test_a_preview_adds_up_and_agrees_with_what_is_sent(manager: Make) -> None:
    conversation = manager(limit=LIMIT).get_or_create("s1")
    conversation.set_agent_description("You are careful. " * 20)
    conversation.set_project_context("A mail queue. " * 30)
    fill(conversation, LIMIT // 2)
    conversation.update_checkpoint(pending=["rotate the keys"])
    preview = conversation.preview_request(user_prompt="What now? " * 10)
    parts = (
        preview.agent_description, preview.project_context, preview.checkpoint, preview.messages,
        preview.user_prompt,
    )  # fmt: skip
    assert all(part > 0 for part in parts)
    assert preview.total == sum(parts)
    assert preview.headroom == LIMIT * 0.9 - preview.total
    body = conversation.build_request(user_prompt="What now? " * 10)
    assert preview.total * 0.7 < tokens(body) <= preview.total


def test_a_preview_reads_no_message_however_many_there_are(
    manager: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = manager()
    conversation = made.get_or_create("s1")
    fill(conversation, LIMIT)
    asked: list[str] = []
    ask = made._store.all

    def listen(name: str, **values: Any) -> list[dict[str, Any]]:
        asked.append(name)
        return ask(name, **values)

    monkeypatch.setattr(made._store, "all", listen)
    conversation.preview_request()
    assert set(asked) == {"conversation", "checkpoint"}


def test_a_prompt_given_with_a_request_is_sent_and_not_kept(manager: Make) -> None:
    conversation = manager().get_or_create("s1")
    assert "What now?" in told(conversation.build_request(user_prompt="What now?"))
    assert conversation.messages() == []


def test_a_message_larger_than_the_window_is_cut_in_the_request_only(manager: Make) -> None:
    conversation = manager(limit=LIMIT).get_or_create("s1")
    conversation.add_message("user", "Never push. Read the log.")
    call = {"type": "tool_use", "id": "a", "name": "read", "input": {}}
    conversation.add_message("assistant", [call])
    conversation.add_message("tool", f"BEGIN {'x y z ' * 20_000} END", tool_call_id="a")
    for shape, accepts in (
        ("anthropic", assert_anthropic_accepts),
        ("openai", assert_openai_accepts),
    ):
        body = conversation.build_request(shape)
        accepts(body)
        assert tokens(body) <= LIMIT
        assert "characters left out; message 3 has them" in told(body)
        assert "Never push." in told(body)
    assert len(conversation.messages()[-1].results[0]["content"]) > 100_000


def test_what_cannot_be_made_to_fit_is_an_error_and_no_request(manager: Make) -> None:
    conversation = manager(limit=1000).get_or_create("s1")
    conversation.set_agent_description("word " * 5000)
    conversation.add_message("user", "go on with it, please " * 20)
    with pytest.raises(RequestTooLarge, match="tokens at least"):
        conversation.build_request()


# Compaction


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


def test_no_pair_is_parted_by_a_compaction(manager: Make) -> None:
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


def test_what_arrives_while_the_model_compacts_is_kept(manager: Make) -> None:
    summarizer = Scripted()
    conversation = manager(limit=LIMIT, summarizer=summarizer).get_or_create("s1")
    summarizer.meanwhile = lambda: conversation.add_message("user", "wait, one more thing")
    fill(conversation, LIMIT)
    assert conversation.maybe_compact() is not None
    assert texts(conversation)[-1] == "wait, one more thing"
    assert conversation.checkpoint().completed == ("the summary",)


def test_to_force_a_compaction_either_works_or_raises(manager: Make) -> None:
    conversation = manager(limit=LIMIT).get_or_create("s1")
    conversation.add_message("user", "hello")
    with pytest.raises(NothingToCompact):
        conversation.force_compact()
    fill(conversation, LIMIT // 2)
    version = conversation.force_compact().version
    assert conversation.metrics().checkpoint_version == version == 1


def test_what_would_not_be_shorter_is_not_done_and_told(manager: Make) -> None:
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


def test_a_compaction_that_comes_second_changes_nothing_and_says_so(manager: Make) -> None:
    summarizer = Scripted()
    conversation = manager(limit=LIMIT, summarizer=summarizer).get_or_create("s1")
    fill(conversation, LIMIT)
    before = texts(conversation)
    summarizer.meanwhile = lambda: conversation.update_checkpoint(pending=["changed meanwhile"])
    with pytest.raises(CompactionFailed, match="come first"):
        conversation.force_compact()
    assert texts(conversation) == before
    assert conversation.checkpoint().pending == ("changed meanwhile",)


def test_messages_cleared_meanwhile_leave_no_checkpoint_of_them(manager: Make) -> None:
    summarizer = Scripted()
    conversation = manager(limit=LIMIT, summarizer=summarizer).get_or_create("s1")
    fill(conversation, LIMIT)
    summarizer.meanwhile = conversation.clear_messages
    with pytest.raises(CompactionFailed, match="gone"):
        conversation.force_compact()
    assert conversation.checkpoints() == []


def test_while_one_is_compacting_another_waits_until_the_window_is_full(manager: Make) -> None:
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
def test_a_summarizer_that_fails_is_asked_again_and_then_rules_take_over(
    manager: Make, reply: Any
) -> None:
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


def test_a_second_try_that_succeeds_is_taken(manager: Make) -> None:
    summarizer = Scripted(replies=["nothing", f"```json\n{json.dumps(GOOD)}\n```"])
    conversation = manager(limit=LIMIT, summarizer=summarizer).get_or_create("s1")
    fill(conversation, LIMIT)
    done = conversation.maybe_compact()
    assert done is not None
    assert done.made_by == "scripted"


def test_a_store_that_fails_costs_an_event_and_no_message(
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
        patch.setattr("holdfast.session.compaction._replace", fail)
        assert conversation.maybe_compact() is None
        assert tokens(conversation.build_request()) <= LIMIT, "it fits all the same"
    assert kinds(found) == [events.START, events.ERROR] * 2
    assert texts(conversation) == before
    assert conversation.maybe_compact() is not None, "the lease was given back"


def test_a_callback_that_fails_is_not_the_conversations_business(manager: Make) -> None:
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


# Checkpoints, spend, the whole


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
    with pytest.raises(BadUsage, match="no 'wishes'"):
        conversation.update_checkpoint(wishes=["a pony"])
    assert conversation.checkpoints() == []
    conversation.update_checkpoint(inProgress=["a"])
    assert conversation.checkpoint().in_progress == ("a",)


PRICE = Price(model="m", input=10.0, output=50.0, most_output=1000)


def test_what_a_summary_cost_is_written_down(manager: Make) -> None:
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


def test_a_call_that_fails_costs_what_it_took(manager: Make) -> None:
    summarizer = Scripted(cost=PRICE, replies=[RuntimeError("cut"), GOOD])
    conversation = manager(limit=LIMIT, summarizer=summarizer).get_or_create("s1")
    fill(conversation, LIMIT)
    conversation.force_compact()
    assert conversation.metrics().dollars == pytest.approx(0.015)


def test_metrics_and_export_tell_the_whole_story(manager: Make) -> None:
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


def test_secrets_reach_the_disk_nowhere(manager: Make, tmp_path: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    conversation = manager(limit=LIMIT).get_or_create("s1")
    conversation.set_agent_description(f"Your key is {token}.")
    conversation.set_project_context(f"The key is {token}.")
    conversation.add_message("user", f"Never print {token}.")
    conversation.update_checkpoint(pending=[f"rotate {token}"])
    raw = b"".join(file.read_bytes() for file in (tmp_path / "home").iterdir())
    assert b"[redacted:" in raw
    assert token.encode() not in raw


def test_the_public_names_are_there_and_hooks_do_not_pay_for_them() -> None:
    for name in holdfast.__all__:
        assert getattr(holdfast, name)
    with pytest.raises(AttributeError, match="nothing_like_it"):
        _ = holdfast.nothing_like_it
