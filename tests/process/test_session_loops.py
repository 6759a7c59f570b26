"""Conversations of 2,000 messages stay within the context window.

With tool calls, with a summarizer that often fails, with two processes in one session, and after
SIGKILL at any moment.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from holdfast.conversations import events
from holdfast.conversations.conversation import Conversation
from holdfast.conversations.events import CompactionEvent
from holdfast.conversations.manager import SessionManager
from holdfast.conversations.summarizers import Price, Reply, Work
from tests.unit.conversations.api_rules import assert_anthropic_accepts, count_tokens

from .session_loop import AgentLoop
from .waiting import wait_until

MESSAGES = 2000
WINDOW_TOKENS = 8000
SMALL_WINDOW_TOKENS = 2000
CONTEXT = multiprocessing.get_context("spawn")


class UnreliableSummarizer:
    """A summarizer that fails at every second call, and else repeats the checkpoint."""

    name = "unreliable"

    def __init__(self) -> None:
        self.calls = 0

    def summarize(self, work: Work) -> Reply:
        self.calls += 1
        if self.calls % 2:
            raise TimeoutError("the model took too long")
        checkpoint = work.checkpoint.as_dict()
        return Reply(content={**checkpoint, "completed": [f"call {self.calls}"], "constraints": []})

    def price(self) -> Price | None:
        return None


@pytest.mark.parametrize(
    "has_tool_calls",
    [pytest.param(False, id="text", marks=pytest.mark.slow), pytest.param(True, id="tool calls")],
)
def test_two_thousand_messages_stay_within_the_window(tmp_path: Path, has_tool_calls: bool) -> None:
    with SessionManager(tmp_path / "holdfast.db", limit=WINDOW_TOKENS) as manager:
        conversation = manager.get_or_create("s1")
        loop = AgentLoop(conversation, WINDOW_TOKENS, has_tool_calls=has_tool_calls)
        loop.assert_nothing_was_lost(loop.run(MESSAGES))
        ratios = _list_reclaimed_ratios(conversation)
        assert len(ratios) >= 5
        print(f"reclaimed {sum(ratios) / len(ratios):.0%} net in {len(ratios)} compactions")
        assert min(ratios) >= 0.5
        assert len(conversation.messages(compacted=True)) == MESSAGES


def _list_reclaimed_ratios(conversation: Conversation) -> list[float]:
    """The share of tokens that each compaction reclaimed of the messages that it replaced."""
    return [row["tokens_reclaimed"] / row["tokens_before"] for row in conversation.checkpoints()]


@pytest.mark.parametrize("tries", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_the_conversation_stays_within_the_window_when_the_summarizer_often_fails(
    tmp_path: Path, tries: int
) -> None:
    summarizer = UnreliableSummarizer()
    options: dict[str, Any] = {"limit": WINDOW_TOKENS, "summarizer": summarizer, "tries": tries}
    with SessionManager(tmp_path / "holdfast.db", **options) as manager:
        received: list[CompactionEvent] = []
        manager.on(received.append)
        conversation = manager.get_or_create("s1")
        loop = AgentLoop(conversation, WINDOW_TOKENS, has_tool_calls=True)
        loop.assert_nothing_was_lost(loop.run(MESSAGES))
        made_by = [row["made_by"] for row in conversation.checkpoints()]
    assert summarizer.calls > 5
    assert {event.kind for event in received} >= {events.ERROR, events.COMPLETE}
    assert set(made_by) == ({"rules", "unreliable"} if tries == 1 else {"unreliable"})


def add_messages(path: str, name: str, messages: int, sizes: Any) -> None:
    """Add messages as one of two processes; put the size of each request into the queue."""
    with SessionManager(path, limit=WINDOW_TOKENS) as manager:
        conversation = manager.get_or_create("s1")
        for number in range(messages // 2):
            conversation.add_message("user", f"{name} asks {number}: " + "look at the queue " * 9)
            if number == 7:
                conversation.add_message("user", f"Never touch the files of {name}.")
            conversation.add_message("assistant", f"TODO: report to {name}")
            sizes.put(_measure_request(conversation))


def _measure_request(conversation: Conversation) -> int:
    body = conversation.build_request()
    assert_anthropic_accepts(body)
    return count_tokens(body)


def test_two_processes_in_one_session_stay_within_the_window(tmp_path: Path) -> None:
    path = str(tmp_path / "holdfast.db")
    queue: Any = CONTEXT.Queue()
    workers = [
        CONTEXT.Process(target=add_messages, args=(path, name, MESSAGES // 2, queue))
        for name in ("anna", "boris")
    ]
    for worker in workers:
        worker.start()
    sizes = [queue.get(timeout=300) for _ in range(MESSAGES // 2)]
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0, 0]
    assert max(sizes) <= WINDOW_TOKENS
    with SessionManager(path, limit=WINDOW_TOKENS) as manager:
        conversation = manager.get_or_create("s1")
        all_messages = conversation.messages(compacted=True)
        assert [message.ordinal for message in all_messages] == list(range(1, MESSAGES + 3))
        assert conversation.metrics().compactions >= 5
        checkpoint = conversation.checkpoint()
    for name in ("anna", "boris"):
        assert f"Never touch the files of {name}." in checkpoint.constraints
        assert f"report to {name}" in checkpoint.pending


# SIGKILL


class SlowSummarizer:
    """A slow summarizer, so that a kill can hit a running compaction."""

    name = "slow"

    def __init__(self, seconds: float, started_file: str) -> None:
        self.seconds = seconds
        self.started_file = started_file

    def summarize(self, work: Work) -> Reply:
        if self.started_file:
            Path(self.started_file).touch()
        time.sleep(self.seconds)
        return Reply(content={"completed": ["by the slow one"]})

    def price(self) -> Price | None:
        return None


def add_messages_forever(path: str, seconds: float, started_file: str) -> None:
    """Add messages until killed; a summary takes `seconds` and creates the file at its start."""
    summarizer = SlowSummarizer(seconds, started_file)
    with SessionManager(
        path, limit=SMALL_WINDOW_TOKENS, keep_recent=4, summarizer=summarizer
    ) as manager:
        conversation = manager.get_or_create("s1")
        number = conversation.metrics().messages
        while True:
            conversation.add_message("user", f"message {number + 1} " + "of the work " * 12)
            number += 1
            conversation.maybe_compact()


def run_and_kill(
    path: str, condition: Callable[[], bool], seconds: float = 0.01, started_file: str = ""
) -> None:
    """Run a worker process and kill it as soon as the condition holds."""
    worker = CONTEXT.Process(target=add_messages_forever, args=(path, seconds, started_file))
    worker.start()
    try:
        wait_until(lambda: condition() or not worker.is_alive(), "the worker did too little")
    finally:
        worker.kill()
        worker.join(30)
    assert worker.exitcode == -signal.SIGKILL


def test_a_kill_at_any_moment_leaves_the_old_or_the_new_state(tmp_path: Path) -> None:
    path = str(tmp_path / "holdfast.db")
    generator = random.Random(9)
    compactions = 0
    for _ in range(12):
        enough = _count_messages(path) + generator.randint(10, 60)
        run_and_kill(path, lambda enough=enough: _count_messages(path) >= enough)  # type: ignore[misc]
        _expire_lease(path)
        compactions = _assert_consistent(path)
    assert compactions > 5


def test_a_kill_while_the_model_summarizes_changes_nothing(tmp_path: Path) -> None:
    path, started_file = str(tmp_path / "holdfast.db"), tmp_path / "started"
    run_and_kill(path, started_file.exists, seconds=60, started_file=str(started_file))
    assert _assert_consistent(path) == 0
    with SessionManager(path, limit=SMALL_WINDOW_TOKENS, keep_recent=4) as manager:
        conversation = manager.get_or_create("s1")
        assert conversation.maybe_compact() is None, "the lease of the killed process has expired"
        while conversation.preview_request().total < SMALL_WINDOW_TOKENS:
            number = conversation.metrics().messages + 1
            conversation.add_message("user", f"message {number} of the work")
        assert conversation.maybe_compact(), "a full window has to be compacted in spite of a lease"
    assert _assert_consistent(path) == 1


def _count_messages(path: str) -> int:
    if not os.path.exists(path):
        return 0
    with closing(sqlite3.connect(path)) as database:
        row = database.execute("SELECT count(*) FROM conversation_messages").fetchone()
    return int(row[0])


def _expire_lease(path: str) -> None:
    """Expire the lease of the killed process."""
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("UPDATE conversations SET leased_until = 0")


def _assert_consistent(path: str) -> int:
    """Assert that messages, metrics and checkpoints agree; return the number of compactions."""
    with SessionManager(path, limit=SMALL_WINDOW_TOKENS) as manager:
        conversation = manager.get_or_create("s1")
        all_messages = conversation.messages(compacted=True)
        live_messages = conversation.messages()
        metrics = conversation.metrics()
        preview = conversation.preview_request()
        checkpoints = conversation.checkpoints()
    numbers = range(1, len(all_messages) + 1)
    assert [message.ordinal for message in all_messages] == list(numbers)
    assert [message.text.split(" of")[0] for message in all_messages] == [
        f"message {number}" for number in numbers
    ]
    assert (metrics.messages, metrics.live_messages) == (len(all_messages), len(live_messages))
    assert preview.messages == sum(message.tokens for message in live_messages)
    assert [row["version"] for row in checkpoints] == list(range(1, metrics.checkpoint_version + 1))
    assert metrics.messages_compacted == len(all_messages) - len(live_messages)
    for row in checkpoints:
        compacted = [message for message in all_messages if message.compacted_in == row["version"]]
        assert len(compacted) == row["messages"]
    return metrics.compactions
