"""The write queue: writes share a commit, callers are answered after it, a failure stays alone."""

from __future__ import annotations

import threading
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

SECONDS = 30
Work = Callable[[Connections], Any]


def add(ident: str, **more: Any) -> Work:
    row = {**build_action(2.0, ident=ident, tool_name="Read"), **more}
    return lambda db: post_action(db.ledger, row)


def stored(databases: Databases) -> set[str]:
    with databases.connect() as db:
        return {row["id"] for row in db.ledger.find(ACTIONS)}


class Gate:
    """Connections whose commits wait until the test lets them go, and are counted."""

    def __init__(self, databases: Databases) -> None:
        self._databases = databases
        self.commits = 0
        self.is_at_commit, self.may_commit = threading.Event(), threading.Event()
        self.problem: Exception | None = None

    @contextmanager
    def connect(self) -> Iterator[Connections]:
        with self._databases.connect() as db:
            database: Any = db.ledger.database
            commit = database.commit

            def waiting_commit() -> None:
                self.commits += 1
                self.is_at_commit.set()
                assert self.may_commit.wait(SECONDS)
                if self.problem:
                    raise self.problem
                commit()

            database.commit = waiting_commit
            try:
                yield db
            finally:
                database.commit = commit


@contextmanager
def queue_behind(gate: Gate) -> Iterator[Callable[..., list[Future[Any]]]]:
    """A queue, and a function that submits writes from a thread each and waits until they wait."""
    with closing(WriteQueue(gate.connect)) as queue, ThreadPoolExecutor(32) as callers:

        def submit(*works: Work) -> list[Future[Any]]:
            before = queue._waiting.qsize()
            submitted = [callers.submit(queue.write, work) for work in works]
            if gate.is_at_commit.is_set() and not gate.may_commit.is_set():
                while queue._waiting.qsize() < before + len(works):
                    threading.Event().wait(0.001)
            return submitted

        try:
            yield submit
        finally:
            gate.may_commit.set()


def test_writes_that_wait_share_one_commit_and_none_is_answered_before(
    databases: Databases,
) -> None:
    gate = Gate(databases)
    with queue_behind(gate) as submit:
        (first,) = submit(add("first"))
        assert gate.is_at_commit.wait(SECONDS)
        rest = submit(*(add(f"a{number}") for number in range(9)))
        assert not first.done(), "its row is not committed yet"
        assert stored(databases) == set()
        gate.may_commit.set()
        assert first.result(SECONDS)["id"] == "first"
        assert {one.result(SECONDS)["id"] for one in rest} == {f"a{n}" for n in range(9)}
    assert len(stored(databases)) == 10
    assert gate.commits == 2
    with databases.connect() as db:
        changes = db.ledger.list_changes()
    assert len(changes) == 10, "each row is announced to listeners"


def refuse(db: Connections) -> None:
    post_action(db.ledger, build_action(2.0, ident="refused", tool_name="Read"))
    raise Conflict("because")


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        (add("bad", tool_name=None), StoreUnavailable),
        (refuse, Conflict),
        (lambda db: 1 / 0, ZeroDivisionError),
    ],
    ids=["refused by the database", "refused by us", "a bug"],
)
def test_a_write_that_fails_takes_no_other_with_it(
    databases: Databases, bad: Work, problem: type[Exception]
) -> None:
    gate = Gate(databases)
    with queue_behind(gate) as submit:
        submit(add("first"))
        assert gate.is_at_commit.wait(SECONDS)
        one, failing, other = submit(add("a"), bad, add("c"))
        gate.may_commit.set()
        assert isinstance(failing.exception(SECONDS), problem)
        assert (one.result(SECONDS)["id"], other.result(SECONDS)["id"]) == ("a", "c")
    assert stored(databases) == {"first", "a", "c"}
    assert gate.commits == 2


def test_the_same_call_twice_in_one_commit_is_one_row(databases: Databases) -> None:
    gate = Gate(databases)
    with queue_behind(gate) as submit:
        submit(add("first"))
        assert gate.is_at_commit.wait(SECONDS)
        same = submit(add("a"), add("a", exit_code=1))
        gate.may_commit.set()
        assert {one.result(SECONDS)["id"] for one in same} == {"a"}
    assert stored(databases) == {"first", "a"}


def test_if_the_commit_fails_all_are_told_and_later_writes_go_on(databases: Databases) -> None:
    gate = Gate(databases)
    gate.may_commit.set()
    gate.problem = StoreUnavailable("the disk is full")
    with queue_behind(gate) as submit:
        for failed in submit(add("a"), add("b")):
            assert failed.exception(SECONDS) is gate.problem
        gate.problem = None
        (later,) = submit(add("later"))
        assert later.result(SECONDS)["id"] == "later"
    assert stored(databases) == {"later"}


def test_without_a_connection_all_are_told_and_later_writes_go_on(databases: Databases) -> None:
    away = [True]

    @contextmanager
    def connect() -> Iterator[Connections]:
        if away[0]:
            raise StoreUnavailable("it is being restarted")
        with databases.connect() as db:
            yield db

    with closing(WriteQueue(connect)) as queue:
        with pytest.raises(StoreUnavailable):
            queue.write(add("a"))
        away[0] = False
        assert queue.write(add("later"))["id"] == "later"
    assert stored(databases) == {"later"}


def test_what_waits_when_the_server_stops_is_committed_and_nothing_more_is_taken(
    databases: Databases,
) -> None:
    gate = Gate(databases)
    with queue_behind(gate) as submit:
        submit(add("first"))
        assert gate.is_at_commit.wait(SECONDS)
        (waiting,) = submit(add("a"))
    assert waiting.result(SECONDS)["id"] == "a"
    closed = WriteQueue(databases.connect)
    closed.close()
    with pytest.raises(ServerBusy):
        closed.write(add("b"))
    assert stored(databases) == {"first", "a"}
