"""2,000 messages, and the window holds: alone, with tool pairs, with a summarizer that fails every
second time, with two processes in one session, and with kill -9 at any moment.
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
from holdfast.conversations.events import Event
from holdfast.conversations.manager import SessionManager
from holdfast.conversations.summarizers import Price, Reply, Work
from tests.unit.conversations.api_rules import assert_anthropic_accepts, tokens

from .session_loop import Loop

MESSAGES = 2000
LIMIT = 8000
CONTEXT = multiprocessing.get_context("spawn")


class EverySecondTime:
    """A summarizer that repeats what it is given and fails every second time."""

    name = "unreliable"

    def __init__(self) -> None:
        self.calls = 0

    def summarize(self, work: Work) -> Reply:
        self.calls += 1
        if self.calls % 2:
            raise TimeoutError("the model took too long")
        known = work.checkpoint.as_dict()
        return Reply(content={**known, "completed": [f"call {self.calls}"], "constraints": []})

    def price(self) -> Price | None:
        return None


@pytest.mark.parametrize(
    "pairs",
    [pytest.param(False, id="words", marks=pytest.mark.slow), pytest.param(True, id="tool pairs")],
)
def test_the_window_holds_for_two_thousand_messages(tmp_path: Path, pairs: bool) -> None:
    with SessionManager(tmp_path / "holdfast.db", limit=LIMIT) as manager:
        conversation = manager.get_or_create("s1")
        loop = Loop(conversation, LIMIT, pairs=pairs)
        loop.assert_nothing_was_lost(loop.run(MESSAGES))
        shares = _shares(conversation)
        assert len(shares) >= 5
        print(f"reclaimed {sum(shares) / len(shares):.0%} net in {len(shares)} compactions")
        assert min(shares) >= 0.5
        assert len(conversation.messages(compacted=True)) == MESSAGES


def _shares(conversation: Conversation) -> list[float]:
    """The share of tokens that each compaction reclaimed of the messages that it replaced."""
    return [row["tokens_reclaimed"] / row["tokens_before"] for row in conversation.checkpoints()]


@pytest.mark.parametrize("tries", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_the_window_holds_with_a_summarizer_that_fails_every_second_time(
    tmp_path: Path, tries: int
) -> None:
    summarizer = EverySecondTime()
    options: dict[str, Any] = {"limit": LIMIT, "summarizer": summarizer, "tries": tries}
    with SessionManager(tmp_path / "holdfast.db", **options) as manager:
        found: list[Event] = []
        manager.on(found.append)
        conversation = manager.get_or_create("s1")
        loop = Loop(conversation, LIMIT, pairs=True)
        loop.assert_nothing_was_lost(loop.run(MESSAGES))
        made_by = [row["made_by"] for row in conversation.checkpoints()]
    assert summarizer.calls > 5
    assert {event.kind for event in found} >= {events.ERROR, events.COMPLETE}
    assert set(made_by) == ({"rules", "unreliable"} if tries == 1 else {"unreliable"})


def share(path: str, name: str, messages: int, said: Any) -> None:
    with SessionManager(path, limit=LIMIT) as manager:
        conversation = manager.get_or_create("s1")
        for number in range(messages // 2):
            conversation.add_message("user", f"{name} asks {number}: " + "look at the queue " * 9)
            if number == 7:
                conversation.add_message("user", f"Never touch the files of {name}.")
            conversation.add_message("assistant", f"TODO: report to {name}")
            said.put(_size(conversation))


def _size(conversation: Conversation) -> int:
    body = conversation.build_request()
    assert_anthropic_accepts(body)
    return tokens(body)


def test_the_window_holds_for_two_processes_in_one_session(tmp_path: Path) -> None:
    path = str(tmp_path / "holdfast.db")
    said: Any = CONTEXT.Queue()
    workers = [
        CONTEXT.Process(target=share, args=(path, name, MESSAGES // 2, said))
        for name in ("anna", "boris")
    ]
    for worker in workers:
        worker.start()
    sizes = [said.get(timeout=300) for _ in range(MESSAGES // 2)]
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0, 0]
    assert max(sizes) <= LIMIT
    with SessionManager(path, limit=LIMIT) as manager:
        conversation = manager.get_or_create("s1")
        everything = conversation.messages(compacted=True)
        assert [message.ordinal for message in everything] == list(range(1, MESSAGES + 3))
        assert conversation.metrics().compactions >= 5
        known = conversation.checkpoint()
    for name in ("anna", "boris"):
        assert f"Never touch the files of {name}." in known.constraints
        assert f"report to {name}" in known.pending


# kill -9


class Slow:
    """A slow summarizer, so that a kill can hit a running compaction."""

    name = "slow"

    def __init__(self, seconds: float = 0.01, begun: str = "") -> None:
        self.seconds = seconds
        self.begun = begun

    def summarize(self, work: Work) -> Reply:
        if self.begun:
            Path(self.begun).touch()
        time.sleep(self.seconds)
        return Reply(content={"completed": ["by the slow one"]})

    def price(self) -> Price | None:
        return None


def work_on(path: str, seconds: float, begun: str) -> None:
    summarizer = Slow(seconds, begun)
    with SessionManager(path, limit=2000, keep_recent=4, summarizer=summarizer) as manager:
        conversation = manager.get_or_create("s1")
        number = conversation.metrics().messages
        while True:
            conversation.add_message("user", f"message {number + 1} " + "of the work " * 12)
            number += 1
            conversation.maybe_compact()


def killed(path: str, until: Callable[[], bool], seconds: float = 0.01, begun: str = "") -> None:
    """Run a worker process and kill it as soon as the condition holds."""
    worker = CONTEXT.Process(target=work_on, args=(path, seconds, begun))
    worker.start()
    for _ in range(6000):
        if until() or not worker.is_alive():
            break
        time.sleep(0.01)
    os.kill(worker.pid or 0, signal.SIGKILL)
    worker.join(30)
    assert worker.exitcode == -signal.SIGKILL


def test_a_kill_at_any_moment_leaves_the_old_or_the_new_state(tmp_path: Path) -> None:
    path = str(tmp_path / "holdfast.db")
    chance = random.Random(9)
    compactions = 0
    for _ in range(12):
        enough = _count(path) + chance.randint(10, 60)
        killed(path, lambda enough=enough: _count(path) >= enough)  # type: ignore[misc]
        _release(path)
        compactions = _assert_whole(path)
    assert compactions > 5


def test_a_kill_while_the_model_summarizes_changes_nothing(tmp_path: Path) -> None:
    path, begun = str(tmp_path / "holdfast.db"), tmp_path / "begun"
    killed(path, begun.exists, seconds=60, begun=str(begun))
    assert _assert_whole(path) == 0
    with SessionManager(path, limit=2000, keep_recent=4) as manager:
        conversation = manager.get_or_create("s1")
        assert conversation.maybe_compact() is None, "its lease is still running"
        while conversation.preview_request().total < 2000:
            number = conversation.metrics().messages + 1
            conversation.add_message("user", f"message {number} of the work")
        assert conversation.maybe_compact(), "a full window waits for nobody"
    assert _assert_whole(path) == 1


def _count(path: str) -> int:
    if not os.path.exists(path):
        return 0
    with closing(sqlite3.connect(path)) as database:
        found = database.execute("SELECT count(*) FROM conversation_messages").fetchone()
    return int(found[0])


def _release(path: str) -> None:
    """Expire the lease of the killed process."""
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("UPDATE conversations SET leased_until = 0")


def _assert_whole(path: str) -> int:
    with SessionManager(path, limit=2000) as manager:
        conversation = manager.get_or_create("s1")
        everything = conversation.messages(compacted=True)
        live = conversation.messages()
        metrics = conversation.metrics()
        preview = conversation.preview_request()
        history = conversation.checkpoints()
    numbers = range(1, len(everything) + 1)
    assert [message.ordinal for message in everything] == list(numbers)
    assert [message.text.split(" of")[0] for message in everything] == [
        f"message {number}" for number in numbers
    ]
    assert (metrics.messages, metrics.live_messages) == (len(everything), len(live))
    assert preview.messages == sum(message.tokens for message in live)
    assert [row["version"] for row in history] == list(range(1, metrics.checkpoint_version + 1))
    assert metrics.messages_compacted == len(everything) - len(live)
    for row in history:
        gone = [message for message in everything if message.compacted_in == row["version"]]
        assert len(gone) == row["messages"]
    return metrics.compactions
