"""The write queue: writes share a commit and return after it, and one failure fails no other."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from typing import Any

import pytest

from holdfast.errors import Conflict, ServerBusy, StoreUnavailable
from holdfast.ledger.actions import build_action, post_action
from holdfast.ledger.schema import ACTIONS
from holdfast.server.databases import Connections, Databases
from holdfast.server.write_queue import WriteQueue

TIMEOUT_SECONDS = 30
Write = Callable[[Connections], Any]


def make_write(ident: str, **columns: Any) -> Write:
    row = {**build_action(2.0, ident=ident, tool_name="Read"), **columns}
    return lambda db: post_action(db.ledger, row)


def stored_ids(databases: Databases) -> set[str]:
    with databases.connect() as db:
        return {row["id"] for row in db.ledger.find(ACTIONS)}


class CommitGate:
    """Connections whose commits are counted, and wait for `may_commit`."""

    def __init__(self, databases: Databases) -> None:
        self._databases = databases
        self.commits = 0
        self.is_at_commit, self.may_commit = threading.Event(), threading.Event()
        self.commit_error: Exception | None = None

    @contextmanager
    def connect(self) -> Iterator[Connections]:
        with self._databases.connect() as db:
            database: Any = db.ledger.database
            commit = database.commit

            def waiting_commit() -> None:
                self.commits += 1
                self.is_at_commit.set()
                assert self.may_commit.wait(TIMEOUT_SECONDS)
                if self.commit_error:
                    raise self.commit_error
                commit()

            database.commit = waiting_commit
            try:
                yield db
            finally:
                database.commit = commit


@contextmanager
def open_queue(gate: CommitGate) -> Iterator[Callable[..., list[Future[Any]]]]:
    """Open a queue, and yield a function that submits writes, each from its own thread.

    While a commit is held up, the function returns when the writes are in the queue.
    """
    with closing(WriteQueue(gate.connect)) as queue, ThreadPoolExecutor(32) as pool:

        def submit(*writes: Write) -> list[Future[Any]]:
            before = queue._waiting.qsize()
            submitted = [pool.submit(queue.write, write) for write in writes]
            if gate.is_at_commit.is_set() and not gate.may_commit.is_set():
                deadline = time.monotonic() + TIMEOUT_SECONDS
                while queue._waiting.qsize() < before + len(writes):
                    assert time.monotonic() < deadline, "the writes were not queued"
                    time.sleep(0.001)
            return submitted

        try:
            yield submit
        finally:
            gate.may_commit.set()


def test_queued_writes_share_one_commit_and_return_after_it(
    databases: Databases,
) -> None:
    gate = CommitGate(databases)
    with open_queue(gate) as submit:
        (first,) = submit(make_write("first"))
        assert gate.is_at_commit.wait(TIMEOUT_SECONDS)
        rest = submit(*(make_write(f"a{number}") for number in range(9)))
        assert not first.done(), "its commit has not finished"
        assert stored_ids(databases) == set()
        gate.may_commit.set()
        assert first.result(TIMEOUT_SECONDS)["id"] == "first"
        assert {future.result(TIMEOUT_SECONDS)["id"] for future in rest} == {
            f"a{number}" for number in range(9)
        }
    assert len(stored_ids(databases)) == 10
    assert gate.commits == 2
    with databases.connect() as db:
        changes = db.ledger.list_changes()
    assert len(changes) == 10, "each row has a change for subscribers"


def write_and_raise_conflict(db: Connections) -> None:
    post_action(db.ledger, build_action(2.0, ident="refused", tool_name="Read"))
    raise Conflict("because")


@pytest.mark.parametrize(
    ("failing_write", "error"),
    [
        (make_write("bad", tool_name=None), StoreUnavailable),
        (write_and_raise_conflict, Conflict),
        (lambda db: 1 / 0, ZeroDivisionError),
    ],
    ids=["refused by the database", "refused by the ledger", "unexpected error"],
)
def test_a_failing_write_does_not_affect_others_in_its_batch(
    databases: Databases, failing_write: Write, error: type[Exception]
) -> None:
    gate = CommitGate(databases)
    with open_queue(gate) as submit:
        submit(make_write("first"))
        assert gate.is_at_commit.wait(TIMEOUT_SECONDS)
        before, failing, after = submit(make_write("a"), failing_write, make_write("c"))
        gate.may_commit.set()
        assert isinstance(failing.exception(TIMEOUT_SECONDS), error)
        assert before.result(TIMEOUT_SECONDS)["id"] == "a"
        assert after.result(TIMEOUT_SECONDS)["id"] == "c"
    assert stored_ids(databases) == {"first", "a", "c"}
    assert gate.commits == 2


def test_two_writes_of_the_same_id_in_one_commit_make_one_row(databases: Databases) -> None:
    gate = CommitGate(databases)
    with open_queue(gate) as submit:
        submit(make_write("first"))
        assert gate.is_at_commit.wait(TIMEOUT_SECONDS)
        futures = submit(make_write("a"), make_write("a", exit_code=1))
        gate.may_commit.set()
        assert {future.result(TIMEOUT_SECONDS)["id"] for future in futures} == {"a"}
    assert stored_ids(databases) == {"first", "a"}


def test_a_failed_commit_fails_its_writes_but_not_later_ones(databases: Databases) -> None:
    gate = CommitGate(databases)
    gate.may_commit.set()
    gate.commit_error = StoreUnavailable("the disk is full")
    with open_queue(gate) as submit:
        for future in submit(make_write("a"), make_write("b")):
            assert future.exception(TIMEOUT_SECONDS) is gate.commit_error
        gate.commit_error = None
        (later,) = submit(make_write("later"))
        assert later.result(TIMEOUT_SECONDS)["id"] == "later"
    assert stored_ids(databases) == {"later"}


def test_a_failed_connection_fails_its_writes_but_not_later_ones(databases: Databases) -> None:
    is_available = [False]

    @contextmanager
    def connect() -> Iterator[Connections]:
        if not is_available[0]:
            raise StoreUnavailable("it is being restarted")
        with databases.connect() as db:
            yield db

    with closing(WriteQueue(connect)) as queue:
        with pytest.raises(StoreUnavailable):
            queue.write(make_write("a"))
        is_available[0] = True
        assert queue.write(make_write("later"))["id"] == "later"
    assert stored_ids(databases) == {"later"}


def test_closing_the_queue_commits_waiting_writes_and_refuses_new_ones(
    databases: Databases,
) -> None:
    gate = CommitGate(databases)
    with open_queue(gate) as submit:
        submit(make_write("first"))
        assert gate.is_at_commit.wait(TIMEOUT_SECONDS)
        (queued,) = submit(make_write("a"))
    assert queued.result(TIMEOUT_SECONDS)["id"] == "a"
    closed = WriteQueue(databases.connect)
    closed.close()
    with pytest.raises(ServerBusy):
        closed.write(make_write("b"))
    assert stored_ids(databases) == {"first", "a"}
